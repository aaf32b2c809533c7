// The versions of the open document, and what has changed since each.
import { unifiedMergeView } from "@codemirror/merge";
import { EditorState, Text } from "@codemirror/state";
import { EditorView, lineNumbers } from "@codemirror/view";
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { text as errorText } from "./api";
import { assets, replace, text } from "./document";
import { create, goBack, list, name, open, save } from "./documents";
import { nonce, writing } from "./editor";
import { Dialog, Notice } from "./parts";
import * as store from "./store";
import { opened } from "./receive";
import type { Kept } from "./versionpolicy";

const clock = new Intl.DateTimeFormat("en", { hour: "2-digit", minute: "2-digit", hourCycle: "h23" });
const calendar = new Intl.DateTimeFormat("en", { weekday: "short", day: "numeric", month: "short" });

/** day names the day of a time. */
function day(at: number): string {
  const date = new Date(at).toDateString();
  if (date === new Date().toDateString()) return "Today";
  if (date === new Date(Date.now() - 86_400_000).toDateString()) return "Yesterday";
  return calendar.format(at);
}

/** Versions lists the versions of the open document. */
export function Versions({ onClose }: { onClose: () => void }) {
  const kept = useSignal<Kept[] | null>(null);
  const chosen = useSignal<{ v: Kept; contents: store.Contents } | null>(null);
  const problem = useSignal("");
  const act = (f: () => Promise<unknown>) => {
    problem.value = "";
    f().catch((e: unknown) => (problem.value = errorText(e)));
  };
  const { id } = open.value;
  const choose = async (v: Kept) => {
    const contents = await store.version(id, v);
    if (!contents) throw new Error("This version is no longer kept: the browser needed its space.");
    chosen.value = { v, contents };
  };
  useEffect(() => {
    act(async () => {
      await save();
      kept.value = await store.versions(id);
      if (kept.value[0]) await choose(kept.value[0]);
    });
  }, []);
  const restore = async () => {
    const before = text.peek();
    const { v, contents } = chosen.value!;
    await goBack(contents);
    opened.value = {
      says: `The version of ${day(v.at)}, ${clock.format(v.at)} is restored.`,
      ids: [id],
      undo: async () => replace(before),
    };
    onClose();
  };
  const copy = async () => {
    const entry = list.value.find((e) => e.id === id);
    const { v, contents } = chosen.value!;
    await create([
      {
        name: `${entry ? name(entry) : "Document"} (${day(v.at)} ${clock.format(v.at)})`,
        text: contents.text,
        assets: assets.value,
      },
    ]);
    onClose();
  };
  const missing = chosen.value ? missingFiles(chosen.value.contents.text) : [];
  return (
    <Dialog title="Versions" onClose={onClose} wide>
      {problem.value && <Notice kind="error">{problem.value}</Notice>}
      {kept.value?.length === 0 && (
        <p class="hint">
          No versions yet. While you write, the studio keeps one every two minutes, after a pause, and before a large
          part of the text is removed.
        </p>
      )}
      {!!kept.value?.length && (
        <div class="versions">
          <ul aria-label="Versions">
            {kept.value.map((v, i) => (
              <li key={v.at}>
                {(i === 0 || day(v.at) !== day(kept.value![i - 1]!.at)) && <small>{day(v.at)}</small>}
                <button type="button" aria-pressed={v.at === chosen.value?.v.at} onClick={() => act(() => choose(v))}>
                  <b>{clock.format(v.at)}</b> <small>{change(v.size)}</small>
                </button>
              </li>
            ))}
          </ul>
          <div class="difference">
            {chosen.value && <Difference key={chosen.value.v.at} from={chosen.value.contents.text} to={text.peek()} />}
            {missing.length > 0 && (
              <Notice kind="info">{`This version names files that the document no longer has: ${missing.join(", ")}.`}</Notice>
            )}
            <div class="choices">
              <button type="button" class="primary" disabled={!chosen.value} onClick={() => act(restore)}>
                Restore this version
              </button>
              <button type="button" class="wide-button" disabled={!chosen.value} onClick={() => act(copy)}>
                Open as a copy
              </button>
            </div>
            <p class="hint">The current text becomes a version. Undo takes a restored version back.</p>
          </div>
        </div>
      )}
    </Dialog>
  );
}

/** change describes how much longer or shorter a version of size characters is than the current text. */
function change(size: number): string {
  const more = text.value.length - size;
  return more === 0
    ? "same length"
    : `${Math.abs(more).toLocaleString("en")} characters ${more > 0 ? "shorter" : "longer"}`;
}

/** missingFiles returns the pictures that a text names and the document does not have. */
function missingFiles(doc: string): string[] {
  const named = [...doc.matchAll(/!\[[^\]]*\]\(<?([^)>\s]+)/g)]
    .map((m) => m[1]!)
    .filter((t) => !/^([a-z]+:|\/|#)/i.test(t));
  return [...new Set(named)]
    .filter((t) => !assets.value.some((a) => t.endsWith(a.name) || t.endsWith(encodeURI(a.name))))
    .slice(0, 5);
}

/** Difference shows what has changed between two texts. */
function Difference({ from, to }: { from: string; to: string }) {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (from === to) return;
    const extensions = [
      EditorView.cspNonce.of(nonce()),
      EditorState.readOnly.of(true),
      EditorView.editable.of(false),
      EditorView.contentAttributes.of({ tabindex: "0", "aria-label": "Changes since this version" }),
      EditorView.lineWrapping,
      lineNumbers(),
      writing,
      look,
      unifiedMergeView({
        original: Text.of(from.split("\n")),
        mergeControls: false,
        gutter: true,
        collapseUnchanged: { margin: 2, minSize: 4 },
        diffConfig: { scanLimit: 2000, timeout: 300 },
      }),
    ];
    const view = new EditorView({ parent: host.current!, state: EditorState.create({ doc: to, extensions }) });
    return () => view.destroy();
  }, []);
  return (
    <>
      <p class="legend hint">
        Changes since this version: <del>removed</del> <ins>added</ins>
      </p>
      <div class="diff" ref={host}>
        {from === to && <p class="empty">The present text is the same.</p>}
      </div>
    </>
  );
}

const look = EditorView.theme({
  "&": { height: "100%", fontSize: "13.5px" },
  ".cm-content": { padding: "8px 0" },
  ".cm-deletedChunk": { backgroundColor: "var(--bad-tint)" },
  ".cm-deletedChunk .cm-deletedText, .cm-deletedLine del": { background: "none", textDecoration: "line-through" },
  ".cm-changedLine, .cm-insertedLine": { backgroundColor: "var(--good-tint) !important" },
  ".cm-changedText": { background: "none !important", borderBottom: "2px solid var(--good)" },
  ".cm-insertedLine, .cm-changedLine ins": { textDecoration: "none" },
  ".cm-collapsedLines": {
    background: "var(--panel)",
    color: "var(--soft)",
    padding: "5px 10px",
    fontFamily: "var(--sans)",
  },
  ".cm-changeGutter": { width: "3px", paddingLeft: "0" },
  ".cm-changedLineGutter": { background: "var(--good)" },
  ".cm-deletedLineGutter": { background: "var(--bad)" },
});
