// Folders and archives: what is in them, and their submission as one document.
import type { Sample } from "./snippets";

/** Folder is a folder with its files by path. */
export interface Folder {
  name: string;
  files: { path: string; file: File }[];
}

/** maxFiles is the number of files that are read from a folder or an archive. */
export const maxFiles = 2000;

/** isArchive reports whether a file is a zip archive. */
export function isArchive(f: File): boolean {
  return /\.zip$/i.test(f.name) || f.type === "application/zip" || f.type === "application/x-zip-compressed";
}

/** folderOf returns the content of dropped folders, or null if no folder was dropped. Call it during the drop
 * event: afterwards the browser no longer says what was dropped. */
export function folderOf(data: DataTransfer): Promise<Folder> | null {
  const entries = [...data.items].flatMap((item) => (item.kind === "file" ? (item.webkitGetAsEntry() ?? []) : []));
  const folders = entries.filter((e) => e.isDirectory);
  if (!folders.length) return null;
  if (entries.length === 1) return read(folders[0]!.name, [folders[0]!], "");
  return read(folders.length === 1 ? folders[0]!.name : `${folders.length} folders`, entries, null);
}

/** chosen returns the folder that a directory input has selected. It leaves out hidden files. */
export function chosen(files: File[]): Folder {
  const name = files[0]?.webkitRelativePath.split("/")[0] || "folder";
  const visible = files
    .map((file) => ({ path: file.webkitRelativePath.slice(name.length + 1) || file.name, file }))
    .filter(({ path }) => !/(^|\/)\./.test(path));
  return { name, files: visible.slice(0, maxFiles + 1) };
}

/** read reads dropped entries. With a root, it puts the content of each folder there; else it keeps the folder's name. */
async function read(name: string, entries: FileSystemEntry[], root: string | null): Promise<Folder> {
  const folder: Folder = { name, files: [] };
  const add = async (e: FileSystemEntry, path: string): Promise<void> => {
    // Read one file more than allowed: the caller then reports that there are too many.
    if (folder.files.length > maxFiles) return;
    if (e.isDirectory) return walk(e as FileSystemDirectoryEntry, path + "/");
    folder.files.push({
      path,
      file: await new Promise<File>((done, fail) => (e as FileSystemFileEntry).file(done, fail)),
    });
  };
  const walk = async (dir: FileSystemDirectoryEntry, path: string): Promise<void> => {
    const reader = dir.createReader();
    for (;;) {
      // Each call returns a part of the folder; an empty part ends it.
      const part = await new Promise<FileSystemEntry[]>((done, fail) => reader.readEntries(done, fail));
      if (!part.length) return;
      for (const e of part) if (!e.name.startsWith(".")) await add(e, path + e.name);
    }
  };
  for (const e of entries) await (root === null ? add(e, e.name) : walk(e as FileSystemDirectoryEntry, root));
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
  return {
    init: { body: form },
    sample: { ...shared, fields: {}, files: f.files.map(({ path }) => ({ field: `files[${path}]`, name: path })) },
  };
}
