// The lines of the text from which the elements of the preview come. The server writes them into the page. They are
// removed before the page is compared with the previous one, since a new line changes all lines after it.

/** Place is an element of the page and its line, counted from 1. */
export interface Place {
  line: number;
  element: Element;
}

const attribute = "data-line";

/** takeLines removes the lines from a page and returns them by the number of their element. */
export function takeLines(body: Element): Map<number, number> {
  const lines = new Map<number, number>();
  [...body.querySelectorAll("*")].forEach((e, i) => {
    const line = Number(e.getAttribute(attribute));
    if (line > 0) lines.set(i, line);
    e.removeAttribute(attribute);
  });
  return lines;
}

/** PageMap finds the line of an element, and the elements of a line. */
export class PageMap {
  private readonly lines = new Map<Element, number>();
  /** flow are the places whose lines ascend through the page: notes at its end are left out. */
  private readonly flow: Place[] = [];

  /** body must have the same elements as the page that takeLines read lines from. */
  constructor(body?: Element, lines?: Map<number, number>) {
    if (!body || !lines) return;
    [...body.querySelectorAll("*")].forEach((element, i) => {
      const line = lines.get(i);
      if (!line) return;
      this.lines.set(element, line);
      const before = this.flow.at(-1)?.line ?? 0;
      if (line > before && !element.closest(".footnotes")) this.flow.push({ line, element });
    });
  }

  /** lineOf returns the line of the innermost element with one, or of the place before it; 1 above all of them. */
  lineOf(target: Element): number {
    for (let e: Element | null = target; e; e = e.parentElement) {
      const line = this.lines.get(e);
      if (line) return line;
    }
    let found = 1;
    for (const { line, element } of this.flow) {
      if (element.compareDocumentPosition(target) & Node.DOCUMENT_POSITION_PRECEDING) break;
      found = line;
    }
    return found;
  }

  /** elementAt returns the innermost element that begins on a line or, without one, on the last line before it. */
  elementAt(line: number): Element | null {
    let best: Place | null = null;
    for (const [element, at] of this.lines) if (at <= line && (!best || at >= best.line)) best = { line: at, element };
    return best?.element ?? null;
  }

  /** around returns the places of the flow before and after a line. */
  around(line: number): [Place | null, Place | null] {
    let low = 0;
    let high = this.flow.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.flow[middle]!.line <= line) low = middle + 1;
      else high = middle;
    }
    return [this.flow[low - 1] ?? null, this.flow[low] ?? null];
  }
}
