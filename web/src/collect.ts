// The documents of a folder: each Markdown file with the files that it names.
import { maxFiles, type Folder } from "./folder";
import { decode } from "./intake";
import { limits, pictureProblem, textProblem } from "./limits";
import type { Asset } from "./store";

const markdown = /\.(md|markdown|mdown|mkd)$/i;
const usable = /\.(png|jpe?g|gif|webp|avif|svg|bmp|bib|csl|csv)$/i;

/** Collection holds the documents of a folder. leftOut says why other files are not used. */
export interface Collection {
  documents: { name: string; text: string; assets: Asset[] }[];
  leftOut: string[];
}

/** collect reads the documents of a folder. */
export async function collect(folder: Folder): Promise<Collection> {
  const out: Collection = { documents: [], leftOut: [] };
  const files = new Map(folder.files.filter(({ path }) => usable.test(path)).map(({ path, file }) => [path, file]));
  const used = new Set<string>();
  for (const { path, file } of folder.files.slice(0, maxFiles)) {
    if (!markdown.test(path)) continue;
    const problem = textProblem(path, file.size);
    const text = problem || (await decode(file, path));
    if (typeof text === "string") out.leftOut.push(text);
    else
      out.documents.push({ name: path.replace(markdown, ""), ...withFiles(path, text.text, files, used, out.leftOut) });
  }
  out.documents.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const { path, file } of folder.files.slice(0, maxFiles)) {
    if (markdown.test(path) || used.has(path)) continue;
    if (!usable.test(path)) out.leftOut.push(`${path}: it is neither Markdown nor a picture or bibliography`);
    else if (!out.leftOut.some((l) => l.startsWith(path)))
      out.leftOut.push(pictureProblem(file, path) || `${path}: no document uses it`);
  }
  if (folder.files.length > maxFiles) out.leftOut.unshift(`Only the first ${maxFiles} files were read.`);
  return out;
}

/** withFiles returns a text with the files that it names. Names that lead out of the
 * document's folder are rewritten, because a document has no folder around it. */
function withFiles(
  path: string,
  text: string,
  files: Map<string, File>,
  used: Set<string>,
  leftOut: string[],
): { text: string; assets: Asset[] } {
  const assets: Asset[] = [];
  const folder = path.split("/").slice(0, -1);
  const most = limits.value?.files ?? Infinity;
  const found = [...files].flatMap(([target, file]) => {
    const relative = from(folder, target.split("/"));
    const spelt = [relative, encodeURI(relative)].find((name) => names(text, name));
    return spelt ? { target, file, relative, spelt } : [];
  });
  // Files with their own names come first: a rewritten name must differ from them.
  found.sort((a, b) => Number(isAbove(a.relative)) - Number(isAbove(b.relative)));
  for (const { target, file, relative, spelt } of found) {
    used.add(target);
    const problem =
      pictureProblem(file, target) ||
      (assets.length >= most ? `${target}: a document can have at most ${most} files` : "");
    if (problem) {
      leftOut.push(problem);
      continue;
    }
    let name = relative;
    if (isAbove(relative)) {
      name = target;
      for (let n = 2; assets.some((a) => a.name === name); n++) name = target.replace(/(\.\w+)$/, `-${n}$1`);
      text = text.replaceAll(spelt, spelt === relative ? name : encodeURI(name));
    }
    assets.push({ name, file });
  }
  return { text, assets };
}

/** isAbove reports whether a path leads out of its folder. */
const isAbove = (path: string) => path.startsWith("../");

/** from returns the path of a file relative to a folder. */
function from(folder: string[], file: string[]): string {
  let same = 0;
  while (same < folder.length && same < file.length - 1 && folder[same] === file[same]) same++;
  return [...folder.slice(same).map(() => ".."), ...file.slice(same)].join("/");
}

/** names reports whether a text contains a path, other than as the end of a longer path. */
function names(text: string, path: string): boolean {
  for (let at = text.indexOf(path); at >= 0; at = text.indexOf(path, at + 1)) {
    const before = text.slice(Math.max(0, at - 2), at);
    if (!/[\w/.-]$/.test(before) || (before.endsWith("./") && !before.endsWith("../"))) return true;
  }
  return false;
}
