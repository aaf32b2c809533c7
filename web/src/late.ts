// The parts that load at the first input, in one file. They are the dialogs, the marks of findings, the
// panel that finds and replaces, and two menus. One menu offers blocks after a /, the other keys of
// bibliographies after an @.
import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
} from "@codemirror/autocomplete";
import { syntaxTree } from "@codemirror/language";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView, keymap } from "@codemirror/view";
import { commands, shown } from "./commands";
import { assets } from "./document";

/** late returns the extension of the editor. picture asks for a picture to insert. */
export function late(picture: () => void): Extension {
  return [
    autocompletion({ override: [slash(picture), citations], icons: false }),
    keymap.of(searchKeymap),
    highlightSelectionMatches(),
    search({ top: true }),
    EditorState.phrases.of({
      next: "Next",
      previous: "Previous",
      all: "All",
      "match case": "Match case",
      regexp: "Expression",
      "by word": "Whole words",
      replace: "Replace",
      "replace all": "Replace all",
      close: "Close",
    }),
    look,
  ];
}

function inCode(c: CompletionContext): boolean {
  for (let n = syntaxTree(c.state).resolveInner(c.pos, -1); n.parent; n = n.parent)
    if (/^(FencedCode|FrontMatter|CodeBlock|InlineCode)$/.test(n.name)) return true;
  return false;
}

/** slash offers commands after a / at the start of a line. */
function slash(picture: () => void): (c: CompletionContext) => CompletionResult | null {
  const all = [...commands.filter((c) => c.slash), { label: "Picture", slash: "picture", run: picture, key: "" }];
  const options: Completion[] = all.map((c, i) => ({
    label: "/" + c.slash,
    displayLabel: c.label,
    detail: c.key ? shown(c.key) : "",
    boost: all.length - i,
    apply: (view: EditorView, _: Completion, from: number, to: number) => {
      view.dispatch({ changes: { from, to }, selection: { anchor: from }, userEvent: "input" });
      c.run(view);
    },
  }));
  return (c) => {
    const line = c.state.doc.lineAt(c.pos);
    const typed = /^\s*(\/\w*)$/.exec(c.state.sliceDoc(line.from, c.pos));
    if (!typed || inCode(c)) return null;
    return { from: c.pos - typed[1]!.length, options, validFor: /^\/\w*$/ };
  };
}

/** citations offers the keys of the document's bibliographies after an @. */
async function citations(c: CompletionContext): Promise<CompletionResult | null> {
  const typed = c.matchBefore(/(?<![\w.])@[\w:./-]*/);
  const works = assets.value.filter((a) => a.name.endsWith(".bib"));
  if (!typed || !works.length || inCode(c)) return null;
  const texts = await Promise.all(works.map((a) => a.file.slice(0, 4 << 20).text()));
  const options = texts.flatMap((text) =>
    [...text.matchAll(/@\w+\s*\{\s*([^,\s{}]+)\s*,([\s\S]{0,600})/g)].slice(0, 5000).map(([, key, rest]) => ({
      label: "@" + key,
      detail: /title\s*=\s*[{"]+([^{}"\n]{1,60})/i.exec(rest!)?.[1] ?? "",
    })),
  );
  return { from: typed.from, options, validFor: /^@[\w:./-]*$/ };
}

export { startCompletion } from "@codemirror/autocomplete";
export { openSearchPanel } from "@codemirror/search";
export { CodeDialog } from "./code";
export { Gallery } from "./gallery";
export { Import } from "./import";
export { show } from "./marks";
export { ShareDialog } from "./share";
export { Shortcuts } from "./shortcuts";

const look = EditorView.theme({
  ".cm-panels.cm-panels-top": { borderBottom: "1px solid var(--rule)" },
  ".cm-panel.cm-search": { padding: "8px 40px 6px 10px", font: "14px/1.5 var(--sans)" },
  ".cm-panel.cm-search input, .cm-panel.cm-search button, .cm-panel.cm-search label": {
    margin: "0 6px 6px 0",
    fontSize: "13px",
  },
  ".cm-panel.cm-search .cm-textfield": {
    padding: "5px 9px",
    width: "190px",
    maxWidth: "100%",
    borderRadius: "8px",
    fontFamily: "inherit",
  },
  ".cm-panel.cm-search .cm-button": { padding: "5px 11px", borderRadius: "8px", fontFamily: "inherit" },
  ".cm-panel.cm-search .cm-button:hover": { borderColor: "var(--accent)" },
  ".cm-panel.cm-search label": {
    display: "inline-flex",
    alignItems: "center",
    gap: "4px",
    color: "var(--soft)",
    whiteSpace: "nowrap",
  },
  ".cm-panel.cm-search [name=close]": {
    fontSize: "20px",
    top: "6px",
    right: "10px",
    color: "var(--soft)",
    width: "28px",
    height: "28px",
    margin: "0",
  },
  ".cm-searchMatch-selected": { backgroundColor: "var(--select)" },
  ".cm-tooltip": {
    border: "1px solid var(--rule)",
    borderRadius: "10px",
    backgroundColor: "var(--panel)",
    color: "var(--ink)",
    boxShadow: "var(--shadow)",
    overflow: "hidden",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul": {
    fontFamily: "var(--sans)",
    fontSize: "14px",
    maxHeight: "320px",
    minWidth: "240px",
    padding: "4px",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li": {
    display: "flex",
    justifyContent: "space-between",
    gap: "20px",
    padding: "5px 10px",
    borderRadius: "6px",
  },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--tint)", color: "var(--ink)" },
  ".cm-completionDetail": { fontStyle: "normal", color: "var(--soft)", fontSize: "12.5px", marginLeft: "0" },
  ".cm-completionMatchedText": { textDecoration: "none", fontWeight: "600" },
});
