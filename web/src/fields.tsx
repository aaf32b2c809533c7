// The fields of the options panel. They show the front matter and write to it.
import { extras, ignored, matter, output, set, type Output } from "./document";
import { flow, sides } from "./frontmatter";
import { typed, type Option } from "./optionlist";

/** Problem shows why the server ignores an option. Its id ends in -problem. */
function Problem({ name }: { name: string }) {
  const why = ignored.value[name];
  return why ? (
    <small id={`opt-${name}-problem`} class="problem">
      {why}
    </small>
  ) : null;
}

/** marked returns the attributes of a field whose option may be ignored. */
function marked(name: string, hint?: string) {
  const wrong = name in ignored.value;
  const described = [hint && `opt-${name}-hint`, wrong && `opt-${name}-problem`].filter(Boolean).join(" ");
  return { "aria-invalid": wrong, "aria-describedby": described || undefined };
}

function Text({ o }: { o: Option }) {
  const id = `opt-${o.name}`;
  return (
    <div class="field">
      <label for={id}>{o.label}</label>
      <input
        id={id}
        value={matter.value[o.name] ?? ""}
        placeholder={o.placeholder}
        {...marked(o.name, o.hint)}
        onChange={(e) => {
          const value = e.currentTarget.value.trim();
          set(o.name, value === "" ? null : typed(o, value));
        }}
      />
      {o.hint && <small id={id + "-hint"}>{o.hint}</small>}
      <Problem name={o.name} />
    </div>
  );
}

function Choice({ o }: { o: Option }) {
  const id = `opt-${o.name}`;
  const now = matter.value[o.name] ?? "";
  const known = o.values!.find(([v]) => v.toLowerCase() === now.toLowerCase());
  const write = (v: string) => set(o.name, v === "" ? null : typed(o, v));
  return (
    <div class="field">
      <label for={id}>{o.label}</label>
      <select id={id} value={known ? known[0] : now} {...marked(o.name)} onChange={(e) => write(e.currentTarget.value)}>
        {!known && <option value={now}>{now}</option>}
        {o.values!.map(([v, l]) => (
          <option key={v} value={v}>
            {l}
          </option>
        ))}
      </select>
      <Problem name={o.name} />
    </div>
  );
}

function Switch({ o }: { o: Option }) {
  const now = matter.value[o.name];
  const standard = !!o.standard;
  const on = now === undefined ? standard : (typed(o, now) as boolean);
  return (
    <>
      <label class="switch">
        <input
          id={`opt-${o.name}`}
          type="checkbox"
          role="switch"
          checked={on}
          {...marked(o.name)}
          onChange={(e) => set(o.name, e.currentTarget.checked === standard ? null : e.currentTarget.checked)}
        />
        <span>{o.label}</span>
      </label>
      <Problem name={o.name} />
    </>
  );
}

function Margins({ o }: { o: Option }) {
  const now = sides(matter.value["margins"] ?? "");
  const write = (side: string, value: string) => {
    set("margins", flow({ ...now, [side]: value.trim() }) || null);
  };
  return (
    <fieldset class="four">
      <legend>{o.label}</legend>
      {["top", "right", "bottom", "left"].map((side) => (
        <input
          key={side}
          aria-label={`Margin ${side}`}
          placeholder={side}
          value={now[side] ?? ""}
          {...marked("margins")}
          onChange={(e) => write(side, e.currentTarget.value)}
        />
      ))}
      <Problem name="margins" />
    </fieldset>
  );
}

function OutputChoice({ o }: { o: Option }) {
  return (
    <div class="field">
      <label for="opt-output">{o.label}</label>
      <select id="opt-output" value={output.value} onChange={(e) => (output.value = e.currentTarget.value as Output)}>
        <option value="pdf">PDF</option>
        <option value="html">Web page (HTML)</option>
        <option value="epub">Book (EPUB)</option>
        <option value="png">Page images (PNG)</option>
      </select>
    </div>
  );
}

function Password({ o }: { o: Option }) {
  return (
    <div class="field">
      <label for="opt-password">{o.label}</label>
      <input
        id="opt-password"
        type="password"
        autocomplete="new-password"
        value={extras.value.password ?? ""}
        onChange={(e) => (extras.value = { ...extras.value, password: e.currentTarget.value })}
      />
      <small>Needed to open the PDF. Not saved, and not written into the text.</small>
    </div>
  );
}

function StyleSheet({ o }: { o: Option }) {
  return (
    <div class="field">
      <label for="opt-css">{o.label}</label>
      <textarea
        id="opt-css"
        rows={4}
        spellcheck={false}
        placeholder="h1 { letter-spacing: .02em }"
        value={extras.value.css ?? ""}
        onChange={(e) => (extras.value = { ...extras.value, css: e.currentTarget.value })}
      />
    </div>
  );
}

const fields = {
  text: Text,
  choice: Choice,
  switch: Switch,
  margins: Margins,
  output: OutputChoice,
  password: Password,
  css: StyleSheet,
};

/** Fields shows options in two columns; all but half fields span both. */
export function Fields({ options }: { options: Option[] }) {
  return (
    <div class="fields">
      {options.map((o) => {
        const Field = fields[o.kind];
        return (
          <div key={o.name} class={o.half ? "half" : undefined} title={o.name}>
            <Field o={o} />
          </div>
        );
      })}
    </div>
  );
}
