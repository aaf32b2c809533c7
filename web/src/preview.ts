// The preview shows the server's page of the document in a frame without scripts. Only
// changed elements are replaced, so the scroll position stays.
import { PageMap, takeLines } from "./pagemap";

/** parseHTML reads HTML into a document that runs no scripts and loads no files. It uses the parser of the preview frame,
 * whose content security policy allows styles only. */
export function parseHTML(html: string): Document {
  const frame = document.querySelector<HTMLIFrameElement>("iframe.sheet")?.contentWindow as
    (Window & typeof globalThis) | null | undefined;
  if (!frame) throw new Error("The preview has not loaded yet.");
  return new frame.DOMParser().parseFromString(html, "text/html");
}

/** sheetStyle shows the page as sheets of paper, one column of text per sheet. Chromium breaks columns and
 * printed pages by the same rules, so the sheets end where printed pages end. A browser that cannot wrap
 * columns downwards shows one long sheet. */
function sheetStyle(page: Document): string {
  const css = [...page.querySelectorAll("style")].map((s) => s.textContent).join("\n");
  const size = /@page\s*\{[^}]*?size:\s*([\d.]+[a-z]+)\s+([\d.]+[a-z]+)/.exec(css);
  const margin = /@page\s*\{[^}]*?margin:\s*([\d.]+[a-z]*)\s+([\d.]+[a-z]*)\s+([\d.]+[a-z]*)\s+([\d.]+[a-z]*)/.exec(
    css,
  );
  const paper = /@page\s*\{\s*background:\s*([^;@}]+)/.exec(css)?.[1] ?? "#fff";
  const cover = /@page cover\s*\{[^@}]*?background:\s*([^;@}]+)/.exec(css)?.[1] ?? paper;
  const [width, height] = size ? [size[1], size[2]] : ["210mm", "297mm"];
  const [top, right, bottom, left] = margin ? margin.slice(1) : ["20mm", "20mm", "20mm", "20mm"];
  return `
:root { --w:${width}; --h:${height}; --t:${top}; --r:${right}; --b:${bottom}; --l:${left}; --gap:7mm; --sheet:${paper}; }
html { background:var(--desk)!important; margin:0; padding:0 }
body { box-sizing:border-box; position:relative; width:var(--w); min-height:var(--h); margin:24px auto!important; padding:var(--t) var(--r) var(--b) var(--l)!important;
  background:var(--sheet); box-shadow:0 1px 2px #0003,0 8px 28px #0002; zoom:var(--zoom,1); overflow-wrap:break-word;
  text-rendering:geometricPrecision }
a { cursor:default }
html > .here { position:absolute; width:3px; border-radius:2px; background:var(--accent); pointer-events:none }
.cover { box-sizing:border-box; height:var(--h); min-height:0!important; overflow:hidden; background-color:${cover};
  margin:calc(-1*var(--t)) calc(-1*var(--r)) calc(var(--t) + var(--gap)) calc(-1*var(--l))!important }
@supports (column-wrap:wrap) and (column-height:100px) {
  body { background:repeating-linear-gradient(var(--sheet) 0 var(--h),var(--desk) 0 calc(var(--h) + var(--gap)))!important; box-shadow:none;
    min-height:0; padding-bottom:0!important }
  main { columns:1; column-width:auto; column-height:calc(var(--h) - var(--t) - var(--b)); column-wrap:wrap; row-gap:calc(var(--t) + var(--b) + var(--gap)); column-fill:auto; min-height:calc(var(--h) - var(--t)) }
}
`;
}

/** Preview is a frame that shows pages of the server. */
export class Preview {
  /** map finds the lines of the text on the page. */
  map = new PageMap();
  private styles = "";
  private listening: Document | null = null;
  private line = 0;
  private clickedLine = 0;
  private still = 0;

  /** clicked is called with the line of the text that was clicked on the page. */
  constructor(
    private readonly frame: HTMLIFrameElement,
    private readonly clicked?: (line: number) => void,
  ) {}

  /** show puts a page into the frame. */
  show(html: string): void {
    const doc = this.frame.contentDocument;
    if (!doc?.body) return;
    const page = parseHTML(html);
    const lines = takeLines(page.body);
    this.put(page, doc);
    this.map = new PageMap(doc.body, lines);
    this.listen(doc);
    this.mark();
  }

