// A foot is a float as wide as the text. One that is met behind the first word of a line
// comes to stand below that line, and what follows has no place beside it: the lines
// around it, their spacing and their tags stay as they are.

const mostNotes = 0.6; // of a page
const mostWhite = 0.1; // of a page, for a note to stay whole

// placeFoot puts the notes that a page refers to at its foot, and reports whether it did.
function placeFoot(pages, notes, page) {
  const items = itemsOn(pages, page), marks = marksOn(pages, notes, items);
  if (!notes.carried && !marks.some((links) => links.length)) return false;
  // A note is divided rather than much of the page left white, and that rather than
  // the note at the end of the document.
  for (const [divides, white] of [[false, mostWhite], [true, 1], [false, 1]]) {
    if (placeFootBelow(pages, notes, page, { items, marks, divides, white: white * pages.limit })) return true;
  }
  notes.leave(new Set(marks.flat()));
  return false;
}

// marksOn are the links to notes that are in each of the items.
function marksOn(pages, notes, items) {
  const near = [...notes.pending.keys()].filter((link) => {
    const n = pages.numberOf(link);
    return n >= pages.passed && n < pages.shown;
  });
  return items.map((item) => near.filter((link) => {
    if (!item.element.contains(link)) return false;
    if (!item.nodes) return true;
    const rect = firstRect(link), middle = rect && (rect.top + rect.bottom) / 2;
    return rect && pages.pageOf(rect) === item.page && middle > item.top - 4 && middle < item.bottom + 4;
  }));
}

// placeFootBelow puts a foot below the last item that leaves room for it, with one note
// divided or none, and no more left white than allowed.
function placeFootBelow(pages, notes, page, { items, marks, divides, white }) {
  for (let n = items.length - 1; n >= 0; n--) {
    const item = items[n], last = n === items.length - 1;
    const next = items[n + 1] ?? itemsOn(pages, page + 1)[0];
    if (!last && together(item, next) || !item.nodes && !item.last) continue;
    const links = [...new Set(marks.slice(0, n + 1).flat())];
    const rest = pages.limit - item.bottom - leading(item.element);
    const room = notes.carried ? rest : Math.min(mostNotes * pages.limit, rest);
    if (divides && rest < Math.min(mostNotes * pages.limit, notes.carriedHeight())) continue; // it shall come to an end
    const filled = divides ? notes.fillDivided(links, room, pages) : notes.fillWhole(links, room);
    if (!filled) continue;
    if (!last && rest - filled.height > white) return false;
    const foot = makeFoot(pages, filled.content, notes.carried);
    if (insertFoot(pages, foot, item, next, links)) {
      notes.placed(links, filled.rest);
      return true;
    }
  }
  return false;
}

// leading is what a line has below its letters.
function leading(element) {
  const { lineHeight, fontSize } = getComputedStyle(element);
  return Math.max(0, (parseFloat(lineHeight) - 1.2 * parseFloat(fontSize)) / 2 || 0);
}

function makeFoot(pages, content, continued) {
  const foot = make("div");
  foot.className = "foot";
  if (continued) foot.classList.add("foot-continued");
  if (!content.length) foot.classList.add("foot-empty");
  foot.append(...content);
  foot.dir = pages.rtl ? "rtl" : "ltr";
  foot.style.width = pages.text.width + "px";
  foot.style.height = "0";
  return foot;
}

// insertFoot puts a foot below an item, and reports whether it stands at the foot of its
// page in one piece with nothing beside or below it, and the links to its notes above it.
function insertFoot(pages, foot, item, next, links) {
  const within = item.nodes && !item.last; // a paragraph
  const parent = item.nodes ? item.element : item.element.parentElement;
  if (isDecorated(within ? parent : commonParent(pages, parent, next), pages.main)) return false;
  const { side, by } = pages.indent(parent, item.page);
  if (Math.abs(by) > 0.5) foot.style[`margin${side}`] = -by + "px";
  const changes = new Changes();
  if (within) {
    if (!insertBelowLine(pages, foot, item, changes)) return false;
  } else {
    if (item.nodes) parent.insertBefore(foot, item.nodes.at(-1).nextSibling);
    else item.element.after(foot);
    clearBelow(item, next, changes);
  }
  let host = foot; // what is cut at its edges would cut the foot
  while (host.parentElement !== pages.main) host = host.parentElement;
  if (host !== foot) changes.style(host, "overflow", "visible");
  if (stands(pages, foot, item.page) && links.every((link) => isAbove(pages, link, foot))) return true;
  foot.remove();
  changes.undo();
  return false;
}

