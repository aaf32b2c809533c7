// The marks of findings in the editor: a sign next to each line, and a line below the words.
import { lintGutter, nextDiagnostic, previousDiagnostic, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { StateEffect, StateField, type Extension, type Text } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { adviceFor } from "./advice";
import type { Finding } from "./findings";

const look = EditorView.theme({
  ".cm-gutter-lint": { width: "16px", marginLeft: "-16px" },
  ".cm-gutter-lint .cm-gutterElement": { padding: "5px 0 0 3px" },
  ".cm-lint-marker": { width: "12px", height: "12px", cursor: "pointer" },
  ".cm-tooltip": {
    backgroundColor: "var(--panel)",
    color: "var(--ink)",
    border: "1px solid var(--rule)",
    borderRadius: "8px",
    boxShadow: "var(--shadow)",
    maxWidth: "min(46ch, 90vw)",
  },
  ".cm-diagnostic": {
    padding: "8px 12px",
    borderLeft: "none",
    fontFamily: "var(--sans)",
    fontSize: "13.5px",
    whiteSpace: "normal",
  },
  ".cm-diagnostic p": { margin: "0" },
  ".cm-diagnostic p + p": { marginTop: "4px", color: "var(--soft)" },
  ".cm-lintRange-warning": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--warn) 1px",
    textUnderlineOffset: "3px",
  },
  ".cm-lintRange-error": {
    backgroundImage: "none",
    textDecoration: "underline wavy var(--bad) 1px",
    textUnderlineOffset: "3px",
  },
});

/** marks is the extension that shows findings. F8 goes to the next one. */
const marks: Extension = [
  lintGutter(),
  look,
  keymap.of([
    { key: "F8", run: nextDiagnostic },
    { key: "Shift-F8", run: previousDiagnostic },
  ]),
];

/** has reports whether an editor has the extension. */
const has = StateField.define<boolean>({ create: () => true, update: () => true });

/** show replaces the marks in the text by those of the findings. */
export function show(view: EditorView, findings: Finding[]): void {
  if (!view.state.field(has, false)) view.dispatch({ effects: StateEffect.appendConfig.of([has, marks]) });
  const diagnostics = findings.flatMap((f) => (f.line ? [diagnostic(f, view.state.doc)] : []));
  view.dispatch(setDiagnostics(view.state, diagnostics));
}

/** diagnostic places a finding on the words that its message quotes, or on the whole line. */
function diagnostic(f: Finding, doc: Text): Diagnostic {
  const line = doc.line(Math.min(f.line!, doc.lines));
  const quoted = /"([^"\\]+)"/.exec(f.message)?.[1]?.replace(/^#/, "") ?? "";
  const at = quoted ? line.text.indexOf(quoted) : -1;
  const indent = line.text.length - line.text.trimStart().length;
  const [from, to] = at < 0 ? [line.from + indent, line.to] : [line.from + at, line.from + at + quoted.length];
  return { from, to, severity: f.stops ? "error" : "warning", message: f.message, renderMessage: () => words(f) };
}

function words(f: Finding): HTMLElement {
  const box = document.createElement("div");
  for (const text of [f.message, adviceFor(f.code)]) {
    if (!text) continue;
    const p = document.createElement("p");
    p.textContent = text;
    box.append(p);
  }
  return box;
}
