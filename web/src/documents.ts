// The documents that this browser keeps: the list, the open one, and saving it.
import { batch, effect, signal } from "@preact/signals";
import { assets, extras, replace, sample, text, titleOf } from "./document";
import * as store from "./store";

/** list holds the kept documents, the newest first. */
export const list = signal<store.Entry[]>([]);

/** open is the document in the editor. It becomes a new object whenever a stored text
 * replaces the text in the editor. */
export const open = signal<{ id: string }>({ id: "" });

/** stale is true after another tab has changed or deleted the open document. Nothing is
 * saved until the user has chosen which text to keep. */
export const stale = signal(false);

/** trouble is the reason why the newest changes are not kept, or "". */
export const trouble = signal("");

/** saving is true while the store does not have the newest changes yet. */
export const saving = signal(false);

const slot = "presswork.document";
const day = 86_400_000;
const noSpace =
  "The browser has no space left, so the newest changes last only until you close this page. Delete documents or files, or free disk space; your next change saves again.";
const channel = new BroadcastChannel("presswork.documents");

// The stored state of the open document.
let version = 0;
let saved: { text: string; css: string; assets: store.Asset[] } = { text: "", css: "", assets: [] };

const css = () => extras.value.css ?? "";
const unsaved = () => text.value !== saved.text || css() !== saved.css || assets.value !== saved.assets;

/** name returns the name of a document in lists. */
export function name(e: store.Entry): string {
  return e.name || e.title;
}

/** announce reports a change to the other tabs, and reads the list again. */
async function announce(): Promise<void> {
  channel.postMessage("changed");
  list.value = await store.list();
}

/** problemOf returns a message about an error of the store. */
function problemOf(e: unknown): string {
  if (isFull(e)) return noSpace;
  return `This browser does not keep documents (${e instanceof Error ? e.message : String(e)}). Copy your text before you close this page.`;
}

/** isFull reports whether the browser has no space left. */
export function isFull(e: unknown): boolean {
  return e instanceof DOMException && e.name === "QuotaExceededError";
}

let writing: Promise<void> = Promise.resolve();

/** save stores the newest changes of the open document. Problems are in trouble and
 * stale. */
export function save(): Promise<void> {
  return (writing = writing.then(write));
}

/** write stores the newest changes. If the browser has no space, it removes deleted documents and old versions. */
async function write(): Promise<void> {
  if (stale.value || !open.value.id || !unsaved()) return;
  try {
    await writeOnce().catch(async (e: unknown) => {
      if (!isFull(e)) throw e;
      // Deleted documents take space until they are purged, and so do old versions.
      await store.purge(Date.now() + day);
      await store.thin(3);
      await writeOnce();
    });
    trouble.value = "";
    saving.value = unsaved();
    localStorage.removeItem(journal(open.value.id));
    await announce();
  } catch (e) {
    if (e instanceof store.ChangedElsewhere) stale.value = true;
    else trouble.value = problemOf(e);
  }
}

/** writeOnce stores the text and the files of the open document, as far as they have changed. */
async function writeOnce(): Promise<void> {
  const { id } = open.value;
  const [now, files] = [{ text: text.value, css: css() }, assets.value];
  if (now.text !== saved.text || now.css !== saved.css) {
    version = await store.write(id, version, titleOf(now.text), now);
    // Ask at the first change that the browser does not evict the documents.
    if (version === 2) void navigator.storage?.persist?.();
    saved = { ...saved, ...now };
  }
  const kept = saved.assets.filter((a) => files.includes(a));
  for (const a of saved.assets) if (!kept.includes(a)) await store.removeAsset(id, a.name);
  saved.assets = kept;
  for (const a of files) {
    if (kept.includes(a)) continue;
    await store.writeAsset(id, a);
    saved.assets = [...saved.assets, a];
  }
  saved.assets = files;
}

// A page that is closed cannot wait for the store. It puts an unsaved text into a slot of
// localStorage, and show reads it again.
const journal = (id: string) => "presswork.unsaved." + id;

/** leave keeps an unsaved text for the next visit. */
function leave(): void {
  if (!open.value.id || !unsaved()) return;
  try {
    localStorage.setItem(journal(open.value.id), JSON.stringify({ version, text: text.value, css: css() }));
  } catch {
    // The text does not fit. save has already begun.
  }
  void save();
}

/** leftover returns the unsaved text of a document from an earlier visit, or null. */
function leftover(id: string): (store.Contents & { version: number }) | null {
  try {
    return JSON.parse(localStorage.getItem(journal(id)) ?? "null") as (store.Contents & { version: number }) | null;
  } catch {
    return null;
  }
}

/** show saves the text of the open document and opens another. It reports whether the other document exists. If the
 * text could not be saved, it stays open. */
export async function show(id: string): Promise<boolean> {
  await save();
  const found = await store.read(id);
  if (!found) return false;
  await save(); // stores changes that the user has made in the meantime
  if (open.value.id && unsaved() && !stale.value) return true;
  await recover(found);
  present(found);
  return true;
}

/** recover stores an unsaved text as a new document if another tab has changed its
 * document since. */
async function recover({ entry, contents }: Found): Promise<void> {
  const left = leftover(entry.id);
  if (!left || left.version === entry.version) return;
  if (left.text !== contents.text)
    await store.create([
      { name: `${name(entry)} (unsaved text)`, title: titleOf(left.text), text: left.text, css: left.css, assets: [] },
    ]);
  localStorage.removeItem(journal(entry.id));
  await announce();
}

type Found = NonNullable<Awaited<ReturnType<typeof store.read>>>;

