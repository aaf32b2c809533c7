// The documents and conversations of this browser, in IndexedDB. Each change of a text raises the version
// of its document, so that a tab never overwrites what another tab has written. Some of
// the replaced texts are kept, see versionpolicy.ts.
import { crowded, due, type Kept } from "./versionpolicy";

/** Entry describes a document without its text. name is "" until a user names it. */
export interface Entry {
  id: string;
  name: string;
  title: string;
  /** changed and deleted are times in milliseconds; deleted is 0 for a kept document. */
  changed: number;
  deleted: number;
  version: number;
}

/** Asset is a file that the text references by name. */
export interface Asset {
  name: string;
  file: Blob;
}

/** Preset is a set of options under a name. */
export interface Preset {
  name: string;
  values: Record<string, string | number | boolean>;
}

/** Contents are what a document holds besides its files. */
export interface Contents {
  text: string;
  css: string;
}

/** ChangedElsewhere means that another tab has changed or deleted the document. */
export class ChangedElsewhere extends Error {}

/** stores has the object stores, each with the field that is its key, or null. The key of
 * a version is the document's id, the time of the text, and its length. */
const stores = {
  documents: "id",
  contents: null,
  assets: null,
  presets: "name",
  versions: null,
  chats: "id",
  talks: null,
};

let opened: Promise<IDBDatabase> | null = null;

/** database opens the store, and creates or upgrades it if necessary. */
function database(): Promise<IDBDatabase> {
  opened ??= new Promise((done, fail) => {
    const request = indexedDB.open("presswork", 4);
    request.onupgradeneeded = () => {
      const there = request.result.objectStoreNames;
      for (const [name, keyPath] of Object.entries(stores))
        if (!there.contains(name)) request.result.createObjectStore(name, { keyPath });
    };
    request.onsuccess = () => {
      // A tab with a newer studio may upgrade the database.
      request.result.onversionchange = () => {
        request.result.close();
        opened = null;
      };
      done(request.result);
    };
    request.onerror = () => {
      opened = null;
      fail(request.error);
    };
  });
  return opened;
}

/** result waits for a request. Awaiting it keeps its transaction open. */
export function result<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((done, fail) => {
    request.onsuccess = () => done(request.result);
    request.onerror = () => fail(request.error);
  });
}

type Stores = Record<keyof typeof stores, IDBObjectStore>;

/** transact returns after the work is on disk. If the work fails, nothing is changed. */
export async function transact<T>(mode: IDBTransactionMode, work: (s: Stores) => Promise<T>): Promise<T> {
  const t = (await database()).transaction(Object.keys(stores), mode);
  const ended = new Promise<void>((done, fail) => {
    t.oncomplete = () => done();
    t.onabort = () => fail(t.error);
  });
  ended.catch(() => {}); // awaited below, unless the work fails first
  try {
    const value = await work(
      Object.fromEntries(Object.keys(stores).map((name) => [name, t.objectStore(name)])) as Stores,
    );
    await ended;
    return value;
  } catch (e) {
    try {
      t.abort();
    } catch {
      // It has already ended.
    }
    throw t.error ?? e;
  }
}

/** newId returns an id that begins with the time. */
export const newId = () => Date.now().toString(36) + Math.random().toString(36).slice(2, 10);
const filesOf = (id: string) => IDBKeyRange.bound([id], [id, []]);

/** list returns the kept documents, the newest first. */
export async function list(): Promise<Entry[]> {
  const all = await transact("readonly", (s) => result<Entry[]>(s.documents.getAll()));
  return all.filter((e) => !e.deleted).sort((a, b) => b.changed - a.changed);
}

/** find returns the entry of a kept document, or null. */
export async function find(id: string): Promise<Entry | null> {
  const e = await transact("readonly", (s) => result<Entry | undefined>(s.documents.get(id)));
  return e && !e.deleted ? e : null;
}

/** read returns a document with its files, or null. */
export function read(id: string): Promise<{ entry: Entry; contents: Contents; assets: Asset[] } | null> {
  return transact("readonly", async (s) => {
    const entry = await result<Entry | undefined>(s.documents.get(id));
    if (!entry || entry.deleted) return null;
    return {
      entry,
      contents: await result<Contents>(s.contents.get(id)),
      assets: await result<Asset[]>(s.assets.getAll(filesOf(id))),
    };
  });
}

/** NewDocument is a document that is not in the store yet. */
export interface NewDocument extends Contents {
  name: string;
  title: string;
  assets: Asset[];
}

/** create adds documents, all or none, and returns their entries. */
export function create(documents: NewDocument[]): Promise<Entry[]> {
  return transact("readwrite", async (s) => {
    const entries: Entry[] = [];
    for (const { name, title, text, css, assets } of documents) {
      const entry = { id: newId(), name, title, changed: Date.now(), deleted: 0, version: 1 };
      await result(s.documents.add(entry));
      await result(s.contents.add({ text, css }, entry.id));
      for (const a of assets) await result(s.assets.add(a, [entry.id, a.name]));
      entries.push(entry);
    }
    return entries;
  });
}

