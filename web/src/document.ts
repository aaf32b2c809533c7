// The open document: its text, its files, and the options that are not in its front
// matter.
import { computed, signal } from "@preact/signals";
import { readMatter, writeMatter, type Change } from "./frontmatter";
import type { Sample } from "./snippets";
import type { Asset } from "./store";

/** sample is the text of the first document. */
export const sample = `---
title: The quiet craft of printing
author: Presswork
theme: light
---

# The quiet craft of printing

Write on the left; the page on the right is the page that is printed. Pick a
**theme**, or let Presswork read the text and choose one.

## What it supports

- tables, footnotes[^1], task lists, captions and notes
- code in colour, and formulas such as $e^{i\\pi} + 1 = 0$
- diagrams, a table of contents, a cover, PDF/A

> [!TIP]
> Drop a picture or a Markdown file anywhere on this page, or paste a web page:
> it becomes Markdown.

| Paper  | Size        | Good for  |
| ------ | ----------- | --------- |
| A4     | 210 × 297 mm | reports  |
| A5     | 148 × 210 mm | booklets |
| Letter | 8.5 × 11 in  | the mail |

\`\`\`python
def press(page):
    return f"{page} is ready to be printed"
\`\`\`

Press **Convert** when it looks right.

[^1]: Like this one.
`;

/** text is the Markdown, with its front matter. */
export const text = signal("");

/** assets are the files of the document. */
export const assets = signal<Asset[]>([]);

/** extras are the options outside the text: password and style sheet. */
export const extras = signal<{ password?: string; css?: string }>({});

export type Output = "pdf" | "html" | "epub" | "png";

/** output is the chosen output format. */
export const output = signal<Output>("pdf");

export const matter = computed(() => readMatter(text.value));

/** ignored holds the reasons why the server ignores options of the front matter, by their keys. */
export const ignored = signal<Record<string, string>>({});

export const theme = computed(() => matter.value["theme"] ?? "light");

/** titleOf returns the title in a text's front matter, else its first heading of level 1, else "Untitled". */
export function titleOf(doc: string): string {
  return readMatter(doc)["title"] || /^#\s+(.+)$/m.exec(doc)?.[1]?.trim() || "Untitled";
}

/** title is the document's name in lists. */
export const title = computed(() => titleOf(text.value));

let apply: (c: Change) => void = () => {};

/** onChange sets the function that applies changes to the editor. */
export function onChange(f: (c: Change) => void): void {
  apply = f;
}

/** set writes an option into the front matter; null removes it. */
export function set(name: string, value: string | number | boolean | null): void {
  const change = writeMatter(text.value, name, value);
  if (change) apply(change);
}

/** setAll writes options in one step of Undo; null removes one. */
export function setAll(values: [string, string | number | boolean | null][]): void {
  const now = text.value;
  let next = now;
  for (const [name, value] of values) {
    const c = writeMatter(next, name, value);
    if (c) next = next.slice(0, c.from) + c.insert + next.slice(c.to);
  }
  replace(next);
}

/** replace replaces the text in one step of Undo. Equal text at the start and the end stays, so that the cursor stays
 * there. */
export function replace(next: string): void {
  const now = text.value;
  if (next === now) return;
  const most = Math.min(now.length, next.length);
  let [start, end] = [0, 0];
  while (start < most && now[start] === next[start]) start++;
  while (end < most - start && now.at(-1 - end) === next.at(-1 - end)) end++;
  apply({ from: start, to: now.length - end, insert: next.slice(start, next.length - end) });
}

/** isNamed reports whether the text contains the name of a file, plain or percent-encoded. */
export function isNamed(file: string): boolean {
  return text.value.includes(file) || text.value.includes(encodeURI(file));
}

/** usedAssets returns the files that the text names. */
export function usedAssets(): Asset[] {
  return assets.value.filter((a) => isNamed(a.name));
}

/** body returns the submission in the API's form: JSON, or a form if there are files.
 * It adds fields to those of the document. */
export function body(fields: Record<string, string> = {}): { init: RequestInit; options: Record<string, string> } {
  const options = Object.fromEntries(Object.entries(extras.value).filter(([, v]) => v)) as Record<string, string>;
  const used = usedAssets();
  if (!used.length) {
    return {
      options,
      init: {
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ content: text.value, options, ...fields }),
      },
    };
  }
  const form = new FormData();
  form.set("content", text.value);
  form.set("options", JSON.stringify(options));
  for (const [name, value] of Object.entries(fields)) form.set(name, value);
  for (const a of used) form.append(`assets[${a.name}]`, a.file, a.name);
  return { options, init: { body: form } };
}

/** sampleOf returns the conversion as a program would send it, with the text from a file. */
export function sampleOf(options: Record<string, string>): Sample {
  const used = usedAssets();
  const { password, ...rest } = options;
  if (password) rest["password"] = "…";
  const [accept, ending] = {
    pdf: ["application/pdf", "pdf"],
    html: ["text/html", "html"],
    epub: ["application/epub+zip", "epub"],
    png: ["application/zip", "zip"],
  }[output.value] as [string, string];
  const shared = { accept, output: "document." + ending };
  if (used.length) {
    return {
      ...shared,
      path: "/api/conversion",
      fields: Object.keys(rest).length ? { options: JSON.stringify(rest) } : {},
      files: [
        { field: "content", name: "document.md" },
        ...used.map((a) => ({ field: `assets[${a.name}]`, name: a.name })),
      ],
    };
  }
  const query = new URLSearchParams();
  if (!matter.value["theme"]) query.set("theme", "light");
  if (Object.keys(rest).length) query.set("options", JSON.stringify(rest));
  const q = query.toString();
  return { ...shared, path: "/api/conversion" + (q && "?" + q), file: "document.md", type: "text/markdown" };
}
