// The preview scrolls with the editor.
import type { EditorView } from "@codemirror/view";
import type { Preview } from "./preview";

/** follow scrolls the preview to the editor's position, by the headings around it. */
export function follow(e: EditorView, p: Preview): void {
  const top = e.scrollDOM.scrollTop;
  const at = e.lineBlockAtHeight(top).from;
  const lines: number[] = [];
  let fence = "";
  for (let n = 1; n <= e.state.doc.lines && lines.length < 2000; n++) {
    const line = e.state.doc.line(n);
    const mark = /^ {0,3}(```+|~~~+)/.exec(line.text)?.[1];
    if (mark) fence = fence ? (line.text.trim().startsWith(fence) ? "" : fence) : mark;
    else if (!fence && /^ {0,3}#{1,6}\s/.test(line.text)) lines.push(line.from);
  }
  const tops = p.headings();
  const height = p.height();
  const whole = Math.max(1, e.scrollDOM.scrollHeight - e.scrollDOM.clientHeight);
  if (tops.length !== lines.length || !lines.length) {
    p.scrollTo((top / whole) * height);
    return;
  }
  const next = lines.findIndex((l) => l > at);
  const i = next < 0 ? lines.length : next;
  const [fromY, toY] = [i ? e.lineBlockAt(lines[i - 1]!).top : 0, i < lines.length ? e.lineBlockAt(lines[i]!).top : whole];
  const [fromP, toP] = [i ? tops[i - 1]! - 24 : 0, i < tops.length ? tops[i]! - 24 : height];
  p.scrollTo(fromP + ((top - fromY) / Math.max(1, toY - fromY)) * (toP - fromP));
}
