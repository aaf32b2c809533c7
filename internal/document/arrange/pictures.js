const leastGap = 0.12; // of a page, for a picture to be made smaller

// shrinkPicture makes the first picture of the next page smaller where it then fits on
// the rest of this page, with what goes before it, and reports whether it did.
function shrinkPicture(pages, page, smallest) {
  const here = itemsOn(pages, page), there = itemsOn(pages, page + 1);
  if (!here.length || !there.length) return false;
  const room = pages.limit - here.at(-1).bottom;
  if (room < pages.height * leastGap) return false;
  let n = 0; // of the item with the picture
  while (n + 1 < there.length && together(there[n], there[n + 1])) n++;
  const picture = pictureIn(there[n]);
  if (!picture || there.slice(0, n).some(pictureIn)) return false;
  const margin = (item, side) => pixels(getComputedStyle(item.element)[`margin${side}`]);
  const between = Math.max(margin(there[0], "Top"), margin(here.at(-1), "Bottom"));
  const after = margin(there[n], "Bottom"); // a page break behind it has its place, too
  const needed = there[n].bottom - there[0].top + between + after + 8;
  const height = heightOf(picture), to = height - (needed - room);
  if (to < height * smallest || to >= height) return false;
  const changes = new Changes();
  changes.style(picture, "maxHeight", to + "px");
  changes.style(picture, "width", "auto");
  if (picture.tagName === "IMG") changes.style(picture, "height", "auto");
  if (pages.pageOf(picture.getBoundingClientRect()) === page) return true;
  changes.undo();
  return false;
}

// pictureIn is the only picture of an item, or null.
function pictureIn({ element }) {
  if (!element.matches(".diagram, figure, img, p, svg, div")) return null;
  const found = element.matches("img, svg") ? [element] : [...element.querySelectorAll("img, .diagram > svg")];
  return found.length === 1 && heightOf(found[0]) > 60 ? found[0] : null;
}
