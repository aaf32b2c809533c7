// Arranges what Chromium's own page breaks cannot: footnotes at the foot of the
// page that refers to them, and pictures a little smaller where they then fit on
// the rest of a page.
//
// The document is laid out as columns as large as a page's area, which break where
// pages do, and is gone through page by page. What follows a page is not laid out
// until its turn, so that the work grows with the document and no faster.
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
    body > :not(main) { display: none }
    .waiting { display: none !important }`;
  all("head")[0].append(sheet);
  const undo = [() => sheet.remove()];
  const forced = (element) => {
    const style = getComputedStyle(element);
    for (const side of ["breakBefore", "breakAfter"]) {
      const old = element.style[side];
      if (["page", "left", "right", "recto", "verso"].includes(style[side])) {
        element.style[side] = "column";
        undo.push(() => { element.style[side] = old; });
      }
    }
    if (style.page !== "auto") { // a page of its own kind
      const old = element.getAttribute("style");
      element.style.breakBefore = element.style.breakAfter = "column";
      undo.push(() => { old === null ? element.removeAttribute("style") : element.setAttribute("style", old); });
    }
  };

  // Places: the page of a rectangle, and where it is on that page.
  let origin, forgotten = 0; // pages that are not laid out any more
  const pageOf = (r) => forgotten + Math.floor((rtl ? origin - r.right : r.left - origin) / (width + gap) + 0.001);
  const limit = height - bottom;

  // reveal lays out so many blocks that something is on the page after this one.
  const blocks = [...main.children];
  let shown = 0, passed = 0; // blocks laid out, blocks before the page
  const reveal = (page) => {
    while (shown < blocks.length) {
      const r = shown && lastRect(blocks[shown - 1]);
      if (r && pageOf(r) > page + 1) return;
      for (let n = 0; n < 8 && shown < blocks.length; n++, shown++) {
        forced(blocks[shown]);
        blocks[shown].classList.remove("waiting");
        if (!blocks[shown].classList.length) blocks[shown].removeAttribute("class");
      }
    }
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
    const before = [...main.children]; // feet among them
    const hidden = before.slice(0, before.indexOf(blocks[passed])).filter((b) => b !== strut && !b.classList.contains("waiting"));
    const was = [forgotten, strut.style.cssText];
    for (const b of hidden) b.classList.add("waiting");
    forgotten = page;
    strut.style.cssText = `height: ${Math.max(0, old.top - start)}px`;
    main.prepend(strut);
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
        if (child.classList.contains("foot")) continue;
        lines();
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
  const mostNotes = 0.6, longestNote = 0.4; // of a page
  const list = wantsNotes ? all("main > .footnotes > ol > li[id]") : [];
  const section = list.length ? list[0].closest(".footnotes") : null;
  const notes = new Map();
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

  // textArea is where the text of a page begins, from the start side, and how wide it is.
  let textArea;
  const measureArea = () => {
    const s = getComputedStyle(main), left = parseFloat(s.paddingLeft), right = parseFloat(s.paddingRight);
    textArea = { left: rtl ? right : left, width: main.getClientRects()[0].width - left - right };
  };
  // indent is how far the content of an element begins behind that of the page.
  const indent = (element, page) => {
    const s = getComputedStyle(element);
    const r = [...element.getClientRects()].find((r) => pageOf(r) === page);
    if (!r) return 0;
    const edge = rtl ? origin - (page - forgotten) * (width + gap) - r.right : r.left - origin - (page - forgotten) * (width + gap);
    return edge + parseFloat(s.borderInlineStartWidth) + parseFloat(s.paddingInlineStart) - textArea.left;
  };

  // putFoot puts the notes of some links below an item, at the foot of its page, and
  // reports whether they stand there in one piece with nothing beside or below them.
  const putFoot = (item, next, links, page) => {
    const foot = make("div"), undone = [];
    foot.className = "foot";
    if (links.length) foot.append(...links.map(noteOf));
    else foot.classList.add("foot-empty");
    const style = (element, property, value) => {
      element.style[property] = value;
      undone.push(() => {
        element.style[property] = "";
        if (!element.getAttribute("style")) element.removeAttribute("style");
      });
    };
    const inside = item.nodes ? item.element : item.element.parentElement;
    const start = indent(inside, page);
    foot.style.width = textArea.width + "px";
    foot.style.height = "0";
    if (Math.abs(start) > 0.5) foot.style.marginInlineStart = -start + "px";
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
      for (const l of all("a.footnote-ref")) if (l.getAttribute("href") === link.getAttribute("href") && l !== link) l.setAttribute("href", "#foot-" + li.id);
      link.setAttribute("href", "#foot-" + li.id);
      li.setAttribute("data-placed", "");
      notes.delete(link);
    }
    return true;
  };

  // heights of the notes, in a foot of their own.
  const heights = new Map();
  const measure = () => {
    if (!notes.size) return;
    measureArea();
    const probe = make("div");
    probe.className = "foot";
    probe.style.cssText = `position: absolute; float: none; top: 0; width: ${textArea.width}px; height: auto`;
    const kept = [...notes.keys()].map((link) => [link, noteOf(link)]);
    probe.append(...kept.map(([, note]) => note));
    root.append(probe);
    let sum = 0;
    for (const [link, note] of kept) {
      const h = note.getBoundingClientRect().height;
      heights.set(link, h);
      sum += h;
      if (h > longestNote * limit) notes.delete(link); // it stays at the end
    }
    heights.rest = probe.getBoundingClientRect().height - sum;
    probe.remove();
  };

  // leading is what a line has below its letters.
  const leading = (element) => {
    const { lineHeight, fontSize } = getComputedStyle(element);
    return Math.max(0, (parseFloat(lineHeight) - 1.2 * parseFloat(fontSize)) / 2 || 0);
  };

  const footOn = (page, next) => {
    let here = items(page);
    const on = (item) => [...notes.keys()].filter((link) => {
      if (!item.element.contains(link)) return false;
      if (!item.nodes) return true;
      const r = link.getClientRects()[0];
      return r && pageOf(r) === page && (r.top + r.bottom) / 2 > item.top - 4 && (r.top + r.bottom) / 2 < item.bottom + 4;
    });
    let refs = here.map(on);
    if (!refs.some((r) => r.length)) return false;
    for (let j = here.length - 1; j >= 0; j--) {
      const following = here[j + 1] ?? next();
      if (j < here.length - 1 && together(here[j], here[j + 1])) continue;
      if (!here[j].nodes && !here[j].last) continue;
      const links = [...new Set(refs.slice(0, j + 1).flat())];
      let h = heights.rest;
      for (const link of links) h += heights.get(link);
      if (links.length && (h > mostNotes * limit || here[j].bottom + leading(here[j].element) + h > limit)) continue;
      if (putFoot(here[j], following, links, page)) return true;
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
  measure();
  let placed = 0;
  for (let page = 0; ; page++) {
    reveal(page);
    for (let r; passed < shown && (r = lastRect(blocks[passed]), !r || pageOf(r) < page);) passed++;
    if (passed < shown && lastRect(blocks[passed])) forget();
    while (large && shrinkOnto(page)) reveal(page);
    if (notes.size && footOn(page, () => items(page + 1)[0])) placed++;
    if (shown < blocks.length) continue;
    const end = Math.max(...blocks.slice(0, shown).slice(-12).map((b) => lastRect(b)).filter(Boolean).map(pageOf), 0);
    if (page >= end) break;
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