// commonParent is the first element around another one that holds the next item, too.
function commonParent(pages, element, next) {
  while (element !== pages.main && !element.contains(next?.element ?? null)) element = element.parentElement;
  return element;
}

// isDecorated reports whether something around an element is drawn to the end of its page.
function isDecorated(element, main) {
  for (let e = element; e && e !== main; e = e.parentElement) {
    const style = getComputedStyle(e);
    if (parseFloat(style.borderLeftWidth) || parseFloat(style.borderRightWidth)) return true;
    if (!/^(transparent|rgba\(0, 0, 0, 0\))$/.test(style.backgroundColor)) return true;
  }
  return false;
}

// insertBelowLine puts a foot into a line, before the word after which it comes to stand
// below that line, and reports whether there is one.
function insertBelowLine(pages, foot, line, changes) {
  const word = splitAtWord(pages, line);
  if (!word) return false;
  word.parentNode.insertBefore(foot, word);
  changes.add(() => {
    word.previousSibling.data += word.data;
    word.remove();
  });
  return true;
}

// splitAtWord splits the text of a line before its last word that is not its first, and
// returns the text that begins with it; null where there is none.
function splitAtWord(pages, line) {
  const range = makeRange();
  const onLine = (text, at) => {
    range.setStart(text, at);
    range.setEnd(text, at + 1);
    const rect = [...range.getClientRects()].at(-1), middle = rect && (rect.top + rect.bottom) / 2;
    return rect && pages.pageOf(rect) === line.page && middle > line.top - 1 && middle < line.bottom + 1;
  };
  for (const text of line.nodes.flatMap(plainTexts).reverse()) {
    const { data } = text;
    for (let at = data.length - 1; at > 0; at--) {
      const begins = /\s/.test(data[at - 1]) && !/\s/.test(data[at]) || data.charCodeAt(at) > 0x2e80;
      if (!begins || !onLine(text, at)) continue;
      const before = data.slice(0, at).search(/\S\s*$/);
      if (before >= 0 && onLine(text, before)) return text.splitText(at);
    }
  }
  return null;
}

// plainTexts are the texts in a node that may be split.
function plainTexts(node) {
  if (isText(node)) return [node];
  if (!isElement(node) || node.matches("a, code, svg, math, sup, sub, kbd, mark")) return [];
  return [...node.childNodes].flatMap(plainTexts);
}

// clearBelow has what follows a foot stand below it.
function clearBelow(item, next, changes) {
  let cleared = next?.element;
  while (cleared?.parentElement && !cleared.parentElement.contains(item.element)) cleared = cleared.parentElement;
  if (cleared && !cleared.contains(item.element)) changes.style(cleared, "clear", "both");
}

// isAbove reports whether a link is on the page of a foot and above it: the lines of a
// paragraph may be broken in another way once a foot is in it.
function isAbove(pages, link, foot) {
  const at = firstRect(link), below = firstRect(foot);
  return pages.pageOf(at) === pages.pageOf(below) && at.top < below.top;
}

// stands gives a foot the rest of its page, and reports whether it has the room it needs
// with nothing beside or below it.
function stands(pages, foot, page) {
  const top = firstRect(foot), rest = pages.limit - top.top - 1;
  if (pages.pageOf(top) !== page || rest < foot.scrollHeight - 1) return false;
  foot.style.height = rest + "px";
  const [rect, ...more] = foot.getClientRects();
  if (more.length || pages.pageOf(rect) !== page || Math.abs(pages.limit - 1 - rect.bottom) >= 1) return false;
  return itemsOn(pages, page).every((item) => item.bottom < rect.top + 6);
}
