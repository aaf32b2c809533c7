// The options of the panel, as data: their names in the API, labels and allowed values.
import { flow, sides } from "./frontmatter";

/** Option is one field. Its name is its key in the front matter and in the API. */
export interface Option {
  name: string;
  label: string;
  kind: "text" | "choice" | "switch" | "margins" | "output" | "password" | "css";
  /** values are the choices and their labels; "" is the default. */
  values?: [string, string][];
  hint?: string;
  placeholder?: string;
  number?: boolean;
  /** standard is true for a switch that is on by default. */
  standard?: boolean;
  /** half fields share a line. */
  half?: boolean;
  /** own is set for an option of one document, which presets leave unchanged. */
  own?: boolean;
}

type More = Omit<Option, "name" | "label" | "kind" | "values">;

const text = (name: string, label: string, more: More = {}): Option => ({ name, label, kind: "text", ...more });
const flag = (name: string, label: string, more: More = {}): Option => ({ name, label, kind: "switch", ...more });
const choice = (name: string, label: string, values: [string, string][], more: More = {}): Option => ({
  name,
  label,
  kind: "choice",
  values,
  ...more,
});
const named = (...v: string[]): [string, string][] => v.map((x) => [x, x]);

const levels: [string, string][] = [
  ["", "None"],
  ["true", "To level 3"],
  ...[1, 2, 4, 5, 6].map((n): [string, string] => [String(n), `To level ${n}`]),
];
const half = { half: true };
const own = { own: true };

/** essentials are the first options of the panel, below the theme. */
export const essentials: Option[] = [
  choice("page_size", "Page size", [["", "A4"], ...named("A3", "A5", "A6", "B5", "Letter", "Legal", "Tabloid")], half),
  choice("toc", "Table of contents", levels, half),
  flag("cover", "Cover"),
  flag("numbered_headings", "Numbered headings"),
  { name: "output", label: "Output", kind: "output", own: true },
];

export interface Group {
  title: string;
  options: Option[];
}

/** output holds the options of the file. A preset may set them; it removes none. */
export const output: Group = {
  title: "File",
  options: [
    text("resolution", "Resolution of page images", {
      number: true,
      placeholder: "150",
      hint: "36 to 600 pixels per inch",
    }),
    choice("pdf_a", "Archive (PDF/A)", [
      ["", "No"],
      ["2b", "PDF/A-2b"],
      ["2u", "PDF/A-2u"],
      ["3b", "PDF/A-3b"],
    ]),
    flag("pdf_ua", "Accessible (PDF/UA)"),
    flag("attach_source", "Attach the Markdown (PDF/A-3b)"),
    flag("tagged", "Tags for screen readers", { standard: true }),
    flag("outline", "Bookmarks", { standard: true }),
    flag("remote_images", "Load images from the web", { standard: true }),
    flag("strict", "Treat warnings as errors"),
    choice("raw_html", "HTML in the text", [
      ["", "Sanitized"],
      ["escaped", "Shown as text"],
    ]),
    { name: "password", label: "Password", kind: "password", own: true },
    { name: "css", label: "Style sheet", kind: "css", own: true },
  ],
};