/** write replaces a text that was read at a version, and returns the new version.
 * Errors: ChangedElsewhere; QuotaExceededError if the browser has no space. */
export function write(id: string, version: number, title: string, contents: Contents): Promise<number> {
  return transact("readwrite", async (s) => {
    const entry = await result<Entry | undefined>(s.documents.get(id));
    if (!entry || entry.deleted || entry.version !== version) throw new ChangedElsewhere();
    const before = await result<Contents>(s.contents.get(id));
    if (due(await versionsOf(s, id), entry.changed, before.text, contents.text))
      await keepText(s, id, entry.changed, before);
    await result(s.contents.put(contents, id));
    await result(s.documents.put({ ...entry, title, changed: Date.now(), version: version + 1 }));
    return version + 1;
  });
}

/** writeAsset stores a file of a document. Errors: QuotaExceededError. */
export async function writeAsset(id: string, asset: Asset): Promise<void> {
  await transact("readwrite", (s) => result(s.assets.put(asset, [id, asset.name])));
}

/** removeAsset removes a file of a document. */
export async function removeAsset(id: string, name: string): Promise<void> {
  await transact("readwrite", (s) => result(s.assets.delete([id, name])));
}

/** mark names, deletes or restores documents, and returns how many of them it found. */
export function mark(ids: string[], change: Partial<Pick<Entry, "name" | "deleted">>): Promise<number> {
  return transact("readwrite", async (s) => {
    let found = 0;
    for (const id of ids) {
      const entry = await result<Entry | undefined>(s.documents.get(id));
      if (!entry) continue;
      found++;
      await result(s.documents.put({ ...entry, ...change }));
    }
    return found;
  });
}

/** purge finally removes the documents that were deleted before a time. */
export async function purge(before: number): Promise<void> {
  await transact("readwrite", async (s) => {
    for (const e of await result<Entry[]>(s.documents.getAll())) {
      if (!e.deleted || e.deleted >= before) continue;
      await result(s.documents.delete(e.id));
      await result(s.contents.delete(e.id));
      await result(s.assets.delete(filesOf(e.id)));
      await result(s.versions.delete(filesOf(e.id)));
    }
  });
}

/** versionsOf returns the kept versions of a document, the oldest first. */
async function versionsOf(s: Stores, id: string): Promise<Kept[]> {
  const keys = (await result(s.versions.getAllKeys(filesOf(id)))) as [string, number, number][];
  return keys.map(([, at, size]) => ({ at, size }));
}

/** keepText keeps a text as a version, and removes the versions that are too many. */
async function keepText(s: Stores, id: string, at: number, contents: Contents): Promise<void> {
  await result(s.versions.put(contents, [id, at, contents.text.length]));
  for (const v of crowded(await versionsOf(s, id), Date.now())) await result(s.versions.delete([id, v.at, v.size]));
}

/** versions returns the kept earlier texts of a document, the newest first. */
export async function versions(id: string): Promise<Kept[]> {
  return (await transact("readonly", (s) => versionsOf(s, id))).reverse();
}

/** version returns an earlier text, or null. */
export async function version(id: string, v: Kept): Promise<Contents | null> {
  return (await transact("readonly", (s) => result<Contents | undefined>(s.versions.get([id, v.at, v.size])))) ?? null;
}

/** keepVersion keeps the stored text of a document as a version. Errors: QuotaExceededError. */
export async function keepVersion(id: string): Promise<void> {
  await transact("readwrite", async (s) => {
    const entry = await result<Entry | undefined>(s.documents.get(id));
    if (entry) await keepText(s, id, entry.changed, await result<Contents>(s.contents.get(id)));
  });
}

/** thin removes all but the newest versions of every document, which frees space. */
export async function thin(most: number): Promise<void> {
  await transact("readwrite", async (s) => {
    for (const e of await result<Entry[]>(s.documents.getAll())) {
      const kept = await versionsOf(s, e.id);
      for (const v of kept.slice(0, Math.max(0, kept.length - most)))
        await result(s.versions.delete([e.id, v.at, v.size]));
    }
  });
}

/** presets returns the saved presets by name. */
export function presets(): Promise<Preset[]> {
  return transact("readonly", (s) => result<Preset[]>(s.presets.getAll()));
}

/** writePreset saves a preset, in place of one of the same name. Errors: QuotaExceededError. */
export async function writePreset(preset: Preset): Promise<void> {
  await transact("readwrite", (s) => result(s.presets.put(preset)));
}

/** removePreset deletes a preset. */
export async function removePreset(name: string): Promise<void> {
  await transact("readwrite", (s) => result(s.presets.delete(name)));
}
