// Arranges what Chromium's own page breaks cannot: footnotes at the foot of the
// page that refers to them, continued on the next where they are longer than their
// room, and pictures a little smaller where they then fit on
// the rest of a page.
//
// The document is laid out as columns as large as a page's area, which break where
// pages do, and is gone through page by page. What follows a page is not laid out
// until its turn, so that the work grows with the document and no faster. Pages that
// have neither notes nor pictures are passed over.
//
// A foot is a float as wide as the text. One that is met behind the first word of a
// line comes to stand below that line, and what follows has no place beside it: the
// lines around it, their spacing and their tags stay as they are.
//
// Nothing here trusts a property of the document that the name of an element in it
// could hide.
(async ({ width, height, top, bottom, gap, smallest, notes: wantsNotes }) => {
  const D = Document.prototype;
  const all = (selector) => [...D.querySelectorAll.call(document, selector)];
  const make = (name) => D.createElement.call(document, name);
  const [root] = all("html"), [body] = all("body"), [main] = all("body > main");
  const pictures = all("main img");
  await Promise.all(pictures.map((picture) => picture.decode().catch(() => {})));
  const large = pictures.some((picture) => picture.naturalHeight > 120) || all("main .diagram").length;
  if (!large && !wantsNotes) return null;
  const rtl = getComputedStyle(main).direction === "rtl";

  // The columns.
  const sheet = make("style");
  sheet.textContent = `html { margin: 0; width: auto }
    body { display: block !important; position: absolute; top: 0; ${rtl ? "right" : "left"}: 0; margin: 0; padding: 0; max-width: none;
      width: ${width}px; height: ${height}px; columns: 1; column-gap: ${gap}px; column-fill: auto }
    body > :not(main) { display: none !important }
    .waiting { display: none !important }`;
  all("head")[0].append(sheet);
  const undo = [() => sheet.remove()];
  // force makes breaks of pages breaks of columns. All styles are read before the first
  // is written: each that is read after a change has the browser go through all elements.
  const force = (elements) => {
    const forced = [];
    for (const element of elements) {
      const style = getComputedStyle(element), ownPage = style.page !== "auto";
      for (const side of ["breakBefore", "breakAfter"]) {
        if (ownPage || ["page", "left", "right", "recto", "verso"].includes(style[side])) forced.push([element, side]);
      }
    }
    for (const [element, side] of forced) {
      const old = element.style[side];
      element.style[side] = "column";
      undo.push(() => {
        element.style[side] = old;
        if (!element.getAttribute("style")) element.removeAttribute("style");
      });
    }
  };

  // Places: the page of a rectangle, and where it is on that page.
  let origin, forgotten = 0; // pages that are not laid out any more
  const pageOf = (r) => forgotten + Math.floor((rtl ? origin - r.right : r.left - origin) / (width + gap) + 0.001);
  const limit = height - bottom;

  // reveal lays out so many blocks that something is on the page after this one.
  const blocks = [...main.children];
  let wanted = []; // the numbers of those that have notes or pictures
  let shown = 0, passed = 0; // blocks laid out, blocks before the page
  const few = 8, many = 256; // blocks laid out at once
  const reveal = (page) => {
    while (shown < blocks.length) {
      const r = shown && lastRect(blocks[shown - 1]);
      if (r && pageOf(r) > page + 1) return;
      const until = Math.min(blocks.length, Math.max(shown + few, Math.min(shown + many, wanted.find((n) => n >= shown) ?? 0)));
      for (; shown < until; shown++) {
        blocks[shown].classList.remove("waiting");
        if (!blocks[shown].classList.length) blocks[shown].removeAttribute("class");
      }
    }
  };
  const numbers = new Map(); // of the blocks
  const numberOf = (element) => {
    while (element.parentElement !== main) element = element.parentElement;
    return numbers.get(element);
  };
  const lastRect = (element) => [...element.getClientRects()].at(-1);

  // forget leaves out of the layout what ends before a page, and puts a strut in its
  // place: the page that the first other block begins on stays as it is.
  const strut = make("div");
  let forgets = true;
  const forget = () => {
    const [old] = blocks[passed].getClientRects();
    const page = pageOf(old);
    if (!forgets || page - forgotten < 3) return;
    const hidden = []; // feet among them
    for (let b = blocks[passed].previousElementSibling; b && b !== strut && !b.classList.contains("waiting"); b = b.previousElementSibling) hidden.push(b);
    const was = [forgotten, strut.style.cssText];
    for (const b of hidden) b.classList.add("waiting");
    forgotten = page;
    strut.style.cssText = `height: ${Math.max(0, old.top - start)}px`;
    if (!strut.parentNode) main.prepend(strut);
    const moved = () => blocks[passed].getClientRects()[0].top - old.top;
    strut.style.marginBottom = -moved() + "px";
    if (Math.abs(moved()) > 0.1 || pageOf(blocks[passed].getClientRects()[0]) !== page) {
      for (const b of hidden) b.classList.remove("waiting");
      [forgotten, strut.style.cssText] = was;
      forgets = false;
    }
  };

  const whole = new Set(["TABLE", "PRE", "FIGURE", "IMG", "SVG", "svg", "MATH", "math", "HR", "NAV", "VIDEO"]);
  const inlineOf = (node) => {
    if (node.nodeType === Node.TEXT_NODE) return true;
    if (node.nodeType !== Node.ELEMENT_NODE) return false;
    const { display, float } = getComputedStyle(node);
    return float !== "none" ? false : display.startsWith("inline") || display === "contents" || display.startsWith("ruby");
  };

  // items lists what stands on a page in its order: lines, and blocks that are not
  // divided. Each knows what comes before and after it of its own paragraph.
  const items = (page) => {
    const found = [];
    const add = (item) => { if (item.page === page) found.push(item); };
    const block = (element) => {
      const rects = [...element.getClientRects()];
      if (!rects.length || pageOf(rects[0]) > page || pageOf(rects.at(-1)) < page && !element.querySelector(".foot")) return;
      if (element.classList.contains("foot")) return;
      const style = getComputedStyle(element);
      if (style.position === "absolute" || style.position === "fixed") return;
      const flows = (style.display === "block" || style.display === "list-item") && style.columnCount === "auto";
      if (whole.has(element.tagName) || style.breakInside === "avoid" || !flows || style.page !== "auto") {
        for (const r of rects) add({ element, page: pageOf(r), top: r.top, bottom: r.bottom, last: r === rects.at(-1) });
        return;
      }
      let run = [];
      const lines = () => {
        if (run.some((n) => n.nodeType === Node.ELEMENT_NODE || n.data.trim())) textLines(element, run).forEach(add);
        run = [];
      };
      for (const child of element.childNodes) {
        if (inlineOf(child)) { run.push(child); continue; }
        if (child.nodeType !== Node.ELEMENT_NODE) continue;
        lines(); // before a foot, too: it is no line
        block(child);
      }
      lines();
    };
    for (const b of blocks.slice(passed, shown)) block(b);
    return found;
  };
  const textLines = (element, nodes) => {
    const range = D.createRange.call(document);
    range.setStartBefore(nodes[0]);
    range.setEndAfter(nodes.at(-1));
    const lines = [];
    for (const r of range.getClientRects()) {
      if (!r.width && !r.height) continue;
      const page = pageOf(r), middle = (r.top + r.bottom) / 2, l = lines.at(-1);
      if (l && l.page === page && middle > l.top && middle < l.bottom) {
        l.top = Math.min(l.top, r.top);
        l.bottom = Math.max(l.bottom, r.bottom);
      } else {
        lines.push({ element, nodes, page, top: r.top, bottom: r.bottom });
      }
    }
    lines.forEach((l, n) => { l.before = n; l.after = lines.length - 1 - n; l.last = !l.after; });
    return lines;
  };

  // together reports whether no page may end between two items.
  const together = (a, b) => {
    if (a.element === b.element && a.nodes && a.nodes === b.nodes) return a.before + 1 < 2 || b.after + 1 < 2;
    for (let e = a.element; e && !e.contains(b.element); e = e.parentElement) {
      if (getComputedStyle(e).breakAfter === "avoid") return true;
    }
    for (let e = b.element; e && !e.contains(a.element); e = e.parentElement) {
      if (getComputedStyle(e).breakBefore === "avoid") return true;
    }
    return false;
  };

  // Notes.
  const mostNotes = 0.6; // of a page
  const mostWhite = 0.1; // of a page, for a note to stay whole
  const list = wantsNotes ? all("main > .footnotes > ol > li[id]") : [];
  const section = list.length ? list[0].closest(".footnotes") : null;
  const notes = new Map(), leads = new Map(); // leads: where links lead now, by where they led
  if (section) {
    const links = new Map();
    for (const a of all("main a.footnote-ref")) {
      const href = a.getAttribute("href");
      if (!links.has(href)) links.set(href, a);
    }
    list.forEach((li, n) => {
      const link = links.get("#" + encodeURI(li.id)) ?? links.get("#" + li.id);
      if (link && !section.contains(link)) notes.set(link, { li, number: li.value || n + 1 });
    });
  }
  const noteOf = (link) => {
    const { li, number } = notes.get(link);
    const note = make("div");
    note.className = "foot-note";
    note.setAttribute("role", "article"); // Chromium tags no other role so that package file knows it
    const backs = [...li.querySelectorAll("a.footnote-backref")];
    const back = backs[0]?.cloneNode() ?? make("a");
    back.textContent = number + "";
    back.className = "foot-number";
    note.append(...[...li.cloneNode(true).childNodes]);
    note.querySelectorAll("a.footnote-backref").forEach((a) => {
      if (a.previousSibling?.nodeType === Node.TEXT_NODE) a.previousSibling.data = a.previousSibling.data.trimEnd();
      a.remove();
    });
    const first = note.querySelector("p") ?? note;
    first.prepend(back);
    note.id = "foot-" + li.id;
    return note;
  };

  // anchor is the node before which a float comes to stand below a line.
  const anchor = (line) => {
    const range = D.createRange.call(document);
    const on = (node, from, to) => {
      range.setStart(node, from);
      range.setEnd(node, to);
      const r = [...range.getClientRects()].at(-1);
      const middle = r && (r.top + r.bottom) / 2;
      return r && pageOf(r) === line.page && middle > line.top - 1 && middle < line.bottom + 1;
    };
    const texts = [];
    const walk = (n) => n.nodeType === Node.TEXT_NODE ? texts.push(n) : n.nodeType === Node.ELEMENT_NODE && !n.matches("a, code, svg, math, sup, sub, kbd, mark") && n.childNodes.forEach(walk);
    line.nodes.forEach(walk);
    for (const text of texts.reverse()) {
      const data = text.data;
      for (let i = data.length - 1; i > 0; i--) {
        const breaks = /\s/.test(data[i - 1]) && !/\s/.test(data[i]) || data.charCodeAt(i) > 0x2e80;
        if (breaks && on(text, i, i + 1)) {
          // Something of the line must be before it.
          const k = data.slice(0, i).search(/\S\s*$/);
          if (k >= 0 && on(text, k, k + 1)) return text.splitText(i);
        }
      }
    }
    return null;
  };

  // textArea is where the text of a page begins, from either side, and how wide it is.
  let textArea;
  const measureArea = () => {
    const s = getComputedStyle(main), left = parseFloat(s.paddingLeft), right = parseFloat(s.paddingRight);
    textArea = { left, right, width: main.getClientRects()[0].width - left - right };
  };
  // indent is how far the content of an element begins behind that of the page, and
  // on which side.
  const indent = (element, page) => {
    const s = getComputedStyle(element), side = s.direction === "rtl" ? "Right" : "Left";
    const r = [...element.getClientRects()].find((r) => pageOf(r) === page);
    if (!r) return { side, start: 0 };
    const column = (page - forgotten) * (width + gap), left = rtl ? origin - column - width : origin + column;
    const edge = side === "Right" ? left + width - r.right - textArea.right : r.left - left - textArea.left;
    return { side, start: edge + parseFloat(s[`border${side}Width`]) + parseFloat(s[`padding${side}`]) };
  };
  // decorated reports whether something around an element is drawn to the end of its page.
  const decorated = (element) => {
    for (let e = element; e && e !== main; e = e.parentElement) {
      const s = getComputedStyle(e);
      if (parseFloat(s.borderLeftWidth) || parseFloat(s.borderRightWidth) || !/^(transparent|rgba\(0, 0, 0, 0\))$/.test(s.backgroundColor)) return true;
    }
    return false;
  };

  // putFoot puts the notes of some links below an item, at the foot of its page, and
  // reports whether they stand there in one piece with nothing beside or below them.
  const putFoot = (item, next, links, content, page) => {
    const foot = make("div"), undone = [];
    foot.className = carried ? "foot foot-continued" : "foot";
    foot.append(...content);
    if (!content.length) foot.classList.add("foot-empty");
    const style = (element, property, value) => {
      element.style[property] = value;
      undone.push(() => {
        element.style[property] = "";
        if (!element.getAttribute("style")) element.removeAttribute("style");
      });
    };
    const inside = item.nodes ? item.element : item.element.parentElement;
    const { side, start } = indent(inside, page);
    let around = inside; // of what is on this page and on the next
    while (around !== main && !around.contains(next?.element ?? null)) around = around.parentElement;
    if (decorated(item.nodes && !item.last ? inside : around)) return false;
    foot.dir = rtl ? "rtl" : "ltr";
    foot.style.width = textArea.width + "px";
    foot.style.height = "0";
    if (Math.abs(start) > 0.5) foot.style[`margin${side}`] = -start + "px";
    if (item.nodes && !item.last) {
      const before = anchor(item);
      if (!before) return false;
      before.parentNode.insertBefore(foot, before);
      undone.push(() => {
        const text = before.previousSibling;
        text.data += before.data;
        before.remove();
      });
    } else {
      if (item.nodes) inside.insertBefore(foot, item.nodes.at(-1).nextSibling);
      else item.element.after(foot);
      let cleared = next?.element;
      while (cleared?.parentElement && !cleared.parentElement.contains(item.element)) cleared = cleared.parentElement;
      if (cleared && !cleared.contains(item.element)) style(cleared, "clear", "both");
    }
    let host = foot; // what is cut at its edges would cut the foot
    while (host.parentElement !== main) host = host.parentElement;
    if (host !== foot) style(host, "overflow", "visible");
    const stands = () => {
      const top = foot.getClientRects()[0];
      const rest = limit - top.top - 1;
      if (pageOf(top) !== page || rest < foot.scrollHeight - 1) return false;
      foot.style.height = rest + "px";
      const [r, ...more] = foot.getClientRects();
      return !more.length && pageOf(r) === page && Math.abs(limit - 1 - r.bottom) < 1 && items(page).every((item) => item.bottom < r.top + 6);
    };
    if (!stands()) {
      foot.remove();
      undone.reverse().forEach((undo) => undo());
      return false;
    }
    for (const link of links) {
      const { li } = notes.get(link);
      leads.set(link.getAttribute("href"), "#foot-" + li.id);
      li.setAttribute("data-placed", "");
      notes.delete(link);
    }
    return true;
  };

  // heights of the notes, in a foot of their own.
  const heights = new Map();
  const footOf = (content) => {
    const probe = make("div");
    probe.className = "foot";
    probe.style.cssText = `position: absolute; float: none; top: 0; width: ${textArea.width}px; height: auto`;
    probe.append(...content);
    root.append(probe);
    return probe;
  };
  const heightOf = (element) => element.getBoundingClientRect().height;
  const measure = () => {
    if (!notes.size) return;
    measureArea();
    const kept = [...notes.keys()].map((link) => [link, noteOf(link)]);
    const probe = footOf(kept.map(([, note]) => note));
    let sum = 0;
    for (const [link, note] of kept) {
      heights.set(link, heightOf(note));
      sum += heightOf(note);
    }
    heights.rest = heightOf(probe) - sum;
    probe.remove();
  };

  // divide ends a note where its room ends, between two lines, and returns the rest;
  // null where fewer than two lines would stand here or there.
  const divide = (note, room) => {
    const { top } = note.getBoundingClientRect(), range = D.createRange.call(document);
    const texts = [], lines = [];
    const walk = (n) => n.nodeType === Node.TEXT_NODE ? texts.push(n) : n.childNodes.forEach(walk);
    walk(note);
    for (const text of texts) {
      const block = text.parentElement.closest("p, li, div, dt, dd, td, th");
      range.selectNodeContents(text);
      for (const r of range.getClientRects()) {
        const middle = (r.top + r.bottom) / 2, l = lines.at(-1);
        if (l && middle > l.top && middle < l.bottom) {
          l.top = Math.min(l.top, r.top);
          l.bottom = Math.max(l.bottom, r.bottom);
        } else {
          lines.push({ top: r.top, bottom: r.bottom, block });
        }
      }
    }
    const over = lines.findIndex((l) => l.bottom - top > room);
    let first = Math.min(over, lines.length - 2); // line of the rest
    // No line of a paragraph of several stands alone on a page.
    const joined = (n) => lines[n]?.block === lines[n + 1]?.block;
    while (first > 1 && joined(first - 1) && !(joined(first - 2) && joined(first))) first--;
    if (first < 2) return null;
    const later = (r) => r && (r.top + r.bottom) / 2 > lines[first].top;
    const text = texts.find((t) => { range.selectNodeContents(t); return later([...range.getClientRects()].at(-1)); });
    let from = 0;
    for (let to = text.length; from < to;) {
      const middle = (from + to) >> 1;
      range.setStart(text, middle);
      range.setEnd(text, text.length);
      if (later(range.getClientRects()[0])) to = middle;
      else from = middle + 1;
    }
    const { data } = text;
    while (from > 0 && !/\s/.test(data[from - 1]) && data.charCodeAt(from) < 0x2e80) from--; // a divided word goes on in one piece
    let node = text, piece;
    for (let e = text.parentElement; e !== note; e = e.parentElement) if (whole.has(e.tagName) || /^(OL|LI)$/.test(e.tagName)) node = e;
    if (node === text && data.slice(0, from).trim()) piece = true;
    else while (node.parentNode !== note && ![...node.parentNode.childNodes].slice(0, [...node.parentNode.childNodes].indexOf(node)).some((n) => n.textContent.trim())) node = node.parentNode;
    if (piece) range.setStart(text, from);
    else range.setStartBefore(node);
    range.setEnd(note, note.childNodes.length);
    const rest = make("div");
    rest.className = "foot-note";
    rest.append(range.extractContents());
    for (let e = rest.firstElementChild; e; e = e.firstElementChild) if (note.querySelector("[id]")) e.removeAttribute("id"); // both halves have it
    const last = note.lastElementChild;
    if (last && rest.firstElementChild?.tagName === last.tagName && getComputedStyle(last).textAlign === "justify") last.style.textAlignLast = "justify";
    return heightOf(note) > 0 ? rest : null;
  };

  // fill returns what stands in a foot with so much room: what the page before left,
  // and notes, of which one may be divided; null where they have no room.
  let carried = null; // the rest of a note
  const fill = (links, room, divides) => {
    let h = heights.rest + (carried ? carried.height : 0);
    for (const link of links) h += heights.get(link);
    const empty = !links.length && !carried;
    if (divides ? empty || h <= room : !empty && h > room) return null;
    const content = carried ? [carried.note.cloneNode(true)] : [];
    content.push(...links.map(noteOf));
    if (!divides) return { content, height: empty ? 0 : h, rest: null };
    const longest = carried && heights.rest + carried.height > room ? content[0] : content.at(-1);
    const probe = footOf(content);
    const note = divide(longest, room - (h - heightOf(longest)));
    probe.replaceChildren(...(note ? [note] : []));
    const rest = note && { note, height: heightOf(note) };
    probe.remove();
    return rest && { content, height: room, rest };
  };

  // leading is what a line has below its letters.
  const leading = (element) => {
    const { lineHeight, fontSize } = getComputedStyle(element);
    return Math.max(0, (parseFloat(lineHeight) - 1.2 * parseFloat(fontSize)) / 2 || 0);
  };

  const footOn = (page, next) => {
    let here = items(page);
    const near = [...notes.keys()].filter((link) => numberOf(link) >= passed && numberOf(link) < shown);
    const on = (item) => near.filter((link) => {
      if (!item.element.contains(link)) return false;
      if (!item.nodes) return true;
      const r = link.getClientRects()[0];
      return r && pageOf(r) === page && (r.top + r.bottom) / 2 > item.top - 4 && (r.top + r.bottom) / 2 < item.bottom + 4;
    });
    let refs = here.map(on);
    if (!carried && !refs.some((r) => r.length)) return false;
    // A note is divided rather than much of the page left white, and that rather than
    // the note at the end of the document.
    for (const [divides, white] of [[false, mostWhite], [true, 1], [false, 1]]) {
      for (let j = here.length - 1; j >= 0; j--) {
        const following = here[j + 1] ?? next();
        if (j < here.length - 1 && together(here[j], here[j + 1])) continue;
        if (!here[j].nodes && !here[j].last) continue;
        const links = [...new Set(refs.slice(0, j + 1).flat())];
        const rest = limit - here[j].bottom - leading(here[j].element);
        if (carried && divides && rest < Math.min(mostNotes * limit, heights.rest + carried.height)) continue; // it shall come to an end
        const filled = fill(links, carried ? rest : Math.min(mostNotes * limit, rest), divides);
        if (!filled) continue;
        if (j < here.length - 1 && rest - filled.height > white * limit) break;
        if (putFoot(here[j], following, links, filled.content, page)) {
          carried = filled.rest;
          return true;
        }
      }
    }
    for (const link of new Set(refs.flat())) notes.delete(link); // they stay at the end
    return false;
  };

  // Pictures.
  const pictureIn = (item) => {
    const e = item.element;
    if (!e.matches(".diagram, figure, img, p, svg, div")) return null;
    const found = e.matches("img, svg") ? [e] : [...e.querySelectorAll("img, .diagram > svg")];
    return found.length === 1 && found[0].getBoundingClientRect().height > 60 ? found[0] : null;
  };
  let shrunk = 0;
  const shrinkOnto = (page) => {
    const here = items(page), there = items(page + 1);
    if (!here.length || !there.length) return false;
    const room = limit - here.at(-1).bottom;
    if (room < height * 0.12) return false;
    let n = 0;
    while (n + 1 < there.length && together(there[n], there[n + 1])) n++;
    const picture = pictureIn(there[n]);
    if (!picture || n && there.slice(0, n).some(pictureIn)) return false;
    const margin = parseFloat(getComputedStyle(there[0].element).marginTop) || 0;
    const lower = parseFloat(getComputedStyle(here.at(-1).element).marginBottom) || 0;
    const after = parseFloat(getComputedStyle(there[n].element).marginBottom) || 0; // a page break behind it has its place, too
    const needed = there[n].bottom - there[0].top + Math.max(margin, lower) + after + 8;
    const r = picture.getBoundingClientRect();
    const to = r.height - (needed - room);
    if (to < r.height * smallest || to >= r.height) return false;
    const old = picture.getAttribute("style");
    picture.style.maxHeight = to + "px";
    picture.style.width = "auto";
    if (picture.tagName === "IMG") picture.style.height = "auto";
    if (pageOf(picture.getBoundingClientRect()) === page) { shrunk++; return true; }
    old === null ? picture.removeAttribute("style") : picture.setAttribute("style", old);
    return false;
  };

  if (section) {
    section.classList.add("waiting");
    const end = make("div"); // main ends below its last foot
    end.style.clear = "both";
    section.before(end);
  }
  for (const b of blocks) b.classList.add("waiting");
  origin = rtl ? body.getBoundingClientRect().right : body.getBoundingClientRect().left;
  blocks[0]?.classList.remove("waiting");
  const start = top + main.getClientRects()[0].top; // of the text on a page
  if (section) blocks.splice(blocks.indexOf(section), 1);
  force(blocks);
  measure();
  blocks.forEach((b, n) => numbers.set(b, n));
  const elements = large ? [...pictures, ...all("main .diagram")] : [];
  wanted = [...new Set([...notes.keys(), ...elements].map(numberOf))].filter((n) => n !== undefined).sort((a, b) => a - b);
  let placed = 0;
  for (let page = 0; ; page++) {
    reveal(page);
    for (let r; passed < shown && (r = lastRect(blocks[passed]), !r || pageOf(r) < page);) passed++;
    if (passed < shown && lastRect(blocks[passed])) forget();
    while (wanted[0] < passed) wanted.shift();
    if (!carried && !wanted.length) break;
    if (!carried && !(wanted[0] < shown)) {
      const r = lastRect(blocks[shown - 1]);
      if (r) page = Math.max(page, pageOf(r) - 2);
      continue;
    }
    while (large && shrinkOnto(page)) reveal(page);
    if ((notes.size || carried) && footOn(page, () => items(page + 1)[0])) placed++;
    if (shown < blocks.length) continue;
    const end = Math.max(...blocks.slice(0, shown).slice(-12).map((b) => lastRect(b)).filter(Boolean).map(pageOf), 0);
    if (page >= end) break;
  }
  if (carried) { // no page is left for it
    const foot = make("div");
    foot.className = "foot foot-continued foot-last";
    foot.append(carried.note);
    section.before(foot);
  }
  for (const link of all("a.footnote-ref")) {
    const to = leads.get(link.getAttribute("href"));
    if (to) link.setAttribute("href", to);
  }
  if (section) {
    section.classList.remove("waiting");
    all("li[data-placed]").forEach((li) => li.remove());
    const left = all("main > .footnotes > ol > li");
    if (!left.length) section.remove();
    else left.forEach((li) => li.setAttribute("value", li.value || list.indexOf(li) + 1));
  }
  all(".waiting").forEach((e) => e.classList.remove("waiting"));
  strut.remove();
  undo.forEach((u) => u());
  return { placed, shrunk };
})
