// Pages lays the document out as columns as large as a page's area, which break where
// pages do. What follows a page is not laid out until its turn, and what is before it no
// longer, so that the work grows with the document and no faster.
//
// With a text in two columns, each column of a sheet counts as a page.
class Pages {
  static #few = 8; // blocks laid out at once
  static #many = 256; // blocks laid out at once that nothing is wanted of

  #changes = new Changes();
  #origin; // where the first column begins
  #start; // of the text on a page
  #strut = make("div"); // stands for what is not laid out any more
  #forgetAt = 0; // the page from which on to forget again
  #failures = 0; // to forget, in a row
  #forgotten = 0; // pages that are not laid out any more
  #numbers = new Map(); // of the blocks

  // Pages lays out the beginning of the document. The section of notes is left out: its
  // notes go elsewhere.
  constructor({ width, height, top, bottom, gap, between = 0 }, section) {
    [this.main] = all("body > main");
    Object.assign(this, { width, height, gap, between, perSheet: between ? 2 : 1, limit: height - bottom });
    this.rtl = getComputedStyle(this.main).direction === "rtl";
    this.#makeColumns();
    this.blocks = [...this.main.children];
    this.shown = this.passed = 0; // blocks laid out, blocks before the page
    this.wanted = []; // numbers of blocks that have notes or pictures
    if (section) {
      const end = make("div"); // main ends below its last foot
      end.style.clear = "both";
      section.before(end);
    }
    for (const block of this.blocks) block.classList.add("waiting");
    const body = all("body")[0].getBoundingClientRect();
    this.#origin = this.rtl ? body.right : body.left;
    this.blocks[0]?.classList.remove("waiting");
    this.#start = top + firstRect(this.main).top;
    this.blocks = this.blocks.filter((block) => block !== section);
    this.blocks.forEach((block, n) => this.#numbers.set(block, n));
    this.#forceBreaks();
    this.text = this.#textArea();
  }

  #makeColumns() {
    const sheet = make("style");
    sheet.textContent = `html { margin: 0; width: auto }
      body { display: block !important; position: absolute; top: 0; ${this.rtl ? "right" : "left"}: 0; margin: 0; padding: 0; max-width: none;
        width: ${this.width}px; height: ${this.height}px; columns: 1; column-gap: ${this.gap}px; column-fill: auto }
      body > :not(main) { display: none !important }
      .waiting { display: none !important }`;
    all("head")[0].append(sheet);
    this.#changes.add(() => sheet.remove());
  }

