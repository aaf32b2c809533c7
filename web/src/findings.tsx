// Warnings at their lines: a mark beside the line, the words underlined, and a list below the editor.
import { lintGutter, nextDiagnostic, previousDiagnostic, setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { StateEffect, StateField, type Extension, type Text } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { signal } from "@preact/signals";
import { adviceFor } from "./advice";
import { ApiError } from "./api";
import type { Warning } from "./jobs";
import { Icon } from "./parts";

/** Finding is a warning, or an error that stops the page. */
export interface Finding extends Warning {
  stops?: boolean;
}

/** findings are those of the preview and of the last print, by their lines. */
export const findings = signal<Finding[]>([]);

/** printCodes are the warnings that only printing gives. */
const printCodes = ["glyph_missing", "line_overflow", "slide_overflow", "pdf_ua_incomplete"];

const setDrawn = StateEffect.define<Finding[]>();
const setPrinted = StateEffect.define<Finding[]>();

interface Found {
  drawn: Finding[];
  printed: Finding[];
}

/** found holds the warnings of the preview, and those of the print with lines that move with the text. */
const found = StateField.define<Found>({
  create: () => ({ drawn: [], printed: [] }),
  update(value, tr) {
    let { drawn, printed } = value;
    if (tr.docChanged && printed.length) {
      printed = printed.map((f) => {
        if (!f.line || f.line > tr.startState.doc.lines) return f;
        const at = tr.changes.mapPos(tr.startState.doc.line(f.line).from, 1);
        return { ...f, line: tr.state.doc.lineAt(at).number };
      });
    }
    for (const e of tr.effects) {
      if (e.is(setDrawn)) drawn = e.value;
      if (e.is(setPrinted)) printed = e.value;
    }
    return drawn === value.drawn && printed === value.printed ? value : { drawn, printed };
  },
});

const look = EditorView.theme({
  ".cm-gutter-lint": { width: "16px" },
  ".cm-gutter-lint .cm-gutterElement": { padding: "5px 0 0 3px" },
  ".cm-lint-marker": { width: "12px", height: "12px", cursor: "pointer" },
  ".cm-tooltip": { backgroundColor: "var(--panel)", color: "var(--ink)", border: "1px solid var(--rule)", borderRadius: "8px", boxShadow: "var(--shadow)", maxWidth: "min(46ch, 90vw)" },
  ".cm-diagnostic": { padding: "8px 12px", borderLeft: "none", fontFamily: "var(--sans)", fontSize: "13.5px", whiteSpace: "normal" },
  ".cm-diagnostic p": { margin: "0" },
  ".cm-diagnostic p + p": { marginTop: "4px", color: "var(--soft)" },
  ".cm-lintRange-warning": { backgroundImage: "none", textDecoration: "underline wavy var(--warn) 1px", textUnderlineOffset: "3px" },
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--bad) 1px", textUnderlineOffset: "3px" },
});

/** marks is the extension that shows findings in the editor. F8 goes to the next one. */
export const marks: Extension = [
  found,
  lintGutter(),
  look,
  keymap.of([
    { key: "F8", run: nextDiagnostic },
    { key: "Shift-F8", run: previousDiagnostic },
  ]),
  EditorView.updateListener.of((u) => {
    if (u.state.field(found) !== u.startState.field(found)) findings.value = sorted(u.state.field(found));
  }),
];

function sorted({ drawn, printed }: Found): Finding[] {
  return [...drawn, ...printed].sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
}

/** stopping returns an error of the server as a finding, if its message names the line. */
export function stopping(e: unknown): Finding[] {
  const line = e instanceof ApiError && e.code === "front_matter_invalid" && /line (\d+)/.exec(e.message)?.[1];
  return line ? [{ code: e.code, message: e.message, line: Number(line), stops: true }] : [];
}

/** drew marks the warnings of the preview. */
export function drew(view: EditorView, warnings: Finding[]): void {
  mark(view, setDrawn.of(warnings));
}

/** printed marks the warnings that a print adds to those of the preview. */
export function printed(view: EditorView, warnings: Finding[]): void {
  mark(view, setPrinted.of(warnings.filter((w) => printCodes.includes(w.code))));
}

function mark(view: EditorView, effect: StateEffect<Finding[]>): void {
  view.dispatch({ effects: effect });
  findings.value = sorted(view.state.field(found));
  const diagnostics = findings.value.flatMap((f) => (f.line ? [diagnostic(f, view.state.doc)] : []));
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

/** FindingList lists the findings; onLine shows a line of the text. */
export function FindingList({ onLine }: { onLine: (line: number) => void }) {
  const list = findings.value;
  return (
    <div role="status" class="findings">
      {list.length > 0 && (
        <details>
          <summary>
            <Icon name="alert" /> {list.length} {list.length === 1 ? "finding" : "findings"}
            <kbd title="F8 goes to the next finding, Shift+F8 to the one before">F8</kbd>
          </summary>
          <ul aria-label="Findings">
            {list.map((f, i) => (
              <li key={i}>
                {f.line ? (
                  <button type="button" class="warning" onClick={() => onLine(f.line!)}>
                    <span class="where">Line {f.line}</span> {f.message}
                    <small>{adviceFor(f.code)}</small>
                  </button>
                ) : (
                  <div class="warning">
                    {f.message}
                    <small>{adviceFor(f.code)}</small>
                  </div>
                )}
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}
