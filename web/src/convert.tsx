// The Convert tab: editor, preview and options.
import type { EditorView } from "@codemirror/view";
import { signal, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { ApiError, aborted, key, json, offline, text as errorText } from "./api";
import { assets, body, extras, ignored, onChange, output, sampleOf, set, text, title, usedAssets } from "./document";
import { create, isFull, keepCopy, open, reload, remove, stale, trouble } from "./documents";
import { folderOf, submission } from "./folder";
import { insert, insertPictures, jump, load, newEditor, wrap, type Hooks } from "./editor";
import { sort, summary, type Intake } from "./intake";
import { keyAt } from "./frontmatter";
import { add, find, type Warning } from "./jobs";
import { JobView, Result } from "./jobview";
import { DocumentButton } from "./library";
import { limits, refusedFiles, refusedText } from "./limits";
import { Icon, IconButton, Notice, bytes } from "./parts";
import { Options } from "./options";
import { follow } from "./follow";
import { Preview } from "./preview";
import type { Sample } from "./snippets";
import { Gallery } from "./themes";

/** shown is the id of the job below the editor; view selects the live page or the PDF. */
export const shown = signal<string | null>(null);
export const view = signal<"page" | "pdf">("page");
/** pane is the part that small screens show. */
export const pane = signal<"write" | "page" | "options">("write");
const panel = signal(true);

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
  const picker = useRef<HTMLInputElement>(null);
  const preview = useRef<Preview | null>(null);
  const notice = useSignal("");
  const info = useSignal<{ says: string; ids: string[]; undo: () => Promise<unknown> } | null>(null);
  const broken = useSignal("");
  const busy = useSignal(false);
  const gallery = useSignal(false);
  const dragging = useSignal(false);

  const convert = async () => {
    if (busy.value) return;
    notice.value = refusedText(title.value, new Blob([text.value]).size) || refusedFiles(usedAssets().map((a) => a.file));
    if (notice.value) return;
    busy.value = true;
    try {
      const { init, options } = body(output.value === "pdf" ? {} : { output: output.value });
      const accepted = await json<Parameters<typeof add>[0]>("/api/conversion", { method: "POST", ...init });
      shown.value = add(accepted, { kind: "conversion", title: title.value, sample: sampleOf(options) });
    } catch (e) {
      notice.value = errorText(e);
      const line = /line (\d+)/.exec(notice.value);
      if (e instanceof ApiError && e.code === "front_matter_invalid" && line && editor.current) jump(editor.current, Number(line[1]));
    } finally {
      busy.value = false;
    }
  };

  // A folder or an archive is converted unchanged; the options come from its first document.
  const convertFolder = async (name: string, send: { init: RequestInit; sample: Sample }) => {
    notice.value = "";
    try {
      const accepted = await json<Parameters<typeof add>[0]>("/api/conversion", { method: "POST", ...send.init });
      shown.value = add(accepted, { kind: "conversion", title: name, sample: send.sample });
    } catch (e) {
      notice.value = `${name} was not converted. ${offline.value ? "The server does not answer. Drop it again when the server is back." : errorText(e)}`;
    }
  };

  const take = (data: DataTransfer, at?: number): boolean => {
    const folder = folderOf(data);
    if (folder) {
      void folder.then(
        (files) => convertFolder(files.name, submission(files)),
        () => (notice.value = "The folder could not be read."),
      );
      return true;
    }
    if (data.files.length) {
      void takeFiles([...data.files], at);
      return true;
    }
    const html = data.getData("text/html");
    // Code editors copy highlighted HTML; use its plain text instead.
    if (!html || !/<(h\d|p|ul|ol|table|a|strong|b|em|i|blockquote|img|pre)[\s>]/i.test(html) || data.types.includes("vscode-editor-data")) return false;
    const plain = data.getData("text/plain");
    import("./clipboard").then(
      ({ toMarkdown }) => editor.current && insert(editor.current, toMarkdown(html), at),
      () => editor.current && insert(editor.current, plain, at),
    );
    return true;
  };

  const takeFiles = async (files: File[], at?: number) => {
    notice.value = "";
    info.value = null;
    const sorted = sort(files);
    const taken = sorted instanceof Promise ? await sorted : sorted;
    const problems = [...taken.problems];
    const fits = (name: string) => {
      const room = !limits.value || assets.value.length < limits.value.files;
      if (!room) problems.push(`${name} was not added: a document can have at most ${limits.value!.files} files.`);
      return room;
    };
    if (taken.documents.length) await openDocuments(taken, problems);
    // A picture that none of the new documents names belongs to the open one.
    const references = taken.pictures.flatMap((f) => (fits(f.name) ? keepPicture(f) : []));
    if (references.length && editor.current) insertPictures(editor.current, references, at);
    for (const f of taken.works) {
      if (!fits(f.name)) continue;
      assets.value = [...assets.value.filter((a) => a.name !== f.name), { name: f.name, file: f }];
      set(f.name.endsWith(".csl") ? "csl" : "bibliography", f.name);
    }
    notice.value = summary(problems);
    for (const f of taken.archives) await convertFolder(f.name, submission(f));
  };

  /** openDocuments makes each text a document of its own, with the pictures that it
   * names. It takes these pictures out of taken. */
  const openDocuments = async (taken: Intake, problems: string[]) => {
    const before = { id: open.value.id, title: title.value };
    const documents = taken.documents.map((d) => ({ ...d, assets: taken.pictures.filter((f) => d.text.includes(f.name)).map((file) => ({ name: file.name, file })) }));
    try {
      const ids = await create(documents);
      const used = new Set<Blob>(documents.flatMap((d) => d.assets.map((a) => a.file)));
      taken.pictures = taken.pictures.filter((f) => !used.has(f));
      const what = ids.length === 1 ? `${documents[0]!.name} is open as a document of its own.` : `${ids.length} files are open as documents of their own.`;
      info.value = { says: `${what} ${before.title} is kept under Documents.`, ids, undo: () => remove(ids, before.id) };
    } catch (e) {
      problems.unshift(`${documents.length === 1 ? documents[0]!.name : `${documents.length} files`} could not be opened: ${isFull(e) ? "the browser has no space left. Delete documents or free disk space, and drop them again." : errorText(e)}`);
    }
  };

  /** keepPicture adds a picture to the files and returns a reference to it. */
  const keepPicture = (f: File): string => {
    const dot = f.name.lastIndexOf(".");
    const ext = dot > 0 ? f.name.slice(dot) : "." + (f.type.split("/")[1] ?? "png").replace(/\+.*/, "");
    const stem = (dot > 0 ? f.name.slice(0, dot) : f.name || "picture").replace(/[^\w-]+/g, "-") || "picture";
    let name = stem + ext;
    for (let n = 2; assets.value.some((a) => a.name === name); n++) name = `${stem}-${n}${ext}`;
    assets.value = [...assets.value, { name, file: f }];
    return `![${stem}](${name})`;
  };

  // The editor.
  useEffect(() => {
    const hooks: Hooks = {
      changed: (doc) => (text.value = doc),
      scrolled: (v) => preview.current && follow(v, preview.current),
      convert: () => void convert(),
      took: take,
    };
    const e = newEditor(host.current!, text.value, hooks);
    editor.current = e;
    onChange((c) => e.dispatch({ changes: c, userEvent: "input" }));
    const stop = open.subscribe(({ id }) => {
      load(e, text.peek(), hooks);
      if (!info.peek()?.ids.includes(id)) info.value = null;
    });
    return () => {
      stop();
      e.destroy();
    };
  }, []);

  // The preview: one request at a time, always with the newest text. Slow previews are requested less often.
  useEffect(() => {
    const p = new Preview(frame.current!);
    preview.current = p;
    const fit = () => p.fit(getComputedStyle(document.documentElement).getPropertyValue("--desk"));
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
        // The server refuses an empty document.
        const answer: Previewed = !text.value.trim()
          ? { page: "<main></main>", warnings: [] }
          : await json<Previewed>("/api/preview", { method: "POST", ...init, headers: { ...init.headers, Accept: "application/json" }, signal: mine.signal });
        latest = answer.page;
        ignored.value = ignoredIn(text.value, answer.warnings);
        broken.value = "";
        p.show(latest);
        fit();
        took = performance.now() - began;
      } catch (e) {
        if (aborted(e)) return;
        broken.value = errorText(e);
        // Nothing announces that the server is back, so ask again.
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
    take(e.dataTransfer);
  };
  const run = (command: ReturnType<typeof wrap>) => () => {
    const e = editor.current!;
    command({ state: e.state, dispatch: (t) => e.dispatch(t) });
    e.focus();
  };
  const act = (f: () => Promise<unknown>) => void f().catch((e: unknown) => (notice.value = errorText(e)));
  const words = (text.value.match(/[\p{L}\p{N}]+/gu) ?? []).length;

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
        // A field hands its value over when it loses the focus.
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
        <div class="tools" role="toolbar" aria-label="Text tools">
          <DocumentButton />
          <span class="divider" />
          <IconButton icon="open" label="Open a file or an image" onClick={() => picker.current!.click()} />
          <input
            ref={picker}
            type="file"
            hidden
            multiple
            accept=".md,.markdown,.txt,.html,.zip,.bib,.csl,text/*,image/*"
            onChange={(e) => {
              void takeFiles([...(e.currentTarget.files ?? [])]);
              e.currentTarget.value = "";
            }}
          />
          <span class="divider" />
          <IconButton icon="bold" label="Bold (Ctrl+B)" onClick={() => run(wrap("**"))()} />
          <IconButton icon="italic" label="Italic (Ctrl+I)" onClick={() => run(wrap("*"))()} />
          <IconButton icon="code" label="Code" onClick={() => run(wrap("`"))()} />
          <IconButton icon="link" label="Link (Ctrl+K)" onClick={() => run(wrap("[", "](https://)"))()} />
          <span class="grow" />
          <small class="words">{words} words</small>
        </div>
        {trouble.value && <Notice kind="error">{trouble.value}</Notice>}
        {stale.value && (
          <Notice kind="error">
            Another tab has changed or deleted this document.{" "}
            <button type="button" class="quiet strong" onClick={() => act(reload)}>
              Reload it
            </button>
            <button type="button" class="quiet strong" onClick={() => act(keepCopy)}>
              Keep this text as a copy
            </button>
          </Notice>
        )}
        {info.value && (
          <Notice kind="info" onClose={() => (info.value = null)}>
            {info.value.says}{" "}
            <button
              type="button"
              class="quiet strong"
              onClick={() => {
                act(info.value!.undo);
                info.value = null;
              }}
            >
              Undo
            </button>
          </Notice>
        )}
        <div class="editor" ref={host} />
        {assets.value.length > 0 && (
          <ul class="assets" aria-label="Files">
            {assets.value.map((a) => (
              <li key={a.name} class={text.value.includes(a.name) ? "" : "unused"}>
                <Icon name="image" /> {a.name} <small>{bytes(a.file.size)}</small>
                <IconButton icon="close" label={`Remove ${a.name}`} onClick={() => (assets.value = assets.value.filter((x) => x !== a))} />
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
            <button type="button" aria-pressed={view.value === "pdf"} disabled={!shown.value} onClick={() => (view.value = "pdf")}>
              PDF
            </button>
          </div>
          <span class="grow" />
          <button type="button" class="quiet panel-toggle" aria-pressed={panel.value} aria-controls="options" onClick={() => (panel.value = !panel.value)}>
            <Icon name="options" /> Options
          </button>
        </div>
        {broken.value && <Notice kind="error">{broken.value}</Notice>}
        <iframe ref={frame} class="sheet" title="Preview of the page" src="/preview" sandbox="allow-same-origin" hidden={view.value !== "page"} />
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
          <JobView
            id={shown.value}
            onShow={() => ((view.value = "pdf"), (pane.value = "page"))}
            onLine={(line) => {
              pane.value = "write";
              jump(editor.current!, line);
            }}
          />
        )}
        <button type="button" class="primary" onClick={convert} disabled={busy.value} title="Ctrl+Enter">
          Convert
          <kbd aria-hidden="true">{/Mac/.test(navigator.userAgent) ? "⌘↵" : "Ctrl ↵"}</kbd>
        </button>
      </footer>
      {gallery.value && <Gallery onClose={() => (gallery.value = false)} />}
    </div>
  );
}
