// arrange does what Chromium's own page breaks cannot: it puts footnotes at the foot of
// the page that refers to them, continued on the next where they are longer than their
// room, and makes pictures a little smaller where they then fit on the rest of a page.
//
// The document is laid out as columns as large as a page's area (Pages), and is gone
// through page by page. Pages that have neither notes nor pictures are passed over.
//
// Nothing here trusts a property of the document that the name of an element in it
// could hide.
//
// atEnd are ids of notes that stay at the end of the document.
async function arrange(settings, atEnd) {
  const pictures = all("main img");
  await Promise.all(pictures.map((picture) => picture.decode().catch(() => {})));
  const large = pictures.some((picture) => picture.naturalHeight > 120) || all("main .diagram").length > 0;
  const breaks = settings.between ? all("main > .page-break") : [];
  if (!large && !settings.notes && !breaks.length) return null;

  if (settings.notes) gatherNotes();
  const notes = new Notes(settings.notes ? all("main > .footnotes > ol > li[id]") : [], atEnd);
  const pages = new Pages(settings, notes.section);
  notes.measure(pages);
  pages.want([...notes.pending.keys(), ...breaks, ...(large ? [...pictures, ...all("main .diagram")] : [])]);
  const done = { placed: 0, shrunk: 0 };
  for (let page = 0; ; page++) {
    pages.reveal(page);
    pages.pass(page);
    if (!notes.carried) {
      if (!pages.wanted.length) break;
      if (pages.wanted[0] >= pages.shown) {
        page = Math.max(page, pages.lastPage() - 2);
        continue;
      }
    }
    while (large && shrinkPicture(pages, page, settings.smallest)) {
      done.shrunk++;
      pages.reveal(page);
    }
    if (notes.unplaced() && placeFoot(pages, notes, page)) done.placed++;
    pages.endSheet(breaks, page);
    if (pages.shown === pages.blocks.length && page >= pages.lastPage()) break;
  }
  notes.finish();
  pages.restore();
  return done;
}
