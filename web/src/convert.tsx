// The Convert tab: editor, preview and options.
import { StateEffect, type Text } from "@codemirror/state";
import type { EditorView } from "@codemirror/view";
import { signal, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useMemo, useRef } from "preact/hooks";
import { aborted, key, json, offline, text as errorText } from "./api";
import {
  assets,
  body,
  extras,
  ignored,
  isNamed,
  onChange,
  output,
  sampleOf,
  text,
  title,
  usedAssets,
} from "./document";
import { open } from "./documents";
import { submission, type Folder } from "./folder";
import { keys } from "./commands";
import { jump, load, newEditor, type Hooks } from "./editor";
import { FindingList, findingsExtension, frontMatterFindings, setPreviewFindings, setPrintFindings } from "./findings";
import { headingsOf } from "./headings";
import { keyAt } from "./frontmatter";
import { add, find, type Warning } from "./jobs";
import { JobView, Result } from "./jobview";
import { Lazily } from "./lazily";
import { filesProblem, textProblem } from "./limits";
import { Notices } from "./notices";
import { Outline, cursor, headings, store, stored } from "./outline";
import { Icon, IconButton, Notice, bytes } from "./parts";
import { Options } from "./options";
import { follow } from "./follow";
import { Preview } from "./preview";
import { Receiver, importing, openAll, opened } from "./receive";
import { Tools } from "./tools";

/** shown is the id of the job below the editor; view selects the live page or the PDF. */
export const shown = signal<string | null>(null);
export const view = signal<"page" | "pdf">("page");
/** pane is the part that small screens show. */
export const pane = signal<"write" | "page" | "options">("write");
const panel = signal(true);
const importDialog = () => import("./late").then((m) => m.Import);
const galleryDialog = () => import("./late").then((m) => m.Gallery);

interface Previewed {
  page: string;
  warnings: Warning[];
}

/** ignoredIn returns the warnings about options in the front matter, by their keys. */
function ignoredIn(doc: string, warnings: Warning[]): Record<string, string> {
  const about = warnings.filter((w) => w.code === "front_matter_ignored" && w.line);
  return Object.fromEntries(about.map((w) => [keyAt(doc, w.line!), w.message.replace(/^front matter: /, "")]));
}

