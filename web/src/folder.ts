// Folders and archives, which the server prints as one document.
import type { Sample } from "./snippets";

/** Folder is a dropped folder with its files by path. */
export interface Folder {
  name: string;
  files: { path: string; file: File }[];
}

/** isArchive reports whether a file is a zip archive. */
export function isArchive(f: File): boolean {
  return /\.zip$/i.test(f.name) || f.type === "application/zip" || f.type === "application/x-zip-compressed";
}

/** most is the number of files that the server accepts. */
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
      // Each call returns a part of the folder; an empty part ends it.
      const entries = await new Promise<FileSystemEntry[]>((done, fail) => reader.readEntries(done, fail));
      if (!entries.length) return;
      for (const e of entries) {
        // With one file too many, the server's error names the limit.
        if (e.name.startsWith(".") || folder.files.length > most) continue;
        if (e.isDirectory) await walk(e as FileSystemDirectoryEntry, path + e.name + "/");
        else folder.files.push({ path: path + e.name, file: await new Promise<File>((done, fail) => (e as FileSystemFileEntry).file(done, fail)) });
      }
    }
  };
  await walk(top, "");
  return folder;
}

/** submission returns a folder or an archive in the API's form. */
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
