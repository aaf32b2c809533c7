// The limits of the server, which the page checks before it sends a document.
import { signal } from "@preact/signals";
import { bytes } from "./parts";

/** Limits are the sizes that a submission may have, in bytes, and its number of files. */
export interface Limits {
  content_bytes: number;
  upload_bytes: number;
  files: number;
}

/** limits is null until the server has answered. */
export const limits = signal<Limits | null>(null);

/** maxPicture is the largest picture that a page shows, in bytes. */
const maxPicture = 20 << 20;

/** textProblem returns why the server rejects a text, or "". */
export function textProblem(name: string, size: number): string {
  const most = limits.value?.content_bytes ?? Infinity;
  return size > most
    ? `${name} has ${bytes(size)}; this server converts at most ${bytes(most)}. Split it into several documents.`
    : "";
}

/** pictureProblem returns why a picture cannot be added, or "": it is too large for the page or for the server. */
export function pictureProblem(f: File, name = f.name): string {
  const most = Math.min(maxPicture, limits.value?.upload_bytes ?? Infinity);
  return f.size > most
    ? `${name} is too large (${bytes(f.size)}); the limit is ${bytes(most)}. Save it smaller and add it again.`
    : "";
}

/** filesProblem returns why the server rejects files together, or "". */
export function filesProblem(files: Blob[]): string {
  if (!limits.value) return "";
  const { files: count, upload_bytes: most } = limits.value;
  if (files.length > count)
    return `The document uses ${files.length} files; this server accepts at most ${count}. Remove some of them.`;
  const size = files.reduce((n, f) => n + f.size, 0);
  return size > most
    ? `The files have ${bytes(size)} together; this server accepts at most ${bytes(most)}. Remove some or save them smaller.`
    : "";
}
