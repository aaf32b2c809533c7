// The themes: the list, one theme's card, and the gallery.
import { computed, signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { json, key, post, request, text as errorText } from "./api";
import { set, text, theme } from "./document";
import { limits, type Limits } from "./limits";
import { Dialog, Icon, Notice } from "./parts";

export interface Theme {
  name: string;
  label: string;
  scheme: string;
  description: string;
  tags: string[];
  colors: Record<string, string>;
  contrast: { text: number; link: number };
  custom: boolean;
}

export const themes = signal<Theme[]>([]);

/** loadThemes fetches the catalogue, and the server's limits with it. Errors: ApiError. */
export async function loadThemes(): Promise<void> {
  const answer = await json<{ themes: Theme[]; limits: Limits }>("/api/themes");
  themes.value = answer.themes;
  limits.value = answer.limits;
}

/** current is the document's theme; undefined while the catalogue lacks it. */
export const current = computed(() => themes.value.find((t) => t.name === theme.value.toLowerCase()));

// A worker draws each picture at its first request, so request only a few at a time.
let running = 0;
const waiting: (() => void)[] = [];

async function picture(name: string): Promise<string> {
  if (running >= 3) await new Promise<void>((go) => waiting.push(go));
  running++;
  try {
    return URL.createObjectURL(await (await request(`/api/themes/${encodeURIComponent(name)}/preview.png`)).blob());
  } finally {
    running--;
    waiting.shift()?.();
  }
}

const pictures = signal<Record<string, string>>({});

/** Swatches shows a theme's main colours. */
export function Swatches({ t }: { t: Theme }) {
  const c = t.colors;
  return (
    <span class="swatches" style={{ background: c["base_100"] }} aria-hidden="true">
      <b style={{ color: c["base_content"] }}>Aa</b>
      {["primary", "secondary", "accent"].map((n) => (
        <i key={n} style={{ background: c[n] }} />
      ))}
    </span>
  );
}

function Card({ t, chosen, onPick }: { t: Theme; chosen: boolean; onPick: () => void }) {
  const ref = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    const seen = new IntersectionObserver((entries) => {
      if (!entries.some((e) => e.isIntersecting)) return;
      seen.disconnect();
      if (!pictures.value[t.name])
        void picture(t.name).then(
          (url) => (pictures.value = { ...pictures.value, [t.name]: url }),
          () => {}, // the card keeps its colours
        );
    });
    seen.observe(ref.current!);
    return () => seen.disconnect();
  }, [t.name]);
  const url = pictures.value[t.name];
  const c = t.colors;
  return (
    <button type="button" ref={ref} class="card" aria-pressed={chosen} onClick={onPick} data-theme-name={t.name}>
      <span class="shot" style={{ background: c["base_100"] }}>
        {url ? (
          <img src={url} alt="" width={794} height={1123} />
        ) : (
          <span class="mock" aria-hidden="true">
            <i style={{ background: c["primary"], width: "62%", height: "9%" }} />
            {[90, 84, 88, 52].map((w, i) => (
              <i key={i} style={{ background: c["base_content"], opacity: 0.3, width: `${w}%` }} />
            ))}
            <i style={{ background: c["base_300"], height: "22%" }} />
            {[86, 91, 40].map((w, i) => (
              <i key={i} style={{ background: c["base_content"], opacity: 0.3, width: `${w}%` }} />
            ))}
          </span>
        )}
      </span>
      <span class="caption">
        <b>{t.label}</b>
        <Swatches t={t} />
      </span>
      <span class="about">{t.description}</span>
    </button>
  );
}

