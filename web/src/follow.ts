// The preview scrolls with the editor.
import type { EditorView } from "@codemirror/view";
import type { Place } from "./pagemap";
import type { Preview } from "./preview";

/** follow scrolls the preview to the editor's position, between the places of the lines around it. */
export function follow(e: EditorView, p: Preview): void {
  const top = e.scrollDOM.scrollTop;
  const line = e.state.doc.lineAt(e.lineBlockAtHeight(top).from).number;
  const whole = Math.max(1, e.scrollDOM.scrollHeight - e.scrollDOM.clientHeight);
  const height = p.height();
  const [before, after] = p.map.around(line);
  const inEditor = ({ line }: Place) => e.lineBlockAt(e.state.doc.line(Math.min(line, e.state.doc.lines)).from).top;
  const onPage = ({ element }: Place) => p.topOf(element) - 24;

  const [fromY, fromP] = before ? [inEditor(before), onPage(before)] : [0, 0];
  const [toY, toP] = after ? [inEditor(after), onPage(after)] : [whole, height];
  p.scrollTo(fromP + ((top - fromY) / Math.max(1, toY - fromY)) * (toP - fromP));
}