  /** put replaces what differs between the page and the frame's document. */
  private put(page: Document, doc: Document): void {
    for (const name of ["lang", "dir", "class", "data-theme"]) {
      const value = page.documentElement.getAttribute(name);
      if (value === null) doc.documentElement.removeAttribute(name);
      else doc.documentElement.setAttribute(name, value);
    }
    const styles = [...page.head.querySelectorAll("style")].map((s) => s.textContent ?? "");
    // Page breaks become column breaks.
    const shown = styles.map((s) => s.replace(/break-(before|after):\s*page\b/g, "break-$1:column"));
    const all = shown.join("\0");
    if (all !== this.styles) {
      this.styles = all;
      // Keep the fonts' style sheet.
      for (const old of doc.head.querySelectorAll("style")) old.remove();
      doc.head.append(
        ...[...shown, sheetStyle(page)].map((text) => {
          const style = doc.createElement("style");
          style.textContent = text;
          return style;
        }),
      );
    }
    doc.title = page.title;
    doc.body.className = page.body.className;
    const to = page.querySelector("main");
    const from = doc.querySelector("main");
    const others = (root: HTMLElement) => [...root.children].filter((c) => c.tagName !== "MAIN");
    if (
      !to ||
      !from ||
      others(doc.body)
        .map((c) => c.outerHTML)
        .join() !==
        others(page.body)
          .map((c) => c.outerHTML)
          .join()
    ) {
      doc.body.replaceChildren(...[...page.body.childNodes].map((n) => doc.adoptNode(n)));
      return;
    }
    patch(from, to, doc);
  }

  /** listen reports clicks on the page, unless they select text. */
  private listen(doc: Document): void {
    const { clicked } = this;
    if (!clicked || this.listening === doc) return;
    this.listening = doc;
    doc.addEventListener("click", (e) => {
      e.preventDefault();
      if (doc.getSelection()?.isCollapsed === false) return;
      // The page must not move away from the pointer.
      this.still = performance.now() + 700;
      this.clickedLine = this.map.lineOf(e.target as Element);
      clicked(this.clickedLine);
    });
  }

  /** point marks the place of a line, and scrolls to it if it is out of sight. */
  point(line: number): void {
    if (line === this.line) return;
    if (line !== this.clickedLine) this.still = 0;
    this.line = line;
    this.mark();
    const place = this.map.elementAt(line)?.getClientRects()[0];
    const height = this.frame.clientHeight;
    if (place && (place.bottom < 0 || place.top > height)) this.scrollTo(this.scrolled() + place.top - height / 3);
  }

  /** mark draws a bar next to the place of the line. */
  private mark(): void {
    const root = this.frame.contentDocument?.documentElement;
    if (!root) return;
    let bar = root.querySelector<HTMLElement>(":scope > .here");
    const place = this.line ? this.map.elementAt(this.line)?.getClientRects()[0] : undefined;
    if (!place) return void bar?.remove();
    if (!bar) {
      bar = root.ownerDocument.createElement("div");
      bar.className = "here";
      bar.setAttribute("aria-hidden", "true");
      root.append(bar);
    }
    bar.style.left = `${Math.max(2, place.left - 12)}px`;
    bar.style.top = `${place.top + root.scrollTop}px`;
    bar.style.height = `${place.height}px`;
  }

  /** fit scales a sheet to the width of the frame, and colours the space around it. */
  fit(): void {
    const doc = this.frame.contentDocument;
    if (!doc?.body) return;
    const studio = getComputedStyle(document.documentElement);
    for (const name of ["--desk", "--accent"])
      doc.documentElement.style.setProperty(name, studio.getPropertyValue(name));
    doc.documentElement.style.setProperty("--zoom", "1");
    const wide = doc.body.offsetWidth + 48;
    doc.documentElement.style.setProperty("--zoom", String(Math.min(1.1, this.frame.clientWidth / wide)));
    this.mark();
  }

  /** topOf returns the top of an element, in pixels of the frame. */
  topOf(element: Element): number {
    return element.getBoundingClientRect().top + this.scrolled();
  }

  private scrolled(): number {
    return this.frame.contentDocument?.documentElement.scrollTop ?? 0;
  }

  /** scrollTo scrolls the page, except after a click on it. */
  scrollTo(y: number): void {
    if (performance.now() > this.still) this.frame.contentWindow?.scrollTo({ top: y });
  }

  /** height returns the scrollable height of the frame, in pixels. */
  height(): number {
    const root = this.frame.contentDocument?.documentElement;
    return root ? root.scrollHeight - root.clientHeight : 0;
  }
}

/** patch replaces the children between the first and the last that differ. */
function patch(from: Element, to: Element, doc: Document): void {
  const a = [...from.childNodes];
  const b = [...to.childNodes];
  let start = 0;
  while (start < a.length && start < b.length && a[start]!.isEqualNode(b[start]!)) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end]!.isEqualNode(b[b.length - 1 - end]!))
    end++;
  const anchor = a[a.length - end] ?? null;
  for (const n of a.slice(start, a.length - end)) n.remove();
  for (const n of b.slice(start, b.length - end)) from.insertBefore(doc.adoptNode(n), anchor);
}
