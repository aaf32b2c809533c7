(() => {
  // A slide keeps at least this share of its size if its content can continue on another slide, and at least the
  // other if it cannot. Large pictures become smaller first.
  const legible = .8, smallest = .5, smallPicture = .6, step = .04;
  // How many further slides a document may still get. Each takes a layout of all that follows.
  let left = 200;
  const rect = element => element.getBoundingClientRect();
  const containers = "ul, ol, dl, li, dd, blockquote, details, .alert, figure.code-figure, .footnotes, .slide-fit";

  // rest takes everything from a node of box to its end. It returns a copy of box with that.
  const rest = (box, from) => {
    const range = document.createRange(), copy = box.cloneNode(false);
    range.setStartBefore(from);
    range.setEnd(box, box.childNodes.length);
    copy.removeAttribute("id");
    copy.append(range.extractContents());
    return copy;
  };
  // introduces reports whether a block belongs to the one after it.
  const introduces = block => block.matches("h1, h2, h3, h4, h5, h6, dt, summary, figcaption, .alert-title, hr") ||
    block.matches("p") && /[:：]\s*$/.test(block.textContent);

  // These take what is below a line out of a block, and return it as another block, or null if nothing would stay.
  const divideTable = (table, bottom) => {
    const row = [...table.rows].filter(r => r.closest("tbody")).slice(1).find(r => rect(r).bottom > bottom);
    if (!row || table.querySelector("[rowspan]") || rect(row.previousElementSibling || row).bottom > bottom) return null;
    const copy = rest(table, row);
    copy.prepend(...[...table.children].filter(c => c.matches("colgroup, thead")).map(c => c.cloneNode(true)));
    return copy;
  };
  const divideCode = (pre, bottom) => {
    const code = pre.firstElementChild;
    if (!code || !code.matches("code")) return null;
    const ends = [], range = document.createRange(); // the ends of lines: a text and an offset in it
    const texts = document.createTreeWalker(code, NodeFilter.SHOW_TEXT);
    for (let text; (text = texts.nextNode()); )
      for (const newline of text.data.matchAll(/\n/g)) ends.push([text, newline.index]);
    let lines = 0, most = ends.length; // those that fit
    while (lines < most) {
      const middle = lines + most >> 1;
      range.setStart(code, 0);
      range.setEnd(...ends[middle]);
      if (rect(range).bottom > bottom) most = middle; else lines = middle + 1;
    }
    if (lines < 2 || lines > ends.length - 2) return null;

    let [last, offset] = ends[lines - 1];
    if (offset + 1 < last.length) range.setStart(last, offset + 1);
    else {
      while (last.parentNode !== code && last === last.parentNode.lastChild) last = last.parentNode;
      range.setStartAfter(last);
    }
    range.setEnd(code, code.childNodes.length);
    const copy = pre.cloneNode(false), more = code.cloneNode(false);
    copy.removeAttribute("id");
    more.append(range.extractContents());
    more.style.counterReset = "line " + (lines + (parseInt(code.style.counterReset.replace("line", "")) || 0));
    copy.append(more);
    return copy;
  };
  const divide = (box, bottom, room) => {
    const end = box.lastElementChild;
    if (!end) return null;
    const style = getComputedStyle(box);
    bottom -= parseFloat(style.paddingBottom) + parseFloat(style.borderBottomWidth);
    if (box.matches("table")) return divideTable(box, bottom);
    if (box.matches("pre")) return divideCode(box, bottom);
    if (!box.matches(containers)) return null;
    const children = [...box.children], at = children.findIndex(c => rect(c).bottom > bottom);
    if (at < 0 || getComputedStyle(children[at]).display.startsWith("inline")) return null;

    const child = children[at], before = children.slice(0, at);
    while (before.length && introduces(before.at(-1))) before.pop();
    // Code and tables that fit on a slide stay whole.
    const whole = before.length && child.matches("pre, table, figure") && rect(child).height <= room;
    const part = whole ? null : divide(child, bottom, room);
    let copy = null;
    if (part) {
      child.after(part);
      copy = rest(box, part);
    } else if (before.length) {
      copy = rest(box, children[before.length]);
    } else if (box.matches(".slide-fit") && at + 1 < children.length) {
      copy = rest(box, children[at + 1]); // the first block is too large, and becomes smaller
    }
    if (copy && box.matches("ol")) copy.start = box.start + box.children.length - (part ? 1 : 0);
    if (copy && part && part.matches("li")) part.style.listStyle = "none";
    return copy;
  };

  // settle makes the content of a slide fit. It returns the slide that continues it, or null.
  const settle = slide => {
    const area = slide.querySelector(".slide-body"), text = area && area.querySelector(".slide-fit");
    if (!text || slide.matches(".slide-full")) return null;
    const isNarrow = () => text.scrollWidth <= area.clientWidth + 1;
    const fits = () => slide.scrollHeight <= slide.clientHeight + 1 && text.scrollHeight <= area.clientHeight + 1 && isNarrow();
    // shrink makes the text, or the pictures, as small as it takes to pass the test, down to a share. It reports
    // whether that passes; if not, the smallest size stays. Each test takes a layout.
    const shrink = (least, passes, property = "--fit") => {
      const set = steps => area.style.setProperty(property, (1 - steps * step).toFixed(2));
      let large = 0, small = Math.ceil((1 - least) / step - .01);
      set(small);
      if (!passes()) return false;
      while (small - large > 1) {
        const middle = large + small >> 1;
        set(middle);
        if (passes()) small = middle; else large = middle;
      }
      set(small);
      return true;
    };
    if (fits()) return null;
    const style = getComputedStyle(slide), head = slide.querySelector(":scope > .slide-head");
    const margins = head ? getComputedStyle(head) : {marginTop: "0", marginBottom: "0"};
    const room = slide.clientHeight - parseFloat(style.paddingTop) - parseFloat(style.paddingBottom) -
      (head ? head.offsetHeight + parseFloat(margins.marginTop) + parseFloat(margins.marginBottom) : 0);
    // A text of twice the height is too long at 80 %, too.
    const isWide = !isNarrow(), pictures = text.querySelector("img, .diagram > svg");
    if (text.scrollHeight < 2 * room) {
      if (pictures && shrink(smallPicture, fits, "--picture")) return null;
      if (shrink(legible, fits)) return null;
    }

    area.removeAttribute("style");
    if (isWide && shrink(smallest, isNarrow) && fits()) return null;
    let next = null;
    if (text.scrollHeight < left * room && slide.matches(".slide-content, .slide-code, .slide-table")) {
      const more = divide(text, rect(text).top + room, room);
      if (more) {
        left--;
        next = slide.cloneNode(true);
        next.querySelector(".slide-fit").replaceWith(more);
        next.querySelector(".slide-body").removeAttribute("style");
        for (const named of [next, ...next.querySelectorAll(".slide-head [id], .slide-bg [id]")]) named.removeAttribute("id");
        slide.after(next);
      }
    }
    if (!fits() && pictures) area.style.setProperty("--picture", smallPicture);
    if (!fits() && !shrink(smallest, fits)) {
      // More than a slide holds goes on on another page.
      Object.assign(slide.style, {height: "auto", breakInside: "auto", overflow: "visible"});
      area.style.flex = "none";
    }
    return next;
  };

  for (const first of document.querySelectorAll(".slide")) {
    const parts = [first];
    for (let next; (next = settle(parts.at(-1))); ) parts.push(next);
    parts.slice(1).forEach((part, i) => {
      const heading = part.querySelector(".slide-head > :last-child");
      if (!heading) return;
      const mark = document.createElement("small");
      mark.textContent = `${i + 2}/${parts.length}`;
      mark.style.cssText = "margin-inline-start: .7em; font-size: .55em; font-weight: 400";
      heading.append(mark);
      heading.role = "presentation"; // the outline has it once
    });
  }
})()
