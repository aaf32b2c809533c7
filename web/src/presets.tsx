// Presets: sets of options under a name. Some are built in; users save others.
import { computed, signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { text as errorText } from "./api";
import { matter, setAll } from "./document";
import { isFull } from "./documents";
import { kept, replaced, typed } from "./optionlist";
import { Icon, IconButton, Notice } from "./parts";
import * as store from "./store";

const builtin: store.Preset[] = [
  {
    name: "Report",
    values: { as: "document", toc: true, cover: true, numbered_headings: true, numbering: "document" },
  },
  { name: "Handout", values: { as: "document", margin_preset: "narrow", density: "compact", ink_saver: true } },
  {
    name: "Book",
    values: { as: "book", page_size: "A5", toc: true, cover: true, chapter_start: "right", binding: "8mm" },
  },
  { name: "Slides", values: { as: "slides" } },
];

const saved = signal<store.Preset[]>([]);
const all = computed(() => [...builtin, ...saved.value]);
const channel = new BroadcastChannel("presswork.presets");

async function load(): Promise<void> {
  saved.value = await store.presets();
}

channel.onmessage = () => void load().catch(() => {});

async function change(work: Promise<void>): Promise<void> {
  await work;
  channel.postMessage("changed");
  await load();
}

/** pending returns what a preset would change in the front matter. */
function pending({ values }: store.Preset): [string, string | number | boolean | null][] {
  const now = matter.value;
  const removed = replaced
    .filter((o) => !(o.name in values) && o.name in now)
    .map((o): [string, null] => [o.name, null]);
  const given = [...replaced, ...kept].filter(
    (o) => o.name in values && (!(o.name in now) || typed(o, now[o.name]!) !== values[o.name]),
  );
  return [...removed, ...given.map((o): [string, string | number | boolean] => [o.name, values[o.name]!])];
}

/** current returns the options of the front matter that a preset holds. */
function current(): store.Preset["values"] {
  const given = [...kept, ...replaced].filter((o) => o.name in matter.value);
  return Object.fromEntries(given.map((o) => [o.name, typed(o, matter.value[o.name]!)]));
}

/** Presets shows the presets and saves the options of the document as one. */
export function Presets() {
  const naming = useSignal(false);
  const problem = useSignal("");
  const used = useSignal<{ preset: store.Preset; removed: string[] } | null>(null);
  const deleted = useSignal<store.Preset | null>(null);
  useEffect(() => void load().catch(() => {}), []); // without a store there are the built-in ones

  const act = (work: Promise<void>, what: string) => {
    problem.value = "";
    change(work).catch((e: unknown) => {
      problem.value = `${what}: ${isFull(e) ? "the browser has no space left. Delete documents or files, and try again." : errorText(e)}`;
    });
  };
  const apply = (preset: store.Preset) => {
    const changes = pending(preset);
    const removed = changes.flatMap(([name, value]) =>
      value === null ? replaced.filter((o) => o.name === name).map((o) => o.label) : [],
    );
    used.value = { preset, removed };
    deleted.value = null;
    setAll(changes);
  };
  const save = (name: string) => {
    naming.value = false;
    deleted.value = null;
    act(store.writePreset({ name, values: current() }), `${name} was not saved`);
  };
  const remove = (preset: store.Preset) => {
    deleted.value = preset;
    act(store.removePreset(preset.name), `${preset.name} was not deleted`);
  };
  const restore = () => {
    act(store.writePreset(deleted.value!), `${deleted.value!.name} was not restored`);
    deleted.value = null;
  };
  const u = used.value;
  return (
    <section class="presets" aria-label="Presets">
      <h2>Presets</h2>
      <ul class="row">
        {all.value.map((p) => (
          <li key={p.name}>
            <button type="button" class="chip" aria-pressed={!pending(p).length} onClick={() => apply(p)}>
              {p.name}
            </button>
            {!builtin.includes(p) && (
              <IconButton icon="close" label={`Delete the preset ${p.name}`} onClick={() => remove(p)} />
            )}
          </li>
        ))}
      </ul>
      <small role="status">
        {u &&
          u.removed.length > 0 &&
          !pending(u.preset).length &&
          `${u.preset.name} removed: ${u.removed.join(", ")}. Undo in the text brings them back.`}
      </small>
      {deleted.value && (
        <Notice kind="info">
          Deleted {deleted.value.name}.{" "}
          <button type="button" class="quiet strong" onClick={restore}>
            Undo
          </button>
        </Notice>
      )}
      {problem.value && (
        <Notice kind="error" onClose={() => (problem.value = "")}>
          {problem.value}
        </Notice>
      )}
      {naming.value ? (
        <NameForm onSave={save} onCancel={() => (naming.value = false)} />
      ) : (
        <button type="button" class="wide-button" onClick={() => (naming.value = true)}>
          <Icon name="plus" /> Save as preset
        </button>
      )}
    </section>
  );
}

/** NameForm asks for the name of a preset. Escape closes it without a change. */
function NameForm({ onSave, onCancel }: { onSave: (name: string) => void; onCancel: () => void }) {
  const name = useSignal("");
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current!.focus(), []);
  const taken = all.value.find((p) => p.name.toLowerCase() === name.value.trim().toLowerCase());
  const fixed = taken && builtin.includes(taken);
  return (
    <form
      class="field"
      onSubmit={(e) => {
        e.preventDefault();
        if (name.value.trim() && !fixed) onSave(taken?.name ?? name.value.trim());
      }}
      onKeyDown={(e) => e.key === "Escape" && onCancel()}
    >
      <label for="preset-name">Name of the preset</label>
      <input
        ref={field}
        id="preset-name"
        required
        maxLength={40}
        aria-invalid={!!fixed}
        aria-describedby="preset-hint"
        value={name.value}
        onInput={(e) => (name.value = e.currentTarget.value)}
      />
      <small id="preset-hint" class={fixed ? "problem" : ""}>
        {fixed
          ? `${taken.name} is built in. Choose another name.`
          : "It holds the theme and the options of page, contents and file, as they are now."}
      </small>
      <div class="row">
        <button type="submit" class="quiet strong">
          {taken && !fixed ? "Replace" : "Save"}
        </button>
        <button type="button" class="quiet" onClick={onCancel}>
          Cancel
        </button>
      </div>
    </form>
  );
}
