// Warnings by their lines, and their list below the editor.
import { StateEffect, StateField, type Extension } from "@codemirror/state";
import { EditorView } from "@codemirror/view";
import { signal } from "@preact/signals";
import { adviceFor } from "./advice";
import { ApiError } from "./api";
import type { Warning } from "./jobs";
import { Icon } from "./parts";

/** Finding is a warning, or an error because of which there is no preview. */
export interface Finding extends Warning {
  stops?: boolean;
}

/** findings are those of the preview and of the last print, by their lines. */
export const findings = signal<Finding[]>([]);

/** printCodes are the codes of warnings that only a print returns. */
const printCodes = ["glyph_missing", "line_overflow", "slide_overflow", "pdf_ua_incomplete"];

const setPreview = StateEffect.define<Finding[]>();
const setPrint = StateEffect.define<Finding[]>();

interface Found {
  preview: Finding[];
  print: Finding[];
}

/** found holds the warnings of the preview, and those of the print with lines that move with the text. */
const found = StateField.define<Found>({
  create: () => ({ preview: [], print: [] }),
  update(value, tr) {
    let { preview, print } = value;
    if (tr.docChanged && print.length) {
      print = print.map((f) => {
        if (!f.line || f.line > tr.startState.doc.lines) return f;
        const at = tr.changes.mapPos(tr.startState.doc.line(f.line).from, 1);
        return { ...f, line: tr.state.doc.lineAt(at).number };
      });
    }
    for (const e of tr.effects) {
      if (e.is(setPreview)) preview = e.value;
      if (e.is(setPrint)) print = e.value;
    }
    return preview === value.preview && print === value.print ? value : { preview, print };
  },
});

/** findingsExtension is the editor extension that holds the findings and copies each change to the signal findings. */
export const findingsExtension: Extension = [
  found,
  EditorView.updateListener.of((u) => {
    if (u.state.field(found) !== u.startState.field(found)) findings.value = sorted(u.state.field(found));
  }),
];

function sorted({ preview, print }: Found): Finding[] {
  return [...preview, ...print].sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
}

/** frontMatterFindings returns a front matter error as a finding, if its message names the line; else no finding. */
export function frontMatterFindings(e: unknown): Finding[] {
  const line = e instanceof ApiError && e.code === "front_matter_invalid" && /line (\d+)/.exec(e.message)?.[1];
  return line ? [{ code: e.code, message: e.message, line: Number(line), stops: true }] : [];
}

/** setPreviewFindings replaces the findings of the preview. */
export function setPreviewFindings(view: EditorView, warnings: Finding[]): void {
  mark(view, setPreview.of(warnings));
}

/** setPrintFindings replaces the findings of the last print. It ignores warnings that the preview also returns. */
export function setPrintFindings(view: EditorView, warnings: Finding[]): void {
  mark(view, setPrint.of(warnings.filter((w) => printCodes.includes(w.code))));
}

/** mark applies a change of the findings. The code that draws their marks is loaded with the first finding. */
function mark(view: EditorView, effect: StateEffect<Finding[]>): void {
  const before = findings.value.length;
  view.dispatch({ effects: effect });
  findings.value = sorted(view.state.field(found));
  if (!before && !findings.value.length) return;
  import("./late").then(
    ({ show }) => show(view, findings.value),
    () => {}, // the list below the editor shows the findings
  );
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
