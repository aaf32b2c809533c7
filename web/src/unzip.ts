// Reading of archives. The reader counts what it expands, because the sizes in an archive
// may be wrong.
import { Unzip, UnzipInflate } from "fflate";
import { maxFiles, type Folder } from "./folder";
import { bytes } from "./parts";

const maxArchive = 100 << 20;
const maxContents = 200 << 20;
/** maxRatio bounds the size of a file of more than 1 MB, as a multiple of its compressed size. */
const maxRatio = 200;
/** step is the size of the parts in which an archive is read. */
const step = 32 << 10;

/** Rejected is the reason why an archive is not opened. */
export class Rejected extends Error {}

/** unzip returns the files of an archive. leftOut says which files have no usable name.
 * Errors: Rejected. */
export async function unzip(archive: File): Promise<{ folder: Folder; leftOut: string[] }> {
  const { name } = archive;
  if (archive.size > maxArchive)
    throw new Rejected(
      `${name} has ${bytes(archive.size)}; archives up to ${bytes(maxArchive)} can be opened. Unpack it and drop its folder.`,
    );
  const folder: Folder = { name, files: [] };
  const leftOut: string[] = [];
  const paths = new Set<string>();
  let [seen, total, read] = [0, 0, 0];
  let problem: Rejected | null = null;
  const stream = new Unzip((file) => {
    if (++seen > maxFiles)
      problem = new Rejected(`${name} has more than ${maxFiles} files. Unpack it and drop a part of it.`);
    if (problem || file.name.endsWith("/")) return;
    const path = file.name.replaceAll("\\", "/");
    if (/(^|\/)(\.[^./]|__MACOSX\/)/.test(path)) return;
    if (/^\/|^\w:|(^|\/)\.{0,2}(\/|$)|[\0-\x1f]/.test(path)) {
      leftOut.push(`${path.replace(/[\0-\x1f]/g, "?").slice(0, 100)}: the name leads out of the archive`);
      return;
    }
    if (paths.has(path)) {
      leftOut.push(`${path}: the archive has an earlier file of this name`);
      return;
    }
    paths.add(path);
    const began = read - step; // the file begins in the part that was read last
    const parts: Uint8Array<ArrayBuffer>[] = [];
    let size = 0;
    file.ondata = (error, part, final) => {
      if (problem) return;
      if (error) {
        leftOut.push(`${path}: it is damaged, encrypted, or compressed in an unknown way`);
        return;
      }
      size += part.length;
      total += part.length;
      if (total > maxContents)
        problem = new Rejected(`${name} was not opened: it expands to more than ${bytes(maxContents)}.`);
      else if (size > 1e6 && size > maxRatio * (read - began))
        problem = new Rejected(
          `${name} was not opened: ${path} expands to more than ${maxRatio} times its size, as a zip bomb does.`,
        );
      else {
        parts.push(part.slice());
        if (final) folder.files.push({ path, file: new File(parts, path.split("/").pop()!, { type: typeOf(path) }) });
      }
    };
    try {
      file.start();
    } catch {
      leftOut.push(`${path}: it is compressed in an unknown way`);
    }
  });
  stream.register(UnzipInflate);
  while (read < archive.size && !problem) {
    const part = new Uint8Array(await archive.slice(read, read + step).arrayBuffer());
    read += part.length;
    try {
      stream.push(part, read >= archive.size);
    } catch {
      problem = new Rejected(`${name} is not a zip archive, or it is damaged. Pack it again.`);
    }
  }
  if (problem) throw problem;
  if (!seen) throw new Rejected(`${name} is not a zip archive, or it is empty. Pack it again.`);
  return { folder: rooted(folder), leftOut };
}

/** rooted removes the folder that holds all files of an archive. */
function rooted(folder: Folder): Folder {
  const first = folder.files[0]?.path.split("/") ?? [];
  const top = first.length > 1 ? first[0] + "/" : "";
  if (!top || !folder.files.every((f) => f.path.startsWith(top))) return folder;
  return { ...folder, files: folder.files.map((f) => ({ ...f, path: f.path.slice(top.length) })) };
}

/** typeOf returns the media type of a picture by its extension, or "". */
function typeOf(path: string): string {
  const ext = path.split(".").pop()!.toLowerCase();
  const types: Record<string, string> = {
    png: "image/png",
    jpg: "image/jpeg",
    jpeg: "image/jpeg",
    gif: "image/gif",
    webp: "image/webp",
    avif: "image/avif",
    svg: "image/svg+xml",
    bmp: "image/bmp",
  };
  return types[ext] ?? "";
}
