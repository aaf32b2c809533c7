// The commands of the editor. One table feeds the toolbar, the slash menu, the keyboard
// map and the dialog that lists the shortcuts.
import { redo, undo } from "@codemirror/commands";
import { EditorSelection, type ChangeSpec, type Extension, type StateCommand } from "@codemirror/state";
import { keymap, type EditorView } from "@codemirror/view";
import { insert, wrap } from "./editor";

/** Command changes the text at the selection. */
export interface Command {
  id: string;
  label: string;
  /** key is in CodeMirror's notation. */
  key?: string;
  icon?: string;
  /** slash is the word after / at the start of a line. */
  slash?: string;
  run: (view: EditorView) => unknown;
}

const marks = /^(\s*)(?:#{1,6}\s+|>\s?|[-*+]\s+\[[ xX]\]\s+|[-*+]\s+|\d{1,9}[.)]\s+)?/;

/** prefix sets the mark in front of the selected lines, or removes it if all have it. */
function prefix(mark: (n: number) => string, has: RegExp): (view: EditorView) => void {
  return (view) => {
    const { state } = view;
    const { from, to } = state.selection.main;
    const first = state.doc.lineAt(from).number;
    const lines = Array.from({ length: state.doc.lineAt(to).number - first + 1 }, (_, i) => state.doc.line(first + i));
    const filled = lines.filter((l) => l.text.trim() !== "" || lines.length === 1);
    const remove = filled.every((l) => has.test(l.text));
    const changes: ChangeSpec[] = filled.map((l, i) => {
      const [whole, indent] = marks.exec(l.text) as unknown as [string, string];
      return { from: l.from, to: l.from + whole.length, insert: indent + (remove ? "" : mark(i + 1)) };
    });
    const set = state.changes(changes);
    view.dispatch({ changes: set, selection: state.selection.map(set, 1), scrollIntoView: true, userEvent: "input" });
    view.focus();
  };
}

/** heading makes the selected lines headings of a level; 0 makes them plain text. */
export function heading(level: number): (view: EditorView) => void {
  const mark = level ? "#".repeat(level) + " " : "";
  return prefix(() => mark, level ? new RegExp(`^\\s*#{${level}}\\s`) : /^(?!\s*#)/);
}

/** headingAt returns the level of the heading in the line of the cursor, 0 for none. */
export function headingAt(line: string): number {
  return /^ {0,3}(#{1,6})\s/.exec(line)?.[1]!.length ?? 0;
}

/** run executes a state command in a view and returns the focus to it. */
function run(command: StateCommand): (view: EditorView) => void {
  return (view) => {
    command({ state: view.state, dispatch: (t) => view.dispatch(t) });
    view.focus();
  };
}

/** block inserts a block and selects its first part that is to be replaced. */
function block(markdown: string, select: string): (view: EditorView) => void {
  return (view) => {
    const before = view.state.selection.main.from;
    insert(view, markdown);
    const at = view.state.doc.toString().indexOf(select, Math.max(0, before - 2));
    if (at >= 0) view.dispatch({ selection: EditorSelection.single(at, at + select.length), scrollIntoView: true });
  };
}

/** fence puts the selected lines into a code block. */
function fence(view: EditorView): void {
  const { from, to } = view.state.selection.main;
  const text = view.state.sliceDoc(from, to).trim();
  block("```\n" + (text || "code") + "\n```", text || "code")(view);
}

/** footnote adds a reference at the cursor and its note at the end of the text. */
function footnote(view: EditorView): void {
  const doc = view.state.doc.toString();
  let n = 1;
  while (doc.includes(`[^${n}]`)) n++;
  const { to } = view.state.selection.main;
  const trimmed = doc.trimEnd().length;
  const reference = `[^${n}]`;
  const gap = /^\[\^[^\]]+\]:.*$/.test(doc.slice(doc.lastIndexOf("\n", trimmed - 1) + 1, trimmed)) ? "\n" : "\n\n";
  const note = `${trimmed ? gap : ""}[^${n}]: `;
  const placeholder = "Note";
  const at = Math.max(trimmed, to);
  view.dispatch({
    changes: [
      { from: to, insert: reference },
      { from: at, to: doc.length, insert: note + placeholder + "\n" },
    ],
    selection: EditorSelection.single(
      at + reference.length + note.length,
      at + reference.length + note.length + placeholder.length,
    ),
    scrollIntoView: true,
    userEvent: "input",
  });
  view.focus();
}

const table = "| Column | Column |\n| ------ | ------ |\n| Cell   | Cell   |";

/** commands are the commands of the toolbar and the slash menu, in their order. */
export const commands: Command[] = [
  { id: "text", label: "Plain text", key: "Mod-Alt-0", run: heading(0) },
  { id: "h1", label: "Heading 1", key: "Mod-Alt-1", slash: "h1", run: heading(1) },
  { id: "h2", label: "Heading 2", key: "Mod-Alt-2", slash: "h2", run: heading(2) },
  { id: "h3", label: "Heading 3", key: "Mod-Alt-3", slash: "h3", run: heading(3) },
  { id: "h4", label: "Heading 4", key: "Mod-Alt-4", slash: "h4", run: heading(4) },
  { id: "bold", label: "Bold", key: "Mod-b", icon: "bold", run: run(wrap("**")) },
  { id: "italic", label: "Italic", key: "Mod-i", icon: "italic", run: run(wrap("*")) },
  { id: "code", label: "Code", key: "Mod-Shift-e", icon: "code", run: run(wrap("`")) },
  { id: "link", label: "Link", key: "Mod-k", icon: "link", slash: "link", run: run(wrap("[", "](https://)")) },
  {
    id: "bullets",
    label: "Bulleted list",
    key: "Mod-Shift-8",
    icon: "bullets",
    slash: "list",
    run: prefix(() => "- ", /^\s*[-*+]\s+(?!\[[ xX]\])/),
  },
  {
    id: "numbers",
    label: "Numbered list",
    key: "Mod-Shift-7",
    icon: "numbers",
    slash: "numbered",
    run: prefix((n) => `${n}. `, /^\s*\d{1,9}[.)]\s/),
  },
  {
    id: "tasks",
    label: "Task list",
    key: "Mod-Shift-6",
    icon: "tasks",
    slash: "tasks",
    run: prefix(() => "- [ ] ", /^\s*[-*+]\s+\[[ xX]\]\s/),
  },
  { id: "quote", label: "Quote", key: "Mod-Shift-9", icon: "quote", slash: "quote", run: prefix(() => "> ", /^\s*>/) },
  { id: "table", label: "Table", icon: "table", slash: "table", run: block(table, "Column") },
  { id: "fence", label: "Code block", icon: "fence", slash: "code", run: fence },
  { id: "footnote", label: "Footnote", key: "Mod-Alt-f", icon: "footnote", slash: "footnote", run: footnote },
  { id: "cite", label: "Citation", key: "Mod-Alt-c", icon: "cite", slash: "cite", run: run(wrap("[@", "]")) },
  { id: "math", label: "Formula", slash: "formula", run: block("$$\nE = mc^2\n$$", "E = mc^2") },
  {
    id: "diagram",
    label: "Diagram",
    slash: "diagram",
    run: block("```mermaid\nflowchart LR\n  A --> B\n```", "A --> B"),
  },
  { id: "note", label: "Note box", slash: "note", run: block("> [!NOTE]\n> Text", "Text") },
  { id: "rule", label: "Horizontal line", slash: "line", run: (view) => insert(view, "---") },
];

/** find opens the panel that finds and replaces. */
export const find: Command = {
  id: "find",
  label: "Find and replace",
  key: "Mod-f",
  icon: "search",
  run: (view) => import("./late").then((m) => m.openSearchPanel(view)),
};

/** edits are keyboard commands without a button; the dialog of shortcuts lists them. */
export const edits: Command[] = [
  { id: "undo", label: "Undo", key: "Mod-z", run: undo },
  { id: "redo", label: "Redo", key: "Mod-y", run: redo },
  find,
];

/** keys returns the keyboard map of the commands. */
export function keys(): Extension {
  const keyed = [...commands, find].filter((c) => c.key);
  return keymap.of(keyed.map((c) => ({ key: c.key!, run: (view) => (c.run(view), true), preventDefault: true })));
}

/** named returns the command with an id. */
export function named(id: string): Command {
  return commands.find((c) => c.id === id)!;
}

/** shown writes a key as it stands on a keyboard. */
export function shown(key: string): string {
  const mac = /Mac|iPhone|iPad/.test(navigator.userAgent);
  const names: Record<string, string> = mac ? { Mod: "⌘", Alt: "⌥", Shift: "⇧" } : { Mod: "Ctrl" };
  return key
    .split("-")
    .map((part) => names[part] ?? (part.length === 1 ? part.toUpperCase() : part))
    .join(mac ? "" : "+");
}