export function Convert() {
  const host = useRef<HTMLDivElement>(null);
  const editor = useRef<EditorView | null>(null);
  const frame = useRef<HTMLIFrameElement>(null);
  const receiver = useMemo(
    () =>
      new Receiver(
        () => editor.current,
        (problem) => (notice.value = problem),
      ),
    [],
  );
  const preview = useRef<Preview | null>(null);
  const extend = useRef(async () => {});
  const notice = useSignal("");
  const outline = useSignal(stored());
  const broken = useSignal("");
  const busy = useSignal(false);
  const gallery = useSignal(false);
  const dragging = useSignal(false);

  const convert = async () => {
    if (busy.value) return;
    notice.value =
      textProblem(title.value, new Blob([text.value]).size) || filesProblem(usedAssets().map((a) => a.file));
    if (notice.value) return;
    busy.value = true;
    try {
      const { init, options } = body(output.value === "pdf" ? {} : { output: output.value });
      const accepted = await json<Parameters<typeof add>[0]>("/api/conversion", { method: "POST", ...init });
      shown.value = add(accepted, { kind: "conversion", title: title.value, sample: sampleOf(options) });
      submitted.current = shown.value;
    } catch (e) {
      notice.value = errorText(e);
      const [wrong] = frontMatterFindings(e);
      if (wrong && editor.current) jump(editor.current, wrong.line!);
    } finally {
      busy.value = false;
    }
  };

  // The server gets a folder or an archive unchanged. The options come from its first document.
  const convertFolder = async (source: Folder | File) => {
    const { init, sample } = submission(source);
    const accepted = await json<Parameters<typeof add>[0]>("/api/conversion", { method: "POST", ...init });
    shown.value = add(accepted, { kind: "conversion", title: source.name, sample });
  };

  // The editor.
  useEffect(() => {
    const hooks: Hooks = {
      changed: (doc) => (text.value = doc),
      scrolled: (v) => preview.current && follow(v, preview.current),
      convert: () => void convert(),
      receive: (data, at) => receiver.data(data, at),
      moved: (state) => {
        cursor.value = state.doc.lineAt(state.selection.main.head).number;
        preview.current?.point(cursor.value);
        updateOutline(state.doc);
      },
      more: [keys(), findingsExtension],
    };
    // The outline follows after a pause.
    let timer = 0;
    let last: Text | null = null;
    const updateOutline = (doc: Text) => {
      if (doc === last) return;
      last = doc;
      clearTimeout(timer);
      timer = setTimeout(() => (headings.value = headingsOf(doc)), 120);
    };
    const e = newEditor(host.current!, text.value, hooks);
    editor.current = e;
    extend.current = async () => {
      const { late, startCompletion } = await import("./late");
      const more = late(() => receiver.pick("pictures"));
      hooks.more = [hooks.more, more];
      e.dispatch({ effects: StateEffect.appendConfig.of(more) });
      // A slash that the user has typed before also opens the menu.
      startCompletion(e);
    };
    onChange((c) => e.dispatch({ changes: c, userEvent: "input" }));
    const stop = open.subscribe(({ id }) => {
      load(e, text.peek(), hooks);
      submitted.current = null;
      hooks.moved(e.state);
      if (!opened.peek()?.ids.includes(id)) opened.value = null;
    });
    return () => {
      stop();
      clearTimeout(timer);
      e.destroy();
    };
  }, []);

  // Load the menus and dialogs at the first input: they then open even if the server does not answer later.
  useEffect(() => {
    const loaded = new AbortController();
    const load = () => {
      loaded.abort();
      for (const part of [extend.current, () => import("./unzip"), () => import("./versions")]) part().catch(() => {});
    };
    for (const input of ["pointerdown", "keydown", "paste", "dragenter", "drop"])
      addEventListener(input, load, { capture: true, signal: loaded.signal });
    return () => loaded.abort();
  }, []);

  // The preview: one request at a time, always with the newest text. Slow previews are requested less often.
  useEffect(() => {
    const p = new Preview(frame.current!, (line) => onLine(line, false));
    preview.current = p;
    const fit = () => p.fit();
    const sized = new ResizeObserver(fit);
    sized.observe(frame.current!);
    let timer = 0;
    let took = 0;
    let current: AbortController | null = null;
    let latest = "";
    const draw = async () => {
      current?.abort();
      const mine = (current = new AbortController());
      const began = performance.now();
      try {
        const { init } = body();
        // The server rejects an empty document.
        const answer: Previewed = !text.value.trim()
          ? { page: "<main></main>", warnings: [] }
          : await json<Previewed>("/api/preview", {
              method: "POST",
              ...init,
              headers: { ...init.headers, Accept: "application/json" },
              signal: mine.signal,
            });
        latest = answer.page;
        ignored.value = ignoredIn(text.value, answer.warnings);
        setPreviewFindings(editor.current!, answer.warnings);
        broken.value = "";
        p.show(latest);
        fit();
        took = performance.now() - began;
      } catch (e) {
        if (aborted(e)) return;
        broken.value = errorText(e);
        setPreviewFindings(editor.current!, frontMatterFindings(e));
        // No event reports that the server is back, so ask again.
        if (offline.value) {
          clearTimeout(timer);
          timer = setTimeout(draw, 2000);
        }
      }
    };
    const again = () => {
      if (latest) p.show(latest);
      fit();
    };
    frame.current!.addEventListener("load", again);
    const scheme = matchMedia("(prefers-color-scheme: dark)");
    scheme.addEventListener("change", fit);
    addEventListener("online", draw);
    const stop = [text, assets, extras, key].map((s) =>
      s.subscribe(() => {
        clearTimeout(timer);
        timer = setTimeout(draw, Math.min(1500, Math.max(100, took)));
      }),
    );
    return () => {
      for (const s of stop) s();
      clearTimeout(timer);
      current?.abort();
      sized.disconnect();
      scheme.removeEventListener("change", fit);
      removeEventListener("online", draw);
    };
  }, []);

  // Warnings of the print come after the job's last event.
  const submitted = useRef<string | null>(null);
  useSignalEffect(() => {
    const warnings = find(submitted.current === shown.value ? shown.value : null)?.warnings;
    if (!warnings) return;
    submitted.current = null;
    setPrintFindings(editor.current!, warnings);
  });

  // Show the PDF when the job completes.
  const done = useRef<string | null>(null);
  useSignalEffect(() => {
    const j = find(shown.value);
    if (j?.status === "completed" && done.current !== j.id) {
      done.current = j.id;
      if (j.artifact?.content_type === "application/pdf" && j.kind === "conversion") view.value = "pdf";
    }
  });

  const dropped = (e: DragEvent) => {
    dragging.value = false;
    if (e.defaultPrevented || !e.dataTransfer) return;
    e.preventDefault();
    receiver.data(e.dataTransfer);
  };
  const toggleOutline = () => {
    outline.value = !outline.value;
    store(outline.value);
  };
  const onLine = (line: number, select = true) => {
    pane.value = "write";
    jump(editor.current!, line, select);
  };

  return (
    <div
      class={`convert show-${pane.value} ${panel.value ? "with-panel" : ""} ${dragging.value ? "dragging" : ""}`}
      onDragOver={(e) => {
        if (!e.dataTransfer?.types.includes("Files")) return;
        e.preventDefault();
        dragging.value = true;
      }}
      onDragLeave={(e) => !e.relatedTarget && (dragging.value = false)}
      onDrop={dropped}
      onKeyDown={(e) => {
        if (e.key !== "Enter" || !(e.ctrlKey || e.metaKey) || e.defaultPrevented) return;
        e.preventDefault();
        // A field writes its value when it loses the focus.
        const field = document.activeElement as HTMLElement | null;
        field?.blur();
        field?.focus();
        void convert();
      }}
    >
      <div class="panes" role="group" aria-label="Pane">
        {(["write", "page", "options"] as const).map((p) => (
          <button type="button" key={p} aria-pressed={pane.value === p} onClick={() => (pane.value = p)}>
            {{ write: "Write", page: "Page", options: "Options" }[p]}
          </button>
        ))}
      </div>
      <section class="write" aria-label="Text">
        <Tools editor={() => editor.current!} receiver={receiver} outline={outline.value} onOutline={toggleOutline} />
        <Notices onProblem={(says) => (notice.value = says)} />
        <div class="writing">
          {outline.value && <Outline onJump={(line) => jump(editor.current!, line, false)} />}
          <div class="editor" ref={host} />
        </div>
        <FindingList onLine={onLine} />
        {assets.value.length > 0 && (
          <ul class="assets" aria-label="Files">
            {assets.value.map((a) => (
              <li key={a.name} class={isNamed(a.name) ? "" : "unused"}>
                <Icon name="image" /> {a.name} <small>{bytes(a.file.size)}</small>
                <IconButton
                  icon="close"
                  label={`Remove ${a.name}`}
                  onClick={() => (assets.value = assets.value.filter((x) => x !== a))}
                />
              </li>
            ))}
          </ul>
        )}
      </section>
      <section class="page" aria-label="Preview">
        <div class="tools">
          <div class="segments" role="group" aria-label="View">
            <button type="button" aria-pressed={view.value === "page"} onClick={() => (view.value = "page")}>
              Live page
            </button>
            <button
              type="button"
              aria-pressed={view.value === "pdf"}
              disabled={!shown.value}
              onClick={() => (view.value = "pdf")}
            >
              PDF
            </button>
          </div>
          <span class="grow" />
          <button
            type="button"
            class="quiet panel-toggle"
            aria-pressed={panel.value}
            aria-controls="options"
            onClick={() => (panel.value = !panel.value)}
          >
            <Icon name="options" /> Options
          </button>
        </div>
        {broken.value && <Notice kind="error">{broken.value}</Notice>}
        <iframe
          ref={frame}
          class="sheet"
          title="Preview of the page"
          src="/preview"
          sandbox="allow-same-origin"
          hidden={view.value !== "page"}
        />
        {view.value === "pdf" && shown.value && <Result id={shown.value} />}
      </section>
      <aside id="options" class="panel" aria-label="Options">
        <Options onGallery={() => (gallery.value = true)} />
      </aside>
      <footer class="action">
        {notice.value && (
          <Notice kind="error" onClose={() => (notice.value = "")}>
            {notice.value}
          </Notice>
        )}
        {shown.value && (
          <JobView id={shown.value} onShow={() => ((view.value = "pdf"), (pane.value = "page"))} onLine={onLine} />
        )}
        <button type="button" class="primary" onClick={convert} disabled={busy.value} title="Ctrl+Enter">
          Convert
          <kbd aria-hidden="true">{/Mac/.test(navigator.userAgent) ? "⌘↵" : "Ctrl ↵"}</kbd>
        </button>
      </footer>
      {importing.value && (
        <Lazily
          key={importing.value.name}
          load={importDialog}
          props={{
            source: importing.value,
            open: openAll,
            convert: () => convertFolder(importing.value!),
            onClose: () => (importing.value = null),
          }}
        />
      )}
      {gallery.value && <Lazily load={galleryDialog} props={{ onClose: () => (gallery.value = false) }} />}
    </div>
  );
}
