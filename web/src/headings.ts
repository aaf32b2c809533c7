// The headings of a text, for the outline.
import type { Text } from "@codemirror/state";

/** Heading is a heading with the number of its line, counted from 1. */
export interface Heading {
  level: number;
  title: string;
  line: number;
}

/** headingsOf returns at most 2000 headings that begin with #, without those in code and
 * front matter. */
export function headingsOf(doc: Text): Heading[] {
  const out: Heading[] = [];
  let fence = "";
  let n = 0;
  for (const text of doc.iterLines()) {
    n++;
    if (n === 1 && /^(---|\+\+\+)\s*$/.test(text)) {
      fence = text.trimEnd();
      continue;
    }
    const mark = /^ {0,3}(```+|~~~+)/.exec(text)?.[1];
    if (fence) {
      if (
        text.trim() === "..."
          ? fence === "---"
          : text.trim().startsWith(fence) && !text.trim().slice(fence.length).replace(/[`~]/g, "")
      )
        fence = "";
    } else if (mark) fence = mark;
    else {
      const found = /^ {0,3}(#{1,6})\s+(.*?)(?:\s+#+)?\s*$/.exec(text);
      if (found && out.push({ level: found[1]!.length, title: plain(found[2]!), line: n }) >= 2000) break;
    }
  }
  return out;
}

/** plain removes the marks of emphasis, code, links and attributes. */
function plain(text: string): string {
  return text
    .replace(/\s*\{[^}]*\}$/, "")
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/[*_`]+([^*_`]+)[*_`]+/g, "$1");
}
