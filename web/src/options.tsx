// The options panel. It shows the front matter and writes to it.
import { extras, ignored, matter, output, set, type Output } from "./document";
import { sides } from "./frontmatter";
import { ThemePicker } from "./themes";

/** Problem says why the server ignores an option; its id ends in -problem. */
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

function Text({ name, label, hint, placeholder, number }: { name: string; label: string; hint?: string; placeholder?: string; number?: boolean }) {
  const write = (v: string) => set(name, v === "" ? null : number && Number.isFinite(Number(v)) ? Number(v) : v);
  const id = `opt-${name}`;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        value={matter.value[name] ?? ""}
        placeholder={placeholder}
        {...marked(name, hint)}
        onChange={(e) => write(e.currentTarget.value.trim())}
      />
      {hint && <small id={id + "-hint"}>{hint}</small>}
      <Problem name={name} />
    </div>
  );
}

function Choice({ name, label, values }: { name: string; label: string; values: [string, string][] }) {
  const id = `opt-${name}`;
  const now = matter.value[name] ?? "";
  const known = values.find(([v]) => v.toLowerCase() === now.toLowerCase());
  const write = (v: string) => set(name, v === "" ? null : v === "true" ? true : /^\d+$/.test(v) ? Number(v) : v);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={known ? known[0] : now} {...marked(name)} onChange={(e) => write(e.currentTarget.value)}>
        {!known && <option value={now}>{now}</option>}
        {values.map(([v, l]) => (
          <option key={v} value={v}>
            {l}
          </option>
        ))}
      </select>
      <Problem name={name} />
    </div>
  );
}

function Switch({ name, label, standard = false }: { name: string; label: string; standard?: boolean }) {
  const now = matter.value[name];
  const on = now === undefined ? standard : /^(true|yes|on)$/i.test(now);
  return (
    <label class="switch">
      <input type="checkbox" role="switch" checked={on} onChange={(e) => set(name, e.currentTarget.checked === standard ? null : e.currentTarget.checked)} />
      <span>{label}</span>
    </label>
  );
}

function Margins() {
  const now = sides(matter.value["margins"] ?? "");
  const write = (side: string, value: string) => {
    const next = { ...now, [side]: value.trim() };
    const set1 = Object.entries(next).filter(([, v]) => v);
    set("margins", set1.length ? `{ ${set1.map(([s, v]) => `${s}: ${v}`).join(", ")} }` : null);
  };
  return (
    <fieldset class="four">
      <legend>Side margins</legend>
      {["top", "right", "bottom", "left"].map((side) => (
        <input key={side} aria-label={`Margin ${side}`} placeholder={side} value={now[side] ?? ""} {...marked("margins")} onChange={(e) => write(side, e.currentTarget.value)} />
      ))}
      <Problem name="margins" />
    </fieldset>
  );
}

const levels: [string, string][] = [["", "None"], ["true", "To level 3"], ...[1, 2, 4, 5, 6].map((n): [string, string] => [String(n), `To level ${n}`])];
const named = (...v: string[]): [string, string][] => v.map((x) => [x, x]);

