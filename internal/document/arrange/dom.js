const all = (selector) => [...Document.prototype.querySelectorAll.call(document, selector)];
const make = (name) => Document.prototype.createElement.call(document, name);
const makeRange = () => Document.prototype.createRange.call(document);

const firstRect = (element) => element.getClientRects()[0];
const lastRect = (element) => [...element.getClientRects()].at(-1);
const heightOf = (element) => element.getBoundingClientRect().height;
const pixels = (length) => parseFloat(length) || 0;

const isText = (node) => node.nodeType === Node.TEXT_NODE;
const isElement = (node) => node.nodeType === Node.ELEMENT_NODE;

// undivided are elements that are not looked into for lines.
const undivided = new Set(["TABLE", "PRE", "FIGURE", "IMG", "SVG", "svg", "MATH", "math", "HR", "NAV", "VIDEO"]);

// Changes remembers how to take changes of the document back.
class Changes {
  #steps = [];

  add(undo) { this.#steps.push(undo); }

  style(element, property, value) {
    const old = element.style[property];
    element.style[property] = value;
    this.add(() => {
      element.style[property] = old;
      if (!element.getAttribute("style")) element.removeAttribute("style");
    });
  }

  undo() { for (const undo of this.#steps.reverse()) undo(); }
}

// removeClass leaves no empty attribute behind.
function removeClass(element, name) {
  element.classList.remove(name);
  if (!element.classList.length) element.removeAttribute("class");
}

// addToLines adds a rectangle of text to lines: it is part of the last one where this has
// its middle, else a line of its own, with what more it shall know.
function addToLines(lines, rect, more) {
  const middle = (rect.top + rect.bottom) / 2, line = lines.at(-1);
  if (line && line.page === more.page && middle > line.top && middle < line.bottom) {
    line.top = Math.min(line.top, rect.top);
    line.bottom = Math.max(line.bottom, rect.bottom);
  } else {
    lines.push({ ...more, top: rect.top, bottom: rect.bottom });
  }
}
