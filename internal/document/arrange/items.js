// An item is a line of text, with the nodes of its paragraph and how many of its lines
// come before and after it, or an element that is not divided into lines.

// itemsOn lists the items of a page in their order.
function itemsOn(pages, page) {
  const found = [];
  const add = (item) => { if (item.page === page) found.push(item); };
  const addLines = (element, nodes) => {
    if (nodes.some((n) => isElement(n) || n.data.trim())) linesOf(pages, element, nodes).forEach(add);
  };
  const addBlock = (element) => {
    const rects = [...element.getClientRects()];
    if (!rects.length || pages.pageOf(rects[0]) > page) return;
    if (pages.pageOf(rects.at(-1)) < page && !element.querySelector(".foot")) return;
    if (element.classList.contains("foot")) return;
    const style = getComputedStyle(element);
    if (style.position === "absolute" || style.position === "fixed") return;
    if (!flows(element, style)) {
      for (const r of rects) add({ element, page: pages.pageOf(r), top: r.top, bottom: r.bottom, last: r === rects.at(-1) });
      return;
    }
    let inlines = [];
    for (const child of element.childNodes) {
      if (isInline(child)) {
        inlines.push(child);
      } else if (isElement(child)) {
        addLines(element, inlines); // before a foot, too: it is no line
        inlines = [];
        addBlock(child);
      }
    }
    addLines(element, inlines);
  };
  for (const block of pages.laidOut()) addBlock(block);
  return found;
}

// flows reports whether a page may end within an element, between lines or blocks.
function flows(element, style) {
  if (undivided.has(element.tagName) || style.breakInside === "avoid" || style.page !== "auto") return false;
  return (style.display === "block" || style.display === "list-item") && style.columnCount === "auto";
}

function isInline(node) {
  if (!isElement(node)) return isText(node);
  const { display, float } = getComputedStyle(node);
  return float === "none" && (display.startsWith("inline") || display === "contents" || display.startsWith("ruby"));
}

// linesOf are the lines that some nodes of an element make.
function linesOf(pages, element, nodes) {
  const range = makeRange(), lines = [];
  range.setStartBefore(nodes[0]);
  range.setEndAfter(nodes.at(-1));
  for (const rect of range.getClientRects()) {
    if (rect.width || rect.height) addToLines(lines, rect, { element, nodes, page: pages.pageOf(rect) });
  }
  lines.forEach((line, n) => {
    line.before = n;
    line.after = lines.length - 1 - n;
    line.last = !line.after;
  });
  return lines;
}

// together reports whether no page may end between two items: two lines of a paragraph
// at least stand on either page.
function together(a, b) {
  if (a.element === b.element && a.nodes && a.nodes === b.nodes) return a.before < 1 || b.after < 1;
  for (let e = a.element; e && !e.contains(b.element); e = e.parentElement) {
    if (getComputedStyle(e).breakAfter === "avoid") return true;
  }
  for (let e = b.element; e && !e.contains(a.element); e = e.parentElement) {
    if (getComputedStyle(e).breakBefore === "avoid") return true;
  }
  return false;
}
