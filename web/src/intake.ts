// The use and the text of dropped or chosen files.
import { isArchive } from "./folder";
import { pictureProblem, textProblem } from "./limits";

/** picture matches the names of pictures. Some systems give files no type. */
const picture = /\.(png|jpe?g|gif|webp|svg|avif|bmp)$/i;
const readable = /\.(md|markdown|mdown|mkd|txt|text|rst|org)$/i;

/** Intake holds files by their use. problems says why others are not used. */
export interface Intake {
  documents: { name: string; text: string }[];
  pictures: File[];
  archives: File[];
  /** works are bibliographies and citation styles. */
  works: File[];
  problems: string[];
}

/** sort reads the texts among files, and finds the use of the others. Without texts it
 * returns at once, so that a drop position remains valid. */
export function sort(files: File[]): Intake | Promise<Intake> {
  const received: Intake = { documents: [], pictures: [], archives: [], works: [], problems: [] };
  const texts: File[] = [];
  for (const f of files) {
    if (isArchive(f)) received.archives.push(f);
    else if (/\.(bib|csl)$/i.test(f.name)) received.works.push(f);
    else if (f.type.startsWith("image/") || (!f.type && picture.test(f.name))) {
      const problem = pictureProblem(f);
      if (problem) received.problems.push(problem);
      else received.pictures.push(f);
    } else if (isHTML(f) || readable.test(f.name) || f.type.startsWith("text/")) texts.push(f);
    else received.problems.push(`${f.name} is not supported. Use Markdown, text, HTML, zip, .bib, .csl or an image.`);
  }
  return texts.length ? withTexts(received, texts) : received;
}

async function withTexts(received: Intake, texts: File[]): Promise<Intake> {
  for (const f of texts) {
    const problem = textProblem(f.name, f.size);
    if (problem) {
      received.problems.push(problem);
      continue;
    }
    const read = await decode(f, f.name);
    if (typeof read === "string") received.problems.push(read);
    else {
      const text = isHTML(f) ? (await import("./clipboard")).toMarkdown(read.text) : read.text;
      received.documents.push({ name: f.name.replace(/\.[^.]*$/, ""), text });
    }
  }
  return received;
}

/** decode returns the text of a file with line feeds, or why it has none. */
export async function decode(f: Blob, name: string): Promise<{ text: string } | string> {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(await f.arrayBuffer());
    return text.includes("\0") ? notText(name) : { text: text.replaceAll("\r\n", "\n") };
  } catch (e) {
    // A DOMException means that the file no longer exists, or that the browser may not read it.
    return e instanceof DOMException ? `${name} could not be read. Drop it again.` : notText(name);
  }
}

const notText = (name: string) => `${name} is not UTF-8 text. Save it as UTF-8 and open it again.`;

function isHTML(f: File): boolean {
  return /\.html?$/i.test(f.name) || f.type === "text/html";
}

/** summary joins the first three messages and counts the others. */
export function summary(problems: string[]): string {
  const shown = problems.slice(0, 3);
  if (problems.length > shown.length) shown.push(`${problems.length - shown.length} more files were not added.`);
  return shown.join(" ");
}