/** look holds the options that a preset replaces. */
const look: Group[] = [
  {
    title: "Page",
    options: [
      choice(
        "margin_preset",
        "Margins",
        [
          ["", "Normal"],
          ["none", "None"],
          ["narrow", "Narrow"],
          ["wide", "Wide"],
        ],
        half,
      ),
      choice(
        "density",
        "Density",
        [
          ["", "Normal"],
          ["compact", "Compact"],
          ["generous", "Generous"],
        ],
        half,
      ),
      { name: "margins", label: "Side margins", kind: "margins" },
      flag("landscape", "Landscape", half),
      flag("crop_marks", "Crop marks", half),
      text("binding", "Binding", { half: true, placeholder: "8mm", hint: "gutter" }),
      text("bleed", "Bleed", { half: true, placeholder: "3mm", hint: "bleed past the trim" }),
      text("scale", "Scale", { half: true, number: true, placeholder: "1", hint: "0.1 to 2" }),
      text("page_ranges", "Page range", { half: true, own: true, placeholder: "1-3, 5" }),
      flag("ink_saver", "Save ink"),
    ],
  },
  {
    title: "Contents",
    options: [
      choice(
        "as",
        "Layout",
        [
          ["", "By theme"],
          ["document", "Document"],
          ["book", "Book"],
          ["slides", "Slides"],
          ["paper", "Paper"],
          ["letter", "Letter"],
          ["cv", "CV"],
          ["recipe", "Recipe"],
          ["minutes", "Minutes"],
          ["auto", "By text"],
        ],
        half,
      ),
      choice(
        "chapter_start",
        "Chapters",
        [
          ["", "By length"],
          ["continue", "Continue"],
          ["page", "New page"],
          ["right", "Right-hand page"],
        ],
        half,
      ),
      choice("columns", "Columns of a paper", [
        ["", "One"],
        ["2", "Two"],
      ]),
      choice("speaker_notes", "Speaker notes", [
        ["", "PDF comments"],
        ["pages", "Separate pages"],
        ["none", "None"],
      ]),
      choice("numbering", "Figure and table numbers", [
        ["", "Only labelled ones"],
        ["document", "All: 1, 2, 3"],
        ["chapter", "By chapter: 2.1"],
      ]),
      flag("lof", "List of figures", half),
      flag("lot", "List of tables", half),
      flag("lol", "List of listings"),
      choice("footnotes", "Footnotes", [
        ["", "At the foot of the page"],
        ["end", "At the end"],
      ]),
      flag("line_numbers", "Line numbers in code"),
      text("code_theme", "Code colours", { placeholder: "the theme's" }),
      text("header_text", "Header", { placeholder: "{chapter}", hint: "{page} {total} {title} {date} {chapter}" }),
      text("footer_text", "Footer", { placeholder: "the theme's" }),
    ],
  },
];

/** advanced holds the options below the essentials. */
export const advanced: Group[] = [
  ...look,
  {
    title: "Document",
    options: [
      text("title", "Title", own),
      text("author", "Author", own),
      text("subject", "Subject", own),
      text("keywords", "Keywords", { own: true, placeholder: "one, two" }),
      text("lang", "Language", { own: true, placeholder: "en" }),
      choice(
        "markdown",
        "Markdown",
        [
          ["", "Detect"],
          ["gfm", "GitHub"],
          ["pandoc", "Pandoc"],
          ["obsidian", "Obsidian"],
          ["mdx", "MDX"],
        ],
        own,
      ),
      text("bibliography", "Bibliography", { own: true, placeholder: "works.bib", hint: "Drop the file on this page" }),
      text("csl", "Citation style", { own: true, placeholder: "chicago" }),
      text("nocite", "Uncited works to list", { own: true, placeholder: "@key, or @*" }),
    ],
  },
  output,
];

/** replaced are the options that a preset sets or removes. */
export const replaced = [...essentials, ...look.flatMap((g) => g.options)].filter((o) => !o.own);

/** kept are the options that a preset sets and never removes. */
export const kept: Option[] = [text("theme", "Theme"), ...output.options.filter((o) => !o.own)];

/** typed returns the value that an option has in the front matter for the text of a field. */
export function typed(o: Option, value: string): string | number | boolean {
  if (o.kind === "switch") return /^(true|yes|on)$/i.test(value);
  if (o.kind === "margins") return flow(sides(value)) || value;
  if (o.kind === "choice" && /^(true|false)$/i.test(value)) return value.toLowerCase() === "true";
  const isNumber =
    o.kind === "choice" ? /^\d+$/.test(value) : o.number && value !== "" && Number.isFinite(Number(value));
  return isNumber ? Number(value) : value;
}

/** matches reports whether the label or the name of an option contains every word. */
export function matches(o: Option, words: string[]): boolean {
  return words.every((w) => `${o.label} ${o.name}`.toLowerCase().includes(w));
}
