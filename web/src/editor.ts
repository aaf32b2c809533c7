// The Markdown editor: CodeMirror with Lezer's GFM parser, without languages for
// code blocks.
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";
import { HighlightStyle, Language, defineLanguageFacet, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { EditorSelection, EditorState, type ChangeSet, type Extension, type StateCommand } from "@codemirror/state";
import {
  EditorView,
  drawSelection,
  dropCursor,
  highlightActiveLine,
  keymap,
  lineNumbers,
  placeholder,
} from "@codemirror/view";
import { tags } from "@lezer/highlight";
import { GFM, parser, type MarkdownConfig } from "@lezer/markdown";
import type { Change } from "./frontmatter";
import { blockAt, isBlock } from "./placement";

/** frontMatter parses the block at the beginning, which would otherwise be a heading. */
const frontMatter: MarkdownConfig = {
  defineNodes: [{ name: "FrontMatter", block: true, style: tags.meta }],
  parseBlock: [
    {
      name: "FrontMatter",
      before: "HorizontalRule",
      parse(cx, line) {
        const fence = line.text.trimEnd();
        if (cx.lineStart !== 0 || (fence !== "---" && fence !== "+++")) return false;
        while (cx.nextLine()) {
          const text = line.text.trimEnd();
          if (text !== fence && !(fence === "---" && text === "...")) continue;
          const end = cx.lineStart + line.text.length;
          cx.nextLine();
          cx.addElement(cx.elt("FrontMatter", 0, end));
          return true;
        }
        return true;
      },
    },
  ],
};

const markdown = new Language(
  defineLanguageFacet({ commentTokens: { block: { open: "<!--", close: "-->" } } }),
  parser.configure([GFM, frontMatter]),
  [],
  "markdown",
);

const colours = HighlightStyle.define([
  { tag: tags.heading1, fontWeight: "700", fontSize: "1.25em", color: "var(--ink)" },
  { tag: tags.heading2, fontWeight: "700", fontSize: "1.12em", color: "var(--ink)" },
  { tag: tags.heading, fontWeight: "700", color: "var(--ink)" },
  { tag: tags.meta, color: "var(--soft)" },
  { tag: tags.strong, fontWeight: "700" },
  { tag: tags.emphasis, fontStyle: "italic" },
  { tag: tags.strikethrough, textDecoration: "line-through" },
  { tag: [tags.link, tags.url], color: "var(--link)" },
  { tag: tags.monospace, color: "var(--code)" },
  { tag: tags.quote, color: "var(--soft)", fontStyle: "italic" },
  { tag: [tags.processingInstruction, tags.contentSeparator, tags.labelName], color: "var(--faint)" },
]);

const look = EditorView.theme({
  "&": { height: "100%", fontSize: "15px", backgroundColor: "transparent", color: "var(--ink)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.65" },
  ".cm-content": { padding: "20px 0 40vh", caretColor: "var(--accent)" },
  ".cm-line": { padding: "0 24px 0 10px" },
  ".cm-gutters": { backgroundColor: "transparent", border: "none", color: "var(--faint)", fontSize: "12px" },
  // The padding has space for the marks of findings, which load later.
  ".cm-lineNumbers .cm-gutterElement": { padding: "0 22px 0 14px", minWidth: "50px" },
  ".cm-activeLine": { backgroundColor: "var(--line-tint)" },
  ".cm-cursor": { borderLeftColor: "var(--accent)", borderLeftWidth: "2px" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--select)",
  },
  ".cm-placeholder": { color: "var(--faint)" },
  ".cm-panels": { backgroundColor: "var(--panel)", color: "var(--ink)", borderColor: "var(--rule)", zIndex: "2" },
  ".cm-textfield": {
    backgroundColor: "var(--field)",
    border: "1px solid var(--rule)",
    borderRadius: "6px",
    color: "var(--ink)",
  },
  ".cm-button": {
    backgroundImage: "none",
    backgroundColor: "var(--field)",
    border: "1px solid var(--rule)",
    borderRadius: "6px",
    color: "var(--ink)",
  },
  ".cm-searchMatch": { backgroundColor: "var(--mark)" },
  ".cm-jumped": { backgroundColor: "var(--mark)" },
});

const marker = /^(\s*(?:>\s*)*)([-*+]|\d{1,9}[.)])(\s+)(\[[ xX]\]\s+)?/;

/** continueList begins the next list item; on an empty item it ends the list. */
const continueList: StateCommand = ({ state, dispatch }) => {
  const { head, empty } = state.selection.main;
  const line = state.doc.lineAt(head);
  const m = marker.exec(line.text);
  if (!m || !empty || head < line.from + m[0].length) return false;
  if (line.text.slice(m[0].length).trim() === "") {
    dispatch(state.update({ changes: { from: line.from, to: line.to, insert: "" }, userEvent: "input" }));
    return true;
  }
  const number = /^\d+/.exec(m[2]!);
  const next = number ? String(Number(number[0]) + 1) + m[2]!.slice(number[0].length) : m[2]!;
  const insert = state.lineBreak + m[1] + next + m[3] + (m[4] ? "[ ] " : "");
  dispatch(
    state.update({
      changes: { from: head, insert },
      selection: { anchor: head + insert.length },
      scrollIntoView: true,
      userEvent: "input",
    }),
  );
  return true;
};

