// The options panel: the essentials, the presets, and every other option with a filter.
import { computed, effect, signal } from "@preact/signals";
import { extras, ignored, matter } from "./document";
import { Fields } from "./fields";
import { advanced, essentials, matches } from "./optionlist";
import { Presets } from "./presets";
import { ThemePicker } from "./themes";

const opened = signal(false);
const query = signal("");

const names = advanced.flatMap((g) => g.options).map((o) => o.name);
const used = computed(() => names.filter((n) => n in matter.value || extras.value[n as "css"]).length);

// An ignored option shows its message, so open what hides it.
const wrong = computed(() => names.some((n) => n in ignored.value));
effect(() => {
  if (wrong.value) opened.value = true;
});

/** Options is the panel. */
export function Options({ onGallery }: { onGallery: () => void }) {
  return (
    <div class="options">
      <ThemePicker onGallery={onGallery} />
      <Fields options={essentials} />
      <Presets />
      <details class="advanced" open={opened.value} onToggle={(e) => (opened.value = e.currentTarget.open)}>
        <summary>Advanced {used.value > 0 && <small>{used.value} set</small>}</summary>
        <Advanced />
      </details>
    </div>
  );
}

function Advanced() {
  const words = query.value.toLowerCase().split(/\s+/).filter(Boolean);
  const groups = advanced
    .map((g) => ({ ...g, options: g.options.filter((o) => matches(o, words)) }))
    .filter((g) => g.options.length);
  const above = words.length ? essentials.filter((o) => matches(o, words)) : [];
  return (
    <>
      <div class="field">
        <input
          type="search"
          aria-label="Find an option"
          placeholder="Find: margins, pdf_a…"
          value={query.value}
          onInput={(e) => (query.value = e.currentTarget.value)}
        />
        <small role="status">
          {above.length > 0 && `Above: ${above.map((o) => o.label).join(", ")}.`}
          {!groups.length && !above.length && `No option has “${query.value.trim()}” in its label or API name.`}
        </small>
      </div>
      {groups.map((g) => (
        <section key={g.title} class="group" aria-label={g.title}>
          <h2>{g.title}</h2>
          <Fields options={g.options} />
        </section>
      ))}
    </>
  );
}
