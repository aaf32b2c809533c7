// divideNote ends a note where its room ends, between two lines, and returns the rest;
// null where fewer than two lines would stand here or there.
function divideNote(note, room) {
  const texts = textsIn(note), lines = noteLines(texts);
  const first = firstOfRest(lines, note.getBoundingClientRect().top + room);
  if (first < 2) return null;
  const range = makeRange();
  const divided = startAt(range, note, texts, lines[first].top);
  range.setEnd(note, note.childNodes.length);
  const rest = make("div");
  rest.className = "foot-note";
  rest.append(range.extractContents());
  for (let e = rest.firstElementChild; e; e = e.firstElementChild) {
    if (e.id && note.querySelector("#" + CSS.escape(e.id))) e.removeAttribute("id"); // both halves have it
  }
  if (divided && getComputedStyle(divided).textAlign === "justify") divided.style.textAlignLast = "justify";
  return heightOf(note) > 0 ? rest : null;
}

function textsIn(node) {
  return isText(node) ? [node] : [...node.childNodes].flatMap(textsIn);
}

const blockOf = (text) => text.parentElement.closest("p, li, div, dt, dd, td, th");

// noteLines are the lines of texts, each with the block that its first text is in.
function noteLines(texts) {
  const range = makeRange(), lines = [];
  for (const text of texts) {
    const block = blockOf(text);
    range.selectNodeContents(text);
    for (const rect of range.getClientRects()) addToLines(lines, rect, { block });
  }
  return lines;
}

// firstOfRest is the first of the lines that have no place above a limit. No line of a
// paragraph of several stands alone on a page.
function firstOfRest(lines, limit) {
  const over = lines.findIndex((line) => line.bottom > limit);
  const joined = (n) => lines[n]?.block === lines[n + 1]?.block;
  let first = Math.min(over, lines.length - 2);
  while (first > 1 && joined(first - 1) && !(joined(first - 2) && joined(first))) first--;
  return first;
}

// startAt sets the start of a range to the first of the texts below a height, and returns
// the paragraph that is divided by that, or null.
function startAt(range, note, texts, top) {
  const below = (rect) => rect && (rect.top + rect.bottom) / 2 > top;
  const text = texts.find((t) => {
    range.selectNodeContents(t);
    return below([...range.getClientRects()].at(-1));
  });
  let from = 0;
  for (let to = text.length; from < to;) {
    const middle = (from + to) >> 1;
    range.setStart(text, middle);
    range.setEnd(text, text.length);
    if (below(range.getClientRects()[0])) to = middle;
    else from = middle + 1;
  }
  from = wordStart(text.data, from);
  let node = outermostWhole(text, note);
  if (node === text && text.data.slice(0, from).trim()) {
    range.setStart(text, from);
    return blockOf(text);
  }
  while (node.parentNode !== note && !textBefore(node)) node = node.parentNode;
  range.setStartBefore(node);
  return node.parentNode !== note && isInline(node) ? blockOf(text) : null;
}

// wordStart is where the word begins that a text has at a place: one that is hyphenated
// goes on in one piece. Scripts from U+2E80 on write no spaces.
function wordStart(data, at) {
  while (at > 0 && !/\s/.test(data[at - 1]) && data.charCodeAt(at) < 0x2e80) at--;
  return at;
}

// outermostWhole is the outermost element around a text that goes on whole.
function outermostWhole(text, note) {
  let node = text;
  for (let e = text.parentElement; e !== note; e = e.parentElement) {
    if (undivided.has(e.tagName) || e.tagName === "OL" || e.tagName === "LI") node = e;
  }
  return node;
}

// textBefore reports whether there is text before a node in its parent.
function textBefore(node) {
  for (let n = node.previousSibling; n; n = n.previousSibling) {
    if (n.textContent.trim()) return true;
  }
  return false;
}
