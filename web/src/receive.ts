// Drops, pastes and chosen files. Each part goes into the text or becomes a document.
import type { EditorView } from "@codemirror/view";
import { signal } from "@preact/signals";
import { text as errorText } from "./api";
import { assets, set, title } from "./document";
import { create, isFull, open, remove } from "./documents";
import { insert, insertPictures } from "./editor";
import { chosen, folderOf, type Folder } from "./folder";
import { sort, summary, type Intake } from "./intake";
import { limits } from "./limits";
import type { NewDocument } from "./store";

type Opened = Pick<NewDocument, "name" | "text" | "assets">[];

/** opened describes the documents that the last drop opened; undo removes them. */
export const opened = signal<{ says: string; ids: string[]; undo: () => Promise<unknown> } | null>(null);

/** importing is the folder or archive whose dialog is open. */
export const importing = signal<Folder | File | null>(null);

/** Receiver adds dropped, pasted and chosen files to the open document, or opens them as new documents. */
export class Receiver {
  constructor(
    private readonly editor: () => EditorView | null,
    private readonly say: (problem: string) => void,
  ) {}

  /** data receives what was pasted, or dropped at an offset. It reports whether it used it. */
  data(data: DataTransfer, at?: number): boolean {
    const folder = folderOf(data);
    if (folder) {
      void this.folder(folder);
      return true;
    }
    if (data.files.length) {
      void this.files([...data.files], at);
      return true;
    }
    const html = data.getData("text/html");
    // Code editors copy highlighted HTML; use its plain text instead.
    if (
      !html ||
      !/<(h\d|p|ul|ol|table|a|strong|b|em|i|blockquote|img|pre)[\s>]/i.test(html) ||
      data.types.includes("vscode-editor-data")
    )
      return false;
    const plain = data.getData("text/plain");
    const put = (text: string) => this.editor() && insert(this.editor()!, text, at);
    import("./clipboard").then(
      ({ toMarkdown }) => put(toMarkdown(html)),
      () => put(plain),
    );
    return true;
  }

  /** pick lets the user choose files, pictures or a folder. */
  pick(what: "files" | "pictures" | "folder"): void {
    const input = document.createElement("input");
    input.type = "file";
    input.multiple = true;
    input.webkitdirectory = what === "folder";
    input.accept = { files: ".md,.markdown,.txt,.html,.zip,.bib,.csl,text/*,image/*", pictures: "image/*", folder: "" }[
      what
    ];
    input.onchange = () => {
      const files = [...(input.files ?? [])];
      if (what !== "folder") void this.files(files);
      else if (files.length) importing.value = chosen(files);
    };
    input.click();
  }

  private async folder(read: Promise<Folder>): Promise<void> {
    this.say("");
    try {
      importing.value = await read;
    } catch {
      this.say("The folder could not be read. Drop it again.");
    }
  }

  /** files receives files; pictures go to an offset of the text or to the cursor. */
  async files(files: File[], at?: number): Promise<void> {
    this.say("");
    opened.value = null;
    const sorted = sort(files);
    const received = sorted instanceof Promise ? await sorted : sorted;
    const problems = [...received.problems];
    const fits = (name: string) => {
      const room = !limits.value || assets.value.length < limits.value.files;
      if (!room) problems.push(`${name} was not added: a document can have at most ${limits.value!.files} files.`);
      return room;
    };
    if (received.documents.length) await this.texts(received, problems);
    // A picture that none of the new documents names belongs to the open one.
    const references = received.pictures.flatMap((f) => (fits(f.name) ? keepPicture(f) : []));
    const e = this.editor();
    if (references.length && e) insertPictures(e, references, at);
    for (const f of received.works) {
      if (!fits(f.name)) continue;
      assets.value = [...assets.value.filter((a) => a.name !== f.name), { name: f.name, file: f }];
      set(f.name.endsWith(".csl") ? "csl" : "bibliography", f.name);
    }
    const [archive, ...more] = received.archives;
    problems.push(...more.map((f) => `${f.name} was not opened: drop one archive at a time.`));
    this.say(summary(problems));
    if (archive) importing.value = archive;
  }

  /** texts makes each text a new document with the pictures that it names. It removes
   * these pictures from received. */
  private async texts(received: Intake, problems: string[]): Promise<void> {
    const documents = received.documents.map((d) => ({
      ...d,
      assets: received.pictures.filter((f) => d.text.includes(f.name)).map((file) => ({ name: file.name, file })),
    }));
    try {
      await openAll(documents);
      const used = new Set<Blob>(documents.flatMap((d) => d.assets.map((a) => a.file)));
      received.pictures = received.pictures.filter((f) => !used.has(f));
    } catch (e) {
      problems.unshift(
        `${documents.length === 1 ? documents[0]!.name : `${documents.length} files`} could not be opened: ${isFull(e) ? "the browser has no space left. Delete documents or free disk space, and drop them again." : errorText(e)}`,
      );
    }
  }
}

/** openAll keeps documents, shows the first, and shows a notice about them. Errors: QuotaExceededError. */
export async function openAll(documents: Opened): Promise<void> {
  const before = { id: open.value.id, title: title.value };
  const ids = await create(documents);
  const what =
    ids.length === 1
      ? `${documents[0]!.name} is open as a document of its own.`
      : `${ids.length} files are open as documents of their own.`;
  opened.value = { says: `${what} ${before.title} is kept under Documents.`, ids, undo: () => remove(ids, before.id) };
}

/** keepPicture adds a picture to the files and returns a reference to it. */
function keepPicture(f: File): string {
  const dot = f.name.lastIndexOf(".");
  const ext = dot > 0 ? f.name.slice(dot) : "." + (f.type.split("/")[1] ?? "png").replace(/\+.*/, "");
  const stem = (dot > 0 ? f.name.slice(0, dot) : f.name || "picture").replace(/[^\w-]+/g, "-") || "picture";
  let name = stem + ext;
  for (let n = 2; assets.value.some((a) => a.name === name); n++) name = `${stem}-${n}${ext}`;
  assets.value = [...assets.value, { name, file: f }];
  return `![${stem}](${name})`;
}