/** Options is the panel. */
export function Options({ onGallery }: { onGallery: () => void }) {
  return (
    <div class="options">
      <ThemePicker onGallery={onGallery} />
      <details open>
        <summary>Page</summary>
        <div class="pair">
          <Choice name="page_size" label="Size" values={[["", "A4"], ...named("A3", "A5", "A6", "B5", "Letter", "Legal", "Tabloid")]} />
          <Choice name="margin_preset" label="Margins" values={[["", "Normal"], ["none", "None"], ["narrow", "Narrow"], ["wide", "Wide"]]} />
        </div>
        <Switch name="landscape" label="Landscape" />
        <Margins />
        <div class="pair">
          <Text name="binding" label="Binding" placeholder="8mm" hint="gutter" />
          <Text name="bleed" label="Bleed" placeholder="3mm" hint="bleed past the trim" />
        </div>
        <Switch name="crop_marks" label="Crop marks" />
        <div class="pair">
          <Text name="scale" label="Scale" number placeholder="1" hint="0.1 to 2" />
          <Text name="page_ranges" label="Page range" placeholder="1-3, 5" />
        </div>
      </details>
      <details open>
        <summary>Contents</summary>
        <div class="pair">
          <Choice name="as" label="Layout" values={[["", "By theme"], ["document", "Document"], ["book", "Book"], ["slides", "Slides"],
            ["paper", "Paper"], ["letter", "Letter"], ["cv", "CV"], ["recipe", "Recipe"], ["minutes", "Minutes"], ["auto", "By text"]]} />
          <Choice name="chapter_start" label="Chapters" values={[["", "By length"], ["continue", "Continue"], ["page", "New page"], ["right", "Right-hand page"]]} />
        </div>
        <Choice name="toc" label="Table of contents" values={levels} />
        <Switch name="cover" label="Cover" />
        <Choice name="speaker_notes" label="Speaker notes" values={[["", "PDF comments"], ["pages", "Separate pages"], ["none", "None"]]} />
        <Switch name="numbered_headings" label="Numbered headings" />
        <Choice name="numbering" label="Figure and table numbers" values={[["", "Only labelled ones"], ["document", "All: 1, 2, 3"], ["chapter", "By chapter: 2.1"]]} />
        <div class="pair">
          <Switch name="lof" label="List of figures" />
          <Switch name="lot" label="List of tables" />
        </div>
        <Switch name="lol" label="List of listings" />
        <Choice name="footnotes" label="Footnotes" values={[["", "At the foot of the page"], ["end", "At the end"]]} />
        <Switch name="line_numbers" label="Line numbers in code" />
        <Text name="code_theme" label="Code colours" placeholder="the theme's" />
        <Text name="header_text" label="Header" placeholder="{chapter}" hint="{page} {total} {title} {date} {chapter}" />
        <Text name="footer_text" label="Footer" placeholder="the theme's" />
      </details>
      <details>
        <summary>Document</summary>
        <Text name="title" label="Title" />
        <Text name="author" label="Author" />
        <Text name="subject" label="Subject" />
        <Text name="keywords" label="Keywords" placeholder="one, two" />
        <Text name="lang" label="Language" placeholder="en" />
        <Choice name="markdown" label="Markdown" values={[["", "Detect"], ["gfm", "GitHub"], ["pandoc", "Pandoc"], ["obsidian", "Obsidian"], ["mdx", "MDX"]]} />
        <Text name="bibliography" label="Bibliography" placeholder="works.bib" hint="Drop the file on this page" />
        <Text name="csl" label="Citation style" placeholder="chicago" />
        <Text name="nocite" label="Uncited works to list" placeholder="@key, or @*" />
      </details>
      <details>
        <summary>Output</summary>
        <div class="field">
          <label for="opt-output">Format</label>
          <select id="opt-output" value={output.value} onChange={(e) => (output.value = e.currentTarget.value as Output)}>
            <option value="pdf">PDF</option>
            <option value="html">Web page (HTML)</option>
            <option value="epub">Book (EPUB)</option>
            <option value="png">Page images (PNG)</option>
          </select>
        </div>
        {output.value === "png" && <Text name="resolution" label="Resolution" number placeholder="150" hint="36 to 600 pixels per inch" />}
        <Choice name="pdf_a" label="Archive (PDF/A)" values={[["", "No"], ["2b", "PDF/A-2b"], ["2u", "PDF/A-2u"], ["3b", "PDF/A-3b"]]} />
        <Switch name="pdf_ua" label="Accessible (PDF/UA)" />
        <Switch name="attach_source" label="Attach the Markdown (PDF/A-3b)" />
        <Switch name="ink_saver" label="Save ink" />
        <Switch name="tagged" label="Tags for screen readers" standard />
        <Switch name="outline" label="Bookmarks" standard />
        <Switch name="remote_images" label="Load images from the web" standard />
        <Switch name="strict" label="Treat warnings as errors" />
        <Choice name="raw_html" label="HTML in the text" values={[["", "Sanitized"], ["escaped", "Shown as text"]]} />
        <div class="field">
          <label for="opt-password">Password</label>
          <input
            id="opt-password"
            type="password"
            autocomplete="new-password"
            value={extras.value.password ?? ""}
            onChange={(e) => (extras.value = { ...extras.value, password: e.currentTarget.value })}
          />
          <small>Needed to open the PDF. Not saved, and not written into the text.</small>
        </div>
        <div class="field">
          <label for="opt-css">Style sheet</label>
          <textarea
            id="opt-css"
            rows={4}
            spellcheck={false}
            placeholder="h1 { letter-spacing: .02em }"
            value={extras.value.css ?? ""}
            onChange={(e) => (extras.value = { ...extras.value, css: e.currentTarget.value })}
          />
        </div>
      </details>
    </div>
  );
}