/** Gallery lets the reader choose a theme by its picture. */
export function Gallery({ onClose }: { onClose: () => void }) {
  const query = useSignal("");
  const scheme = useSignal("");
  const tag = useSignal("");
  const tags = [...new Map(themes.value.flatMap((t) => t.tags).map((n) => [n, themes.value.filter((t) => t.tags.includes(n)).length])).entries()]
    .filter(([n, count]) => count > 2 && n !== "dark" && n !== "light")
    .sort((a, b) => b[1] - a[1])
    .slice(0, 14)
    .map(([n]) => n);
  const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = themes.value.filter(
    (t) =>
      (!scheme.value || t.scheme === scheme.value) &&
      (!tag.value || t.tags.includes(tag.value)) &&
      words.every((w) => `${t.name} ${t.label} ${t.description} ${t.tags.join(" ")}`.toLowerCase().includes(w)),
  );
  return (
    <Dialog title="Themes" onClose={onClose} wide>
      <div class="filters">
        <input
          type="search"
          aria-label="Search themes"
          placeholder="Search: calm, serif, night…"
          value={query.value}
          onInput={(e) => (query.value = e.currentTarget.value)}
        />
        <div class="segments" role="group" aria-label="Colour scheme">
          {[
            ["", "All"],
            ["light", "Light"],
            ["dark", "Dark"],
          ].map(([v, label]) => (
            <button type="button" key={v} aria-pressed={scheme.value === v} onClick={() => (scheme.value = v!)}>
              {label}
            </button>
          ))}
        </div>
      </div>
      <div class="tags" role="group" aria-label="Tags">
        {tags.map((n) => (
          <button type="button" key={n} aria-pressed={tag.value === n} onClick={() => (tag.value = tag.value === n ? "" : n)}>
            {n}
          </button>
        ))}
      </div>
      <p class="count" role="status">
        {shown.length} of {themes.value.length} themes
      </p>
      <div class="gallery">
        {shown.map((t) => (
          <Card key={t.name} t={t} chosen={t.name === current.value?.name} onPick={() => (set("theme", t.name), onClose())} />
        ))}
      </div>
    </Dialog>
  );
}

interface Analysis {
  document_type: string;
  emotional_tone: string;
  formality: { label: string };
  language: string;
  reading_minutes: number;
  recommendation: { primary: string; alternatives: string[]; confidence: number; reasons: string[] };
}

/** ThemePicker shows the document's theme, opens the gallery, and can choose a theme
 * that suits the text. */
export function ThemePicker({ onGallery }: { onGallery: () => void }) {
  const advice = useSignal<Analysis | null>(null);
  const problem = useSignal("");
  const busy = useSignal(false);
  const choose = async () => {
    busy.value = true;
    problem.value = "";
    try {
      advice.value = (await (await post("/api/analysis", { content: text.value })).json()) as Analysis;
      set("theme", advice.value.recommendation.primary);
    } catch (e) {
      problem.value = errorText(e);
    } finally {
      busy.value = false;
    }
  };
  const t = current.value;
  const a = advice.value;
  const label = (name: string) => themes.value.find((x) => x.name === name)?.label ?? name;
  return (
    <section class="picker" aria-label="Theme">
      <button type="button" class="theme-now" onClick={onGallery} aria-haspopup="dialog">
        {t && <Swatches t={t} />}
        <span class="grow">
          <b>{t?.label ?? theme.value}</b>
          <small>{t?.description ?? (theme.value === "auto" ? "Chosen at conversion." : "")}</small>
        </span>
        <span class="more">All {themes.value.length || ""}</span>
      </button>
      <button type="button" class="wide-button" onClick={choose} disabled={busy.value}>
        <Icon name="spark" /> {busy.value ? "Reading…" : "Choose for me"}
      </button>
      <div role="status">
        {a && (
          <div class="advice">
            <p>
              <b>{label(a.recommendation.primary)}</b> suits this {a.document_type === "other" ? "text" : a.document_type.replaceAll("_", " ")}
              {a.emotional_tone !== "neutral" && <>, {a.emotional_tone} in tone</>}, {a.reading_minutes} min to read.
            </p>
            <ul>
              {a.recommendation.reasons.map((r) => (
                <li key={r}>{r}</li>
              ))}
            </ul>
            <p class="row">
              <span>Or</span>
              {a.recommendation.alternatives.map((n) => (
                <button type="button" class="chip" key={n} onClick={() => set("theme", n)}>
                  {label(n)}
                </button>
              ))}
            </p>
          </div>
        )}
      </div>
      {problem.value && (
        <Notice kind="error" onClose={() => (problem.value = "")}>
          {problem.value}
        </Notice>
      )}
    </section>
  );
}

// Fetch the list again when the key changes.
key.subscribe(() => {
  themes.value = [];
  void loadThemes().catch(() => {});
});
