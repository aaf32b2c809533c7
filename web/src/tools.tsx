// The toolbar above the editor.
import type { EditorView } from "@codemirror/view";
import { useSignal, useSignalEffect } from "@preact/signals";
import type { ComponentChildren, ComponentType } from "preact";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";
import { find, heading, headingAt, named, shown, type Command } from "./commands";
import { text } from "./document";
import { Lazily } from "./lazily";
import { DocumentButton } from "./library";
import { cursor } from "./outline";
import { Icon, IconButton } from "./parts";
import type { Receiver } from "./receive";

/** rows are the buttons for formats, in groups. */
const rows = [
  ["bold", "italic", "code", "link"],
  ["bullets", "numbers", "tasks", "quote"],
  ["table"],
  ["footnote", "cite"],
];

/** Toolbar is one stop of the Tab key; the arrow keys move between its controls. */
function Toolbar({ label, children, kind }: { label: string; kind: string; children: ComponentChildren }) {
  const bar = useRef<HTMLDivElement>(null);
  const current = useRef<Element | null>(null);
  const items = () => [...bar.current!.querySelectorAll<HTMLElement>("button:not(:disabled),select")];
  const settle = () => {
    const all = items();
    const stop = all.find((e) => e === current.current) ?? all[0];
    for (const e of all) e.tabIndex = e === stop ? 0 : -1;
  };
  useLayoutEffect(settle);
  const arrows = (e: KeyboardEvent) => {
    const all = items();
    const at = all.indexOf(e.target as HTMLElement);
    const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: all.length - 1 }[e.key];
    if (at < 0 || to === undefined) return;
    e.preventDefault();
    all[(to + all.length) % all.length]!.focus();
  };
  return (
    <div
      class={`tools ${kind}`}
      role="toolbar"
      aria-label={label}
      ref={bar}
      onKeyDown={arrows}
      onFocusIn={(e) => {
        current.current = e.target as Element;
        settle();
      }}
    >
      {children}
    </div>
  );
}

/** HeadingChoice shows and sets the level of the line of the cursor. */
function HeadingChoice({ editor }: { editor: () => EditorView }) {
  const level = useSignal(0);
  useSignalEffect(() => {
    const line = text.value && cursor.value ? editor()?.state.doc.lineAt(editor().state.selection.main.head).text : "";
    level.value = Math.min(4, headingAt(line ?? ""));
  });
  return (
    <select
      class="heading-choice"
      aria-label="Style of the line"
      value={level.value}
      onChange={(e) => heading(Number(e.currentTarget.value))(editor())}
    >
      <option value={0}>Text</option>
      {[1, 2, 3, 4].map((n) => (
        <option key={n} value={n}>
          Heading {n}
        </option>
      ))}
    </select>
  );
}

/** Words counts the words of the text after a pause. */
function Words() {
  const words = useSignal(count(text.peek()));
  useEffect(() => {
    let timer = 0;
    const stop = text.subscribe((now) => {
      clearTimeout(timer);
      timer = setTimeout(() => (words.value = count(now)), 150);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, []);
  return <small class="words">{words.value} words</small>;
}

const count = (doc: string) => (doc.match(/[\p{L}\p{N}]+/gu) ?? []).length;

type Panel = ComponentType<{ onClose: () => void }>;

/** Tools are the toolbars of the text. */
export function Tools({
  editor,
  receiver,
  outline,
  onOutline,
}: {
  editor: () => EditorView;
  receiver: Receiver;
  outline: boolean;
  onOutline: () => void;
}) {
  const panel = useSignal<{ load: () => Promise<Panel> } | null>(null);
  const show = (load: () => Promise<Panel>) => (panel.value = { load });
  const shortcuts = () => show(() => import("./late").then((m) => m.Shortcuts));
  useEffect(() => {
    const keys = (e: KeyboardEvent) => {
      const field = (e.target as HTMLElement).closest?.("input,textarea,select,[contenteditable]");
      // A dialog in a hidden tab or pane would block the page and not be seen.
      const hidden = !document.querySelector(".tools.format")?.checkVisibility({ visibilityProperty: true });
      if (hidden || document.querySelector("dialog") || (e.key !== "F1" && (e.key !== "?" || field))) return;
      e.preventDefault();
      shortcuts();
    };
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  }, []);
  return (
    <>
      <Toolbar label="Document" kind="">
        <DocumentButton />
        <IconButton
          icon="versions"
          label="Versions"
          aria-haspopup="dialog"
          onClick={() => show(() => import("./versions").then((m) => m.Versions))}
        />
        <span class="divider" />
        <IconButton icon="open" label="Open a file or an archive" onClick={() => receiver.pick("files")} />
        <IconButton icon="folder" label="Open a folder" onClick={() => receiver.pick("folder")} />
        <span class="grow" />
        <Words />
        <IconButton icon="outline" label="Outline" aria-pressed={outline} onClick={onOutline} />
        <IconButton icon="search" label={`${find.label} (${shown(find.key!)})`} onClick={() => find.run(editor())} />
        <IconButton icon="help" label="Keyboard shortcuts (F1)" aria-haspopup="dialog" onClick={shortcuts} />
      </Toolbar>
      <Toolbar label="Format" kind="format">
        <HeadingChoice editor={editor} />
        {rows.map((ids, i) => (
          <span class="group-of-buttons" key={i}>
            {ids.map((id) => (
              <CommandButton key={id} command={named(id)} editor={editor} />
            ))}
            {i === 2 && <IconButton icon="image" label="Picture" onClick={() => receiver.pick("pictures")} />}
          </span>
        ))}
      </Toolbar>
      {panel.value && <Lazily load={panel.value.load} props={{ onClose: () => (panel.value = null) }} />}
    </>
  );
}

function CommandButton({ command, editor }: { command: Command; editor: () => EditorView }) {
  const label = command.key ? `${command.label} (${shown(command.key)})` : command.label;
  return (
    <button type="button" class="icon-button" aria-label={label} title={label} onClick={() => command.run(editor())}>
      <Icon name={command.icon!} />
    </button>
  );
}
