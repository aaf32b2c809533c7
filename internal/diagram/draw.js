async ({config, diagrams}) => {
  // What a shape or a text looks like, with the value each has where nothing is
  // said. Those without one are inherited.
  const inherited = ["fill", "fill-opacity", "fill-rule", "stroke", "stroke-width", "stroke-dasharray", "stroke-dashoffset",
    "stroke-linecap", "stroke-linejoin", "stroke-miterlimit", "stroke-opacity", "font-family", "font-size", "font-weight", "font-style",
    "text-anchor", "dominant-baseline", "visibility", "letter-spacing", "marker-start", "marker-mid", "marker-end"];
  const own = {"opacity": "1", "alignment-baseline": "auto", "baseline-shift": "0px", "text-decoration-line": "none", "clip-path": "none"};
  const stop = {"stop-color": "", "stop-opacity": "1"};

  // flatten turns the style sheet's work into attributes, so that none is needed.
  const flatten = (root) => {
    const initial = getComputedStyle(document.body);
    const elements = [root, ...root.querySelectorAll("*")];
    const styles = new Map();
    for (const e of elements) {
      const s = getComputedStyle(e), kept = {};
      const above = e === root ? initial : getComputedStyle(e.parentNode);
      kept.display = s.display;
      for (const p of inherited) {
        const value = s.getPropertyValue(p);
        if (value !== above.getPropertyValue(p) || e === root) kept[p] = value;
      }
      for (const [p, usual] of Object.entries(e.localName === "stop" ? stop : own)) {
        const value = s.getPropertyValue(p);
        if (value !== usual) kept[p] = value;
      }
      if (e.style && e.style.transform && e !== root && s.transform !== "none") kept.transform = s.transform;
      styles.set(e, kept);
    }
    for (const e of elements) {
      const kept = styles.get(e);
      if (e.localName === "style" || e.localName === "script" || (kept.display === "none" && e.closest("defs") === null)) {
        e.remove();
        continue;
      }
      e.removeAttribute("style");
      e.removeAttribute("class");
      delete kept.display;
      for (const [p, value] of Object.entries(kept)) e.setAttribute(p === "text-decoration-line" ? "text-decoration" : p, value);
    }
  };

  // The same source gives the same picture: Git commits have random names.
  let seed = 1;
  Math.random = () => (seed = seed * 16807 % 2147483647) / 2147483647;

  mermaid.initialize(config);
  const drawings = [];
  for (const {name, source} of diagrams) {
    try {
      seed = 1;
      const {svg} = await mermaid.render(name, source);
      document.body.innerHTML = svg;
      const root = document.body.querySelector("svg");
      const text = (selector) => (root.querySelector(":scope > " + selector)?.textContent ?? "").trim();
      const title = [text("title"), text("desc")].filter(Boolean).join(": ");
      const kind = root.getAttribute("aria-roledescription") ?? "";
      let box = root.viewBox.baseVal;
      if (!box || !box.width || !box.height) {
        box = root.getBBox();
        root.setAttribute("viewBox", [box.x, box.y, box.width, box.height].join(" "));
      }
      root.querySelectorAll(".today").forEach((e) => e.remove()); // a print has no today
      // Without HTML, Mermaid begins the text of a mind map's round nodes in the middle.
      root.querySelectorAll('.mindmap-node > g.label[transform^="translate(0,"] text').forEach((e) => e.setAttribute("text-anchor", "middle"));
      flatten(root);
      drawings.push({svg: new XMLSerializer().serializeToString(root), kind, title, width: box.width, height: box.height});
    } catch (e) {
      drawings.push({error: String(e?.message ?? e) || "unknown error"});
    }
    document.body.replaceChildren();
  }
  return drawings;
}
