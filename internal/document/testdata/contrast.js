// Returns how many texts of a page were checked, and a line for each kind of text whose contrast is below WCAG AA.
// ground is the colour of the pages, cover that of a cover.
(ground, cover) => {
  const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
  // over returns the colours, painted on each other, as sRGB bytes.
  const over = colors => {
    for (const c of colors) {
      canvas.fillStyle = c;
      canvas.fillRect(0, 0, 1, 1);
    }
    return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const luminance = rgb => {
    const [r, g, b] = rgb.map(v => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
    return .2126 * r + .7152 * g + .0722 * b;
  };
  const ratio = (a, b) => {
    const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
    return (high + .05) / (low + .05);
  };
  // layers returns what may be painted behind the text of an element: colours, one list for each colour of a gradient.
  const layers = element => {
    const behind = element.parentElement ? layers(element.parentElement) : [[ground]];
    const style = getComputedStyle(element);
    // A cover stands on a page of its own colour.
    if (element.matches(".cover")) return [[cover]];
    // Corners of slides and gradients of a size of their own are ornaments.
    const ornament = element.matches(".slide") || style.backgroundSize !== "auto";
    const stops = ornament ? [] : style.backgroundImage.match(/(?:rgba?|color|oklab|oklch)\([^()]*\)/g) || [];
    return behind.flatMap(list => (stops.length ? stops : [null]).map(stop =>
      [...list, style.backgroundColor, ...(stop ? [stop] : [])]));
  };

  const faint = new Map();
  let checked = 0;
  const check = (element, pseudo, text) => {
    const own = getComputedStyle(element, pseudo);
    const px = parseFloat(own.fontSize), bold = Number(own.fontWeight) >= 700;
    const least = px >= 24 || bold && px >= 18.66 ? 3 : 4.5;
    const behind = layers(element);
    if (pseudo && pseudo !== "::marker") for (const list of behind) list.push(own.backgroundColor);
    checked++;
    for (const list of behind) {
      const back = over(list), front = over([...list, own.color]), found = ratio(front, back);
      if (found >= least) continue;
      const names = [];
      for (let e = element; e && e.localName !== "main"; e = e.parentElement)
        names.unshift(e.localName + [...e.classList].map(c => "." + c).join(""));
      const place = names.join(" > ") + (pseudo || "");
      faint.set(place, `${place} ${JSON.stringify(text.trim().slice(0, 24))}: rgb(${front}) on rgb(${back}) is ${found.toFixed(2)}`);
    }
  };

  for (const element of document.querySelectorAll("body *")) {
    if (!element.checkVisibility() || element.closest("svg, script, style, .image-plate")) continue;
    const text = [...element.childNodes].filter(n => n.nodeType === 3).map(n => n.data).join("");
    if (text.trim()) check(element, undefined, text);
    const style = getComputedStyle(element);
    if (style.display === "list-item" && style.listStyleType !== "none" && element.parentElement.localName === "ol")
      check(element, "::marker", "number");
    for (const pseudo of ["::before", "::after"]) {
      const content = getComputedStyle(element, pseudo).content;
      if (/^(counter|".*[\p{L}\p{N}])/u.test(content)) check(element, pseudo, content);
    }
  }
  return {checked, faint: [...faint.values()]};
}