/** wrap puts marks around the selection, or removes them. */
export function wrap(before: string, after = before): StateCommand {
  return ({ state, dispatch }) => {
    dispatch(
      state.update(
        state.changeByRange((r) => {
          const has =
            state.sliceDoc(r.from - before.length, r.from) === before &&
            state.sliceDoc(r.to, r.to + after.length) === after;
          if (has) {
            return {
              changes: [
                { from: r.from - before.length, to: r.from },
                { from: r.to, to: r.to + after.length },
              ],
              range: EditorSelection.range(r.from - before.length, r.to - before.length),
            };
          }
          return {
            changes: [
              { from: r.from, insert: before },
              { from: r.to, insert: after },
            ],
            range: EditorSelection.range(r.from + before.length, r.to + before.length),
          };
        }),
        { scrollIntoView: true, userEvent: "input" },
      ),
    );
    return true;
  };
}

/** writing is the language of the editor with its colours and look. */
export const writing: Extension = [markdown, syntaxHighlighting(colours), look];

/** nonce returns the value with which the page's content security policy allows styles. */
export function nonce(): string {
  return document.querySelector<HTMLMetaElement>("meta[name=csp-nonce]")?.nonce ?? "";
}

/** Hooks are the page's handlers for editor events. */
export interface Hooks {
  changed(doc: string): void;
  scrolled(view: EditorView): void;
  convert(): void;
  /** receive handles data that was pasted, or dropped at an offset of the text; it returns
   * false to leave the data to the editor. */
  receive(data: DataTransfer, at?: number): boolean;
  /** moved is called after the cursor or the text has changed. */
  moved(state: EditorState): void;
  /** more are further extensions. Their keys come before those of the editor. */
  more: Extension;
}

/** newEditor mounts an editor in parent. */
export function newEditor(parent: HTMLElement, doc: string, hooks: Hooks): EditorView {
  return new EditorView({ parent, state: stateOf(doc, hooks) });
}

/** load replaces the text and clears the history of Undo. */
export function load(view: EditorView, doc: string, hooks: Hooks): void {
  view.setState(stateOf(doc, hooks));
}

function stateOf(doc: string, hooks: Hooks): EditorState {
  const extensions = [
    EditorView.cspNonce.of(nonce()),
    lineNumbers(),
    history(),
    drawSelection(),
    dropCursor(),
    highlightActiveLine(),
    EditorView.lineWrapping,
    indentUnit.of("  "),
    writing,
    hooks.more,
    placeholder("Write Markdown, type / for a menu, paste a web page, or drop a file…"),
    EditorView.contentAttributes.of({
      "aria-label": "Markdown",
      tabindex: "0",
      spellcheck: "true",
      autocapitalize: "sentences",
    }),
    keymap.of([
      { key: "Mod-Enter", run: () => (hooks.convert(), true) },
      { key: "Enter", run: continueList },
      ...historyKeymap,
      ...defaultKeymap,
    ]),
    EditorView.domEventHandlers({
      paste: (e) => !!e.clipboardData && hooks.receive(e.clipboardData) && (e.preventDefault(), true),
      drop: (e, view) =>
        !!e.dataTransfer &&
        hooks.receive(e.dataTransfer, view.posAtCoords({ x: e.clientX, y: e.clientY }, false)) &&
        (e.preventDefault(), true),
      scroll: (_, view) => hooks.scrolled(view),
    }),
    EditorView.updateListener.of((u) => {
      if (u.docChanged) hooks.changed(u.state.doc.toString());
      if (u.docChanged || u.selectionSet) hooks.moved(u.state);
    }),
  ];
  return EditorState.create({ doc, extensions });
}

/** insert puts Markdown at an offset, or in place of the selection. It puts blocks between the blocks of the text. */
export function insert(view: EditorView, markdown: string, at?: number): void {
  const { from, to } = at === undefined ? view.state.selection.main : { from: at, to: at };
  const cut = view.state.update({ changes: { from, to } });
  const text = markdown.trim();
  const change = isBlock(text) ? blockAt(cut.state, from, text, true) : { from, to: from, insert: text };
  put(view, cut.changes.compose(cut.state.changes(change)), change);
}

/** insertPictures puts pictures at an offset, or at the cursor, as a block. */
export function insertPictures(view: EditorView, pictures: string[], at = view.state.selection.main.to): void {
  const change = blockAt(view.state, at, pictures.join("\n\n"), false);
  put(view, view.state.changes(change), change);
}

function put(view: EditorView, changes: ChangeSet, { from, insert }: Change): void {
  view.dispatch({
    changes,
    selection: { anchor: from + insert.trimEnd().length },
    scrollIntoView: true,
    userEvent: "input.paste",
  });
  view.focus();
}

/** jump selects a line, counted from 1, or sets the cursor to its end, and scrolls to it. */
export function jump(view: EditorView, line: number, select = true): void {
  const l = view.state.doc.line(Math.max(1, Math.min(line, view.state.doc.lines)));
  view.dispatch({
    selection: { anchor: select ? l.from : l.to, head: l.to },
    effects: EditorView.scrollIntoView(l.from, { y: "center" }),
  });
  view.focus();
}
