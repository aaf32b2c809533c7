// Folders and archives of folders, which the server prints as one document.
import type { Sample } from "./snippets";

/** Folder is a folder that was dropped, with its files by their paths. */
export interface Folder {
  name: string;
  files: { path: string; file: File }[];
}

/** isArchive reports whether a file is a zip archive. */
export function isArchive(f: File): boolean {
  return /\.zip$/i.test(f.name) || f.type === "application/zip" || f.type === "application/x-zip-compressed";
}

/** most is how many files the server takes. */
const most = 200;

/** folderOf is the folder among what was dropped, null for none. What is dropped can
 * be looked at now only, read later. */
export function folderOf(data: DataTransfer): Promise<Folder> | null {
  for (const item of data.items) {
    const entry = item.kind === "file" ? item.webkitGetAsEntry() : null;
    if (entry?.isDirectory) return read(entry as FileSystemDirectoryEntry);
  }
  return null;
}

async function read(top: FileSystemDirectoryEntry): Promise<Folder> {
  const folder: Folder = { name: top.name, files: [] };
  const walk = async (dir: FileSystemDirectoryEntry, path: string): Promise<void> => {
    const reader = dir.createReader();
    for (;;) {
      // A part of the folder at a time, none at the end.
      const entries = await new Promise<FileSystemEntry[]>((done, fail) => reader.readEntries(done, fail));
      if (!entries.length) return;
      for (const e of entries) {
        // One file too many lets the server say how many it takes.
        if (e.name.startsWith(".") || folder.files.length > most) continue;
        if (e.isDirectory) await walk(e as FileSystemDirectoryEntry, path + e.name + "/");
        else folder.files.push({ path: path + e.name, file: await new Promise<File>((done, fail) => (e as FileSystemFileEntry).file(done, fail)) });
      }
    }
  };
  await walk(top, "");
  return folder;
}

/** submission is a folder or an archive as the API takes it. */
export function submission(f: Folder | File): { init: RequestInit; sample: Sample } {
  const shared = { path: "/api/conversion", accept: "application/pdf", output: "document.pdf" };
  if (f instanceof File) {
    return {
      init: { headers: { "Content-Type": "application/zip" }, body: f },
      sample: { ...shared, file: f.name, type: "application/zip" },
    };
  }
  const form = new FormData();
  for (const { path, file } of f.files) form.append(`files[${path}]`, file, file.name);
  return { init: { body: form }, sample: { ...shared, fields: {}, files: f.files.map(({ path }) => ({ field: `files[${path}]`, name: path })) } };
}
