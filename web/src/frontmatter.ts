// A document's theme and options are in its front matter. The options panel reads and
// writes it, so the shown, sent and saved texts are the same.

/** Change replaces from..to of a text. */
export interface Change {
  from: number;
  to: number;
  insert: string;
}

interface Entry {
  key: string;
  value: string;
  from: number;
  to: number;
}

interface Block {
  toml: boolean;
  /** body and end are the offsets of the lines between the fences. */
  body: number;
  end: number;
  entries: Entry[];
}

/** parse finds the front matter of a document and its entries. */
function parse(doc: string): Block | null {
  const fence = /^(---|\+\+\+)[ \t]*\r?\n/.exec(doc);
  if (!fence) return null;
  const close = new RegExp(`^${fence[1] === "---" ? "(?:---|\\.\\.\\.)" : "\\+\\+\\+"}[ \\t]*$`, "m");
  const body = fence[0].length;
  const rest = doc.slice(body, body + 64_000);
  const found = close.exec(rest);
  if (!found) return null;
  const toml = fence[1] === "+++";
  const entries: Entry[] = [];
  let at = body;
  for (const line of rest.slice(0, found.index).split("\n").slice(0, -1)) {
    const next = at + line.length + 1;
    if (toml && /^\s*\[/.test(line)) break; // what follows belongs to a table
    const m = (toml ? /^([\w-]+)\s*=\s*(.*)$/ : /^([\w-]+)\s*:(?:\s+(.*))?$/).exec(line.replace(/\r$/, ""));
    if (m) entries.push({ key: m[1]!, value: m[2] ?? "", from: at, to: next });
    else if (entries.length && line.trim() && !line.startsWith("#")) {
      const last = entries[entries.length - 1]!;
      last.value += "\n" + line;
      last.to = next;
    }
    at = next;
  }
  return { toml, body, end: body + found.index, entries };
}

/** readMatter returns the values of a document's front matter as text, by key. */
export function readMatter(doc: string): Record<string, string> {
  const out: Record<string, string> = {};
  for (const e of parse(doc)?.entries ?? []) out[e.key] = unquote(e.value);
  return out;
}

/** keyAt returns the key whose value has a line of the front matter. Lines count from 1. */
export function keyAt(doc: string, line: number): string | undefined {
  const before = (at: number) => doc.slice(0, at).split("\n").length;
  return parse(doc)?.entries.find((e) => before(e.from) <= line && line < before(e.to))?.key;
}

/** unquote returns a value of YAML or TOML as text. Lists have commas. */
function unquote(value: string): string {
  const v = value.trim();
  if (v.startsWith('"')) {
    const m = /^"((?:[^"\\]|\\.)*)"/.exec(v);
    if (m) {
      try {
        return JSON.parse(`"${m[1]}"`) as string;
      } catch {
        return m[1]!;
      }
    }
  }
  const single = /^'((?:[^']|'')*)'/.exec(v);
  if (single) return single[1]!.replaceAll("''", "'");
  const list = /^\[(.*)\]$/s.exec(v);
  if (list) return list[1]!.split(",").map(unquote).join(", ");
  if (v.startsWith("- "))
    return v
      .split("\n")
      .map((l) => unquote(l.replace(/^\s*-\s*/, "")))
      .join(", ");
  return v.replace(/\s+#.*$/, "");
}

/** sides reads the sides of a `margins` value, in YAML's block or flow form. */
export function sides(value: string): Record<string, string> {
  const out: Record<string, string> = {};
  for (const m of value.matchAll(/(top|right|bottom|left)\s*[:=]\s*["']?([\d.]+\s*[a-z]*)/g)) out[m[1]!] = m[2]!;
  return out;
}

/** flow writes the sides of a `margins` value in YAML's flow form; "" without any. */
export function flow(all: Record<string, string>): string {
  const given = Object.entries(all).filter(([, v]) => v);
  return given.length ? `{ ${given.map(([side, v]) => `${side}: ${v}`).join(", ")} }` : "";
}

/** writeMatter returns the change that sets a key, or removes it for null. Values in
 * braces, booleans and numbers are written without quotes. */
export function writeMatter(doc: string, key: string, value: string | number | boolean | null): Change | null {
  const block = parse(doc);
  const text = value === null ? "" : typeof value === "string" ? scalar(value) : String(value);
  if (!block) {
    return value === null ? null : { from: 0, to: 0, insert: `---\n${key}: ${text}\n---\n\n` };
  }
  const line =
    value === null
      ? ""
      : block.toml
        ? `${key} = ${typeof value === "string" && !value.startsWith("{") ? JSON.stringify(value) : text}\n`
        : `${key}: ${text}\n`;
  const there = block.entries.find((e) => e.key === key);
  if (there) {
    const empty =
      value === null &&
      block.entries.length === 1 &&
      doc.slice(block.body, block.end).trim() === doc.slice(there.from, there.to).trim();
    if (empty) {
      // Remove an empty front matter and the blank line below it.
      const after = /^[^\n]*\n?(?:[ \t]*\r?\n)?/.exec(doc.slice(block.end))![0];
      return { from: 0, to: block.end + after.length, insert: "" };
    }
    return doc.slice(there.from, there.to) === line ? null : { from: there.from, to: there.to, insert: line };
  }
  if (value === null) return null;
  const at = block.entries.length ? block.entries[block.entries.length - 1]!.to : block.body;
  return { from: at, to: at, insert: line };
}

/** scalar writes a text as a value of YAML, in quotes if it needs them. */
function scalar(value: string): string {
  if (value.startsWith("{") && value.endsWith("}") && value.includes(": ")) return value;
  const plain =
    /^[A-Za-z][\w .\/()-]*$/.test(value) && value.trim() === value && !/^(true|false|null|yes|no|on|off)$/i.test(value);
  return plain ? value : JSON.stringify(value);
}
