// The dialog that shows the themes by their pictures.
import { signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { request } from "./api";
import { set } from "./document";
import { Dialog } from "./parts";
import { Swatches, current, themes, type Theme } from "./themes";

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
  const tags = [
    ...new Map(
      themes.value.flatMap((t) => t.tags).map((n) => [n, themes.value.filter((t) => t.tags.includes(n)).length]),
    ).entries(),
  ]
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
          <button
            type="button"
            key={n}
            aria-pressed={tag.value === n}
            onClick={() => (tag.value = tag.value === n ? "" : n)}
          >
            {n}
          </button>
        ))}
      </div>
      <p class="count" role="status">
        {shown.length} of {themes.value.length} themes
      </p>
      <div class="gallery">
        {shown.map((t) => (
          <Card
            key={t.name}
            t={t}
            chosen={t.name === current.value?.name}
            onPick={() => (set("theme", t.name), onClose())}
          />
        ))}
      </div>
    </Dialog>
  );
}
