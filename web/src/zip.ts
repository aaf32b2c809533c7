// Archives. The library is loaded at the first export.
import { zipSync } from "fflate";

/** archive returns files as a zip, by their names. */
export function archive(files: Record<string, Uint8Array<ArrayBuffer>>): Blob {
  return new Blob([zipSync(files)], { type: "application/zip" });
}