/** present puts a stored document into the editor, with its unsaved text if there is one. */
function present({ entry, contents, assets: files }: Found): void {
  const left = leftover(entry.id);
  const newest = left?.version === entry.version ? { text: left.text, css: left.css } : contents;
  version = entry.version;
  saved = { ...contents, assets: files };
  batch(() => {
    stale.value = false;
    text.value = newest.text;
    assets.value = files;
    extras.value = newest.css ? { css: newest.css } : {};
    open.value = { id: entry.id };
  });
  for (const storage of ["sessionStorage", "localStorage"] as const) {
    try {
      window[storage].setItem(slot, entry.id);
    } catch {
      // The next visit opens the newest document.
    }
  }
}

/** create keeps documents and opens the first. It returns their ids. If the browser has no
 * space, it keeps none; see isFull. */
export async function create(documents: Pick<store.NewDocument, "name" | "text" | "assets">[]): Promise<string[]> {
  const entries = await store.create(documents.map((d) => ({ ...d, css: "", title: titleOf(d.text) })));
  await announce();
  await show(entries[0]!.id);
  return entries.map((e) => e.id);
}

/** duplicate keeps a copy of a document with its files, without opening it. Errors:
 * QuotaExceededError. */
export async function duplicate(e: store.Entry): Promise<void> {
  await save();
  const { contents, assets: files } = await stored(e);
  await store.create([{ name: `${name(e)} (copy)`, title: e.title, ...contents, assets: files }]);
  await announce();
}

/** zip returns an archive with the text, the style sheet and the files of a document. */
export async function zip(e: store.Entry): Promise<Blob> {
  await save();
  const { contents, assets: files } = await stored(e);
  const stem = fileName(e);
  const parts: Record<string, Uint8Array<ArrayBuffer>> = {};
  for (const a of files) parts[a.name] = new Uint8Array(await a.file.arrayBuffer());
  const encoder = new TextEncoder();
  if (contents.css) parts[stem + ".css"] = encoder.encode(contents.css);
  parts[stem + ".md"] = encoder.encode(contents.text);
  const { archive } = await import("./zip");
  return archive(parts);
}

/** fileName returns the name of a document as that of a file, without an ending. */
export function fileName(e: store.Entry): string {
  return (
    name(e)
      .replace(/[\\/:*?"<>|\s]+/g, "-")
      .replace(/^[-.]+|[-.]+$/g, "")
      .slice(0, 80) || "document"
  );
}

/** stored reads a document. Errors: another tab has deleted it. */
async function stored(e: store.Entry): Promise<Found> {
  const found = await store.read(e.id);
  if (!found) throw new Error(`${name(e)} is no longer in this browser: another tab has deleted it.`);
  return found;
}

/** rename sets the name of a document. With "" its name is its title. */
export async function rename(id: string, to: string): Promise<void> {
  await store.mark([id], { name: to });
  await announce();
}

/** remove deletes documents, which can be restored for a day. If it deletes the open one, it opens the document next, or
 * the newest one. */
export async function remove(ids: string[], next = ""): Promise<void> {
  await save();
  await store.mark(ids, { deleted: Date.now() });
  await announce();
  if (!ids.includes(open.value.id)) return save();
  if (next && (await show(next))) return;
  if (list.value[0]) await show(list.value[0].id);
  else await create([{ name: "", text: "", assets: [] }]);
}

/** restore brings deleted documents back. It reports whether all were still there. */
export async function restore(ids: string[]): Promise<boolean> {
  const found = await store.mark(ids, { deleted: 0 });
  await announce();
  return found === ids.length;
}

/** reload opens the stored text of the open document. If it was deleted, it opens the newest one, or an empty one. */
export async function reload(): Promise<void> {
  localStorage.removeItem(journal(open.value.id));
  if (await show(open.value.id)) return;
  if (list.value[0]) await show(list.value[0].id);
  else await create([{ name: "", text: "", assets: [] }]);
}

/** goBack replaces the open text by an earlier one, in one step of Undo. The replaced text
 * becomes a version. Errors: QuotaExceededError. */
export async function goBack(to: store.Contents): Promise<void> {
  await save();
  if (stale.value) throw new Error("Another tab has changed this document. Reload it first.");
  await store.keepVersion(open.value.id);
  replace(to.text);
  if (to.css !== css()) extras.value = { ...extras.value, css: to.css };
}

/** keepCopy stores the text of the tab as a new document and opens it. */
export async function keepCopy(): Promise<void> {
  const entry = list.value.find((e) => e.id === open.value.id);
  const before = open.value.id;
  await create([{ name: entry ? `${name(entry)} (copy)` : "", text: text.value, assets: assets.value }]);
  localStorage.removeItem(journal(before));
}

/** check reads the list, and sets stale if another tab has changed the open document. */
async function check(): Promise<void> {
  list.value = await store.list();
  await writing;
  const { id } = open.value;
  if (id && (await store.find(id))?.version !== version && id === open.value.id) stale.value = true;
}

let timer = 0;
effect(() => {
  void [text.value, assets.value, extras.value];
  saving.value = !!open.peek().id && unsaved();
  if (!saving.peek()) return;
  timer ||= setTimeout(() => {
    timer = 0;
    void save();
  }, 300);
});
channel.onmessage = () => void check().catch(() => {});
addEventListener("pagehide", leave);
addEventListener("visibilitychange", () => void (document.hidden ? leave() : check().catch(() => {})));

/** start opens the document that this tab had open, else the newest one. */
export async function start(): Promise<void> {
  try {
    await store.purge(Date.now() - day);
    list.value = await store.list();
    const last = sessionStorage.getItem(slot) ?? localStorage.getItem(slot) ?? "";
    if ((last && (await show(last))) || (list.value[0] && (await show(list.value[0].id)))) return;
    await create([{ name: "", text: sample, assets: [] }]);
  } catch (e) {
    text.value ||= sample;
    trouble.value = problemOf(e);
  }
}
