// gatherNotes moves the notes of all parts of a merged document to the end of the last list, and
// that to the end of the document. Each part counts its own notes, so each note keeps its number.
function gatherNotes() {
  const lists = all("main > .footnotes > ol");
  if (lists.length < 2) return;
  for (const list of lists) [...list.children].forEach((li, n) => li.setAttribute("value", n + 1));
  const last = lists.pop();
  last.prepend(...lists.flatMap((list) => [...list.children]));
  for (const list of lists) list.parentElement.remove();
  last.closest("main").append(last.parentElement);
}

// Notes are the footnotes of the document, which come as a list at its end.
class Notes {
  #list;
  #leads = new Map(); // where links lead now, by where they led
  #heights = new Map(); // of the notes, by their links
  #frame = 0; // height of a foot without its notes

  pending = new Map(); // notes to be placed, by the first link to each
  carried = null; // the rest of a note that the page before had no room for, and its height

  constructor(list, atEnd) {
    this.#list = list;
    this.section = list[0]?.closest(".footnotes") ?? null;
    const links = new Map();
    for (const link of list.length ? all("main a.footnote-ref") : []) {
      const href = link.getAttribute("href");
      if (!links.has(href)) links.set(href, link);
    }
    list.forEach((li, n) => {
      const link = links.get("#" + encodeURI(li.id)) ?? links.get("#" + li.id);
      if (link && !this.section.contains(link) && !atEnd.includes(li.id)) this.pending.set(link, { li, number: li.value || n + 1 });
    });
  }

  unplaced() { return this.pending.size > 0 || this.carried !== null; }

  // noteOf makes the note that stands at the foot of a page.
  noteOf(link) {
    const { li, number } = this.pending.get(link);
    const note = make("div");
    note.className = "foot-note";
    note.setAttribute("role", "article"); // Chromium tags no other role so that package file knows it
    const back = li.querySelector("a.footnote-backref")?.cloneNode() ?? make("a");
    back.textContent = number + "";
    back.className = "foot-number";
    note.append(...li.cloneNode(true).childNodes);
    for (const a of note.querySelectorAll("a.footnote-backref")) {
      if (a.previousSibling && isText(a.previousSibling)) a.previousSibling.data = a.previousSibling.data.trimEnd();
      a.remove();
    }
    (note.querySelector("p") ?? note).prepend(back);
    note.id = "foot-" + li.id;
    return note;
  }

  // measure takes the heights of the notes, in a foot of their own.
  measure(pages) {
    if (!this.pending.size) return;
    const notes = new Map([...this.pending.keys()].map((link) => [link, this.noteOf(link)]));
    const probe = makeProbe(pages, [...notes.values()]);
    this.#frame = heightOf(probe);
    for (const [link, note] of notes) {
      this.#heights.set(link, heightOf(note));
      this.#frame -= heightOf(note);
    }
    probe.remove();
  }

  // carriedHeight is that of a foot with nothing but what the page before left.
  carriedHeight() { return this.carried ? this.#frame + this.carried.height : 0; }

  #heightWith(links) {
    return links.reduce((sum, link) => sum + this.#heights.get(link), this.#frame + (this.carried?.height ?? 0));
  }

  #contentWith(links) {
    const notes = links.map((link) => this.noteOf(link));
    return this.carried ? [this.carried.note.cloneNode(true), ...notes] : notes;
  }

  // fillWhole is what stands in a foot that ends each of its notes: what the page before
  // left, and the notes of some links; null where these have no room.
  fillWhole(links, room) {
    if (!links.length && !this.carried) return { content: [], height: 0, rest: null };
    const height = this.#heightWith(links);
    return height > room ? null : { content: this.#contentWith(links), height, rest: null };
  }

  // fillDivided is the same with one note that goes on on the next page; null where none
  // has to, or none can be divided.
  fillDivided(links, room, pages) {
    const height = this.#heightWith(links), content = this.#contentWith(links);
    if (!content.length || height <= room) return null;
    const divided = this.carriedHeight() > room ? content[0] : content.at(-1);
    const probe = makeProbe(pages, content);
    const note = divideNote(divided, room - (height - heightOf(divided)));
    probe.replaceChildren(...(note ? [note] : []));
    const rest = note && { note, height: heightOf(note) };
    probe.remove();
    return rest && { content, height: room, rest };
  }

  // placed notes that the notes of some links stand at the foot of a page, and what is
  // left for the next.
  placed(links, rest) {
    for (const link of links) {
      const { li } = this.pending.get(link);
      this.#leads.set(link.getAttribute("href"), "#foot-" + li.id);
      li.setAttribute("data-placed", "");
      this.pending.delete(link);
    }
    this.carried = rest;
  }

  // leave leaves notes at the end of the document.
  leave(links) { for (const link of links) this.pending.delete(link); }

  // finish has links lead to where the notes are now, and leaves the others at the end.
  finish() {
    if (this.carried) { // no page is left for it
      const foot = make("div");
      foot.className = "foot foot-continued foot-last";
      foot.append(this.carried.note);
      this.section.before(foot);
    }
    for (const link of all("a.footnote-ref")) {
      const to = this.#leads.get(link.getAttribute("href"));
      if (to) link.setAttribute("href", to);
    }
    if (!this.section) return;
    for (const li of all("li[data-placed]")) li.remove();
    const left = all("main > .footnotes > ol > li");
    if (!left.length) this.section.remove();
    for (const li of left) li.setAttribute("value", li.value || this.#list.indexOf(li) + 1);
  }
}

// makeProbe makes a foot to measure what it holds.
function makeProbe(pages, content) {
  const probe = make("div");
  probe.className = "foot";
  probe.style.cssText = `position: absolute; float: none; top: 0; width: ${pages.text.width}px; height: auto`;
  probe.append(...content);
  all("html")[0].append(probe);
  return probe;
}
