// The themes: the list, and the choice of one.
import { computed, signal, useSignal } from "@preact/signals";
import { json, key, post, text as errorText } from "./api";
import { set, text, theme } from "./document";
import { limits, type Limits } from "./limits";
import { Icon, Notice } from "./parts";

/** Theme is a theme as the catalogue describes it. */
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

/** themes is the catalogue; empty until it is fetched. */
export const themes = signal<Theme[]>([]);

/** loadThemes fetches the catalogue, and the server's limits with it. Errors: ApiError. */
export async function loadThemes(): Promise<void> {
  const answer = await json<{ themes: Theme[]; limits: Limits }>("/api/themes");
  themes.value = answer.themes;
  limits.value = answer.limits;
}

/** current is the document's theme; undefined while the catalogue lacks it. */
export const current = computed(() => themes.value.find((t) => t.name === theme.value.toLowerCase()));

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
              <b>{label(a.recommendation.primary)}</b> suits this{" "}
              {a.document_type === "other" ? "text" : a.document_type.replaceAll("_", " ")}
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