  // forceBreaks makes breaks of pages breaks of columns. All styles are read before the
  // first is written: each that is read after a change has the browser go through all
  // elements.
  #forceBreaks() {
    const forced = [];
    for (const block of this.blocks) {
      const style = getComputedStyle(block), ownPage = style.page !== "auto";
      for (const side of ["breakBefore", "breakAfter"]) {
        if (ownPage || ["page", "left", "right", "recto", "verso"].includes(style[side])) forced.push([block, side]);
      }
    }
    for (const [block, side] of forced) this.#changes.style(block, side, "column");
  }

  // textArea is how far from either side of a page its text begins, and how wide it is.
  #textArea() {
    const style = getComputedStyle(this.main), left = pixels(style.paddingLeft), right = pixels(style.paddingRight);
    const width = (firstRect(this.main).width - left - right - this.between) / this.perSheet;
    return { left, right, width };
  }

  // pageOf is the page of a rectangle.
  pageOf(rect) {
    const from = this.rtl ? this.#origin - rect.right : rect.left - this.#origin;
    const sheet = Math.floor(from / (this.width + this.gap) + 0.001);
    if (this.perSheet === 1) return this.#forgotten + sheet;
    return this.#forgotten + 2 * sheet + (from - sheet * (this.width + this.gap) > this.width / 2 - 1 ? 1 : 0);
  }

  // columnStart is how far from the origin the text area of a page begins.
  #columnStart(page) {
    const sheet = Math.floor((page - this.#forgotten) / this.perSheet), column = page % this.perSheet;
    return sheet * (this.width + this.gap) + column * (this.text.width + this.between);
  }

  // lastPage is the last one laid out. The last blocks may have no place of their own.
  lastPage() {
    const rects = this.blocks.slice(Math.max(0, this.shown - 12), this.shown).map(lastRect).filter(Boolean);
    return Math.max(0, ...rects.map((rect) => this.pageOf(rect)));
  }

  // numberOf is the number of the block that an element is in.
  numberOf(element) {
    while (element.parentElement !== this.main) element = element.parentElement;
    return this.#numbers.get(element);
  }

  // laidOut are the blocks that are on the page or after it.
  laidOut() { return this.blocks.slice(this.passed, this.shown); }

  // want has the pages of some elements not passed over.
  want(elements) {
    const numbers = elements.map((element) => this.numberOf(element)).filter((n) => n !== undefined);
    this.wanted = [...new Set(numbers)].sort((a, b) => a - b);
  }

  // reveal lays out so many blocks that something is on the sheet after this page.
  reveal(page) {
    const last = page + this.perSheet - 1 - page % this.perSheet;
    while (this.shown < this.blocks.length) {
      const rect = this.shown && lastRect(this.blocks[this.shown - 1]);
      if (rect && this.pageOf(rect) > last + 1) return;
      const next = this.wanted.find((n) => n >= this.shown) ?? 0;
      const until = Math.max(this.shown + Pages.#few, Math.min(this.shown + Pages.#many, next));
      for (const block of this.blocks.slice(this.shown, until)) removeClass(block, "waiting");
      this.shown = Math.min(this.blocks.length, until);
    }
  }

  // endSheet moves breaks from the first column of a sheet to the second one, where they end the sheet.
  endSheet(breaks, page) {
    if (page % this.perSheet === this.perSheet - 1) return;
    for (const block of breaks) {
      const rect = firstRect(block);
      if (!rect || this.pageOf(rect) !== page) continue;
      block.before(make("div")); // directly below what spans both columns, a break before would do nothing
      block.style.breakBefore = "column";
    }
  }

  // pass goes on to a page.
  pass(page) {
    const first = page - page % this.perSheet, before = (rect) => !rect || this.pageOf(rect) < first;
    while (this.passed < this.shown && before(lastRect(this.blocks[this.passed]))) this.passed++;
    if (this.passed < this.shown) this.#forget();
    while (this.wanted[0] < this.passed) this.wanted.shift();
  }

  // forget leaves out of the layout what ends before a page, and puts a strut in its
  // place: the page that the first other block begins on stays as it is, and what follows.
  #forget() {
    const first = this.blocks[this.passed], old = firstRect(first), page = this.pageOf(old), strut = this.#strut;
    if (page < this.#forgetAt || page - this.#forgotten < 3 * this.perSheet) return;
    const last = this.blocks[this.shown - 1], end = lastRect(last), endPage = end && this.pageOf(end);
    const hidden = []; // feet among them
    for (let b = first.previousElementSibling; b && b !== strut && !b.classList.contains("waiting"); b = b.previousElementSibling) hidden.push(b);
    const was = [this.#forgotten, strut.style.marginBottom, [...strut.children]];
    for (const b of hidden) b.classList.add("waiting");
    const column = page % this.perSheet;
    this.#forgotten = page - column;
    strut.replaceChildren(...Array.from({ length: column + 1 }, () => make("div")));
    if (column) strut.firstChild.style.breakAfter = "column";
    strut.lastChild.style.height = Math.max(0, old.top - this.#start) + "px";
    strut.style.marginBottom = "0";
    if (!strut.parentNode) this.main.prepend(strut);
    const moved = () => firstRect(first).top - old.top;
    strut.style.marginBottom = -moved() + "px";
    const now = end && lastRect(last);
    const stays = Math.abs(moved()) < 0.1 && this.pageOf(firstRect(first)) === page &&
      (!end || Math.abs(now.bottom - end.bottom) < 0.1 && this.pageOf(now) === endPage);
    this.#failures = stays ? 0 : this.#failures + 1;
    if (!stays) {
      for (const b of hidden) b.classList.remove("waiting");
      [this.#forgotten, strut.style.marginBottom] = was;
      strut.replaceChildren(...was[2]);
      if (!was[2].length) strut.remove(); // the title is the first child again
      this.#forgetAt = page + this.perSheet * 2 ** this.#failures;
    }
  }

  // indent is how far the content of an element begins behind that of its page, and on
  // which side.
  indent(element, page) {
    const style = getComputedStyle(element), side = style.direction === "rtl" ? "Right" : "Left";
    const rect = [...element.getClientRects()].find((r) => this.pageOf(r) === page);
    if (!rect) return { side, by: 0 };
    const start = this.#columnStart(page), { left, right, width } = this.text;
    const begin = this.rtl ? this.#origin - start - right - width : this.#origin + start + left;
    const edge = side === "Right" ? begin + width - rect.right : rect.left - begin;
    return { side, by: edge + parseFloat(style[`border${side}Width`]) + parseFloat(style[`padding${side}`]) };
  }

  // restore has the document laid out as it was.
  restore() {
    for (const element of all(".waiting")) element.classList.remove("waiting");
    this.#strut.remove();
    this.#changes.undo();
  }
}
