// The position of an inserted block in the text: between other blocks, with blank lines around it.
import { ensureSyntaxTree, syntaxTree } from "@codemirror/language";
import type { EditorState } from "@codemirror/state";
import type { SyntaxNode } from "@lezer/common";
import type { Change } from "./frontmatter";

/** isBlock reports whether Markdown has more than a part of a line. */
export function isBlock(markdown: string): boolean {
  const text = markdown.trim();
  return text.includes("\n") || /^(#{1,6} |[-*+>|] ?|\d+[.)] |```|!\[)/.test(text);
}

/** blockAt returns the change that inserts a block at pos, or after the block that
 * it would break there. split allows to break a paragraph. */
export function blockAt(state: EditorState, pos: number, block: string, split: boolean): Change {
  const { doc } = state;
  const around = topBlock(state, pos);
  let at = pos;
  if (around && !(split && around.name === "Paragraph")) at = isOpenFence(around) ? around.from : around.to;
  const line = doc.lineAt(at);
  const blank = (n: number) => n < 1 || n > doc.lines || doc.line(n).text.trim() === "";
  const here = blank(line.number);
  const [before, after] = [line.text.slice(0, at - line.from), line.text.slice(at - line.from)];
  const begins = here || before.trim() === "";
  const ends = here || after.trim() === "";
  const lead = begins ? (blank(line.number - 1) ? "" : "\n") : "\n\n";
  const trail = !ends ? "\n\n" : line.number === doc.lines || !blank(line.number + 1) ? "\n" : "";
  const from = here ? line.from : line.from + before.trimEnd().length;
  const to = here ? line.to : at + after.length - after.trimStart().length;
  return { from, to, insert: lead + block.trim() + trail };
}

/** topBlock returns the outermost block that an insertion at pos would break. */
function topBlock(state: EditorState, pos: number): SyntaxNode | null {
  const tree = ensureSyntaxTree(state, Math.min(state.doc.length, pos + 10_000), 200) ?? syntaxTree(state);
  let node: SyntaxNode = tree.resolveInner(pos, 1);
  while (node.parent?.parent) node = node.parent;
  if (!node.parent) return null;
  return node.from < pos || node.name === "FrontMatter" ? node : null;
}

/** isOpenFence reports whether a code block has no closing fence. Nothing can be
 * inserted after such a block. */
function isOpenFence(node: SyntaxNode): boolean {
  return node.name === "FencedCode" && node.getChildren("CodeMark").length < 2;
}
