async ({config, sheet, graph, name, language, source, least}) => {
  // The properties that decide the look of a shape or a text: inherited ones, and others with their
  // initial values.
  const inherited = ["fill", "fill-opacity", "fill-rule", "stroke", "stroke-width", "stroke-dasharray", "stroke-dashoffset",
    "stroke-linecap", "stroke-linejoin", "stroke-miterlimit", "stroke-opacity", "font-family", "font-size", "font-weight", "font-style",
    "text-anchor", "dominant-baseline", "visibility", "letter-spacing", "marker-start", "marker-mid", "marker-end"];
  const own = {"opacity": "1", "alignment-baseline": "auto", "baseline-shift": "0px", "text-decoration-line": "none", "clip-path": "none"};
  const stop = {"stop-color": "", "stop-opacity": "1"};

  // flatten writes computed styles into attributes, so that the picture needs no style sheet.
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
      for (const p of [...inherited, ...Object.keys(own), "text-decoration"]) e.removeAttribute(p);
      delete kept.display;
      for (const [p, value] of Object.entries(kept)) e.setAttribute(p === "text-decoration-line" ? "text-decoration" : p, value);
    }
  };

  // legible makes texts black or white, whichever is readable, in nodes to which the author gave a colour.
  // Texts with a colour of their own keep it.
  const luminance = (rgb) => rgb.map((v) => (v /= 255) <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
  const channels = (color) => /^rgb\(/.test(color) ? color.match(/[\d.]+/g).map(Number) : null;
  const contrast = (a, b) => (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  const legible = (root) => {
    const usual = getComputedStyle(root).fill;
    const colored = (e) => e.style.fill || (language === "dot" && e.getAttribute("fill") !== graph.fill && channels(getComputedStyle(e).fill));
    for (const node of root.querySelectorAll(".node, .actor-man, .cluster")) {
      const shapes = [...node.querySelectorAll("rect, circle, ellipse, polygon, path")].filter(colored);
      for (const text of node.querySelectorAll("text, tspan")) {
        const at = text.getBoundingClientRect(), x = (at.left + at.right) / 2, y = (at.top + at.bottom) / 2;
        const holds = ({left, right, top, bottom}) => left < x && x < right && top < y && y < bottom;
        const shape = language === "dot" ? shapes.findLast((e) => holds(e.getBoundingClientRect())) : shapes[0];
        const back = shape && channels(getComputedStyle(shape).fill);
        if (!back) continue;
        const color = getComputedStyle(text).fill, front = channels(color);
        if (color !== usual || !front || contrast(luminance(front), luminance(back)) >= 4.5) continue;
        text.style.setProperty("fill", luminance(back) > .18 ? "#000000" : "#ffffff", "important");
      }
    }
  };

  // soften makes coloured areas behind a sequence translucent until the texts on them are readable.
  const soften = (root) => {
    const [front, page] = [config.themeVariables.textColor, config.themeVariables.background].map((c) => luminance([1, 3, 5].map((i) => parseInt(c.slice(i, i + 2), 16))));
    for (const area of root.querySelectorAll("rect.rect")) {
      const back = channels(getComputedStyle(area).fill);
      if (!back) continue;
      let share = 1;
      while (share > 0 && contrast(front, luminance(back) * share + page * (1 - share)) < 4.5) share -= 0.1;
      if (share < 1) area.style.setProperty("fill-opacity", share, "important");
    }
  };

  // smallestText returns the size of the smallest text, in units of the drawing.
  const smallestText = (root) => {
    const scale = (e) => { const m = e.getScreenCTM(); return m ? Math.hypot(m.a, m.b) : 0; };
    let smallest = Infinity;
    for (const e of root.querySelectorAll("text, tspan")) {
      if (![...e.childNodes].some((n) => n.nodeType === Node.TEXT_NODE && n.data.trim()) || !e.getClientRects().length) continue;
      smallest = Math.min(smallest, parseFloat(getComputedStyle(e).fontSize) * scale(e) / scale(root));
    }
    return smallest > 0 && smallest < Infinity ? smallest : 0;
  };

  // thin removes the labels of an axis that overlap the one before them.
  const thin = (root) => {
    for (const axis of root.querySelectorAll("g.grid")) {
      let end = -Infinity;
      for (const text of axis.querySelectorAll(".tick text")) {
        const box = text.getBoundingClientRect();
        if (box.left < end + 6) text.remove();
        else end = box.right;
      }
    }
  };

  // drawGraph lets Graphviz lay out a graph and returns its svg element. Graphviz guesses the width of texts by the
  // letters of Arial. The fonts of themes are wider, so it gets a larger size.
  const drawGraph = async () => {
    const wider = 1.1, text = {fontname: "Arial", fontsize: graph.size * wider, fontcolor: graph.text};
    // Viz.js resolves its own address, which fails in an empty page without a base. It requests nothing.
    document.head.append(Object.assign(document.createElement("base"), {href: "http://page.invalid/"}));
    globalThis.graphviz ??= await Viz.instance();
    const {status, output, errors} = globalThis.graphviz.render(source, {
      format: "svg",
      graphAttributes: {...text, bgcolor: "transparent", color: graph.group},
      nodeAttributes: {...text, color: graph.border},
      edgeAttributes: {...text, color: graph.line},
    });
    if (status !== "success") {
      const {message} = errors.find((e) => e.level === "error") ?? {message: "it cannot be drawn"};
      throw new Error(message.trim().replace(/^syntax error in (line \d+)(?: near '(.*)')?$/s,
        (_, line, piece) => line + " " + (piece ? `unexpected '${piece}'` : "unexpected 'EOF'")));
    }
    document.body.innerHTML = output.slice(output.indexOf("<svg"));
    const root = document.body.querySelector("svg");
    root.setAttribute("fill", graph.text);
    for (const shape of root.querySelectorAll(".node > :is(polygon, ellipse, path, a > *):first-of-type, .node a > :is(polygon, ellipse, path):first-of-type")) {
      if (shape.getAttribute("fill") === "none") shape.setAttribute("fill", graph.fill);
    }
    for (const e of root.querySelectorAll("text")) {
      e.setAttribute("font-size", parseFloat(e.getAttribute("font-size")) / wider);
      if (/^Arial\b/.test(e.getAttribute("font-family") ?? "")) e.setAttribute("font-family", graph.font);
    }
    return root;
  };

  // drawMermaid lets Mermaid draw and returns its svg element.
  const drawMermaid = async (config) => {
    mermaid.initialize(config);
    document.body.innerHTML = (await mermaid.render(name, source)).svg;
    return document.body.querySelector("svg");
  };

  const sheetElement = document.createElement("style");
  sheetElement.textContent = sheet;
  document.head.replaceChildren(sheetElement); // replaces that of the diagram before

  // Two kinds have boxes of a fixed width. Larger texts, in a picture that is then shrunk, fit them.
  const shrink = 0.68;
  // Two others are too large for their content.
  const modest = {pie: 0.75, quadrantChart: 0.85};
  const boxed = /^(timeline|journey)$/;
  const enlarged = {
    ...config, fontSize: Math.round(config.fontSize / shrink),
    themeVariables: {...config.themeVariables, fontSize: Math.round(config.fontSize / shrink) + "px"},
  };
  const kindOf = (source) => { try { return language === "mermaid" ? mermaid.detectType(source) : language } catch { return "" } };

  // Git commits have random names. Fixed ones make the same source give the same picture.
  let seed = 1;
  Math.random = () => (seed = seed * 16807 % 2147483647) / 2147483647;

  try {
    const large = boxed.test(kindOf(source));
    const draw = {dot: drawGraph, d2: () => drawD2(source, graph)}[language] ?? (() => drawMermaid(large ? enlarged : config));
    const root = await draw();
    const scale = large ? shrink : root.dataset.scale ?? modest[kindOf(source)] ?? 1;
    const text = (selector) => (root.querySelector(":scope > " + selector)?.textContent ?? "").trim();
    const title = [text("title"), text("desc")].filter(Boolean).join(": ");
    const kind = root.getAttribute("aria-roledescription") ?? kindOf(source);
    let box = root.viewBox.baseVal;
    if (!box || !box.width || !box.height || large) {
      box = root.getBBox();
      root.setAttribute("viewBox", [box.x, box.y, box.width, box.height].join(" "));
    }
    if (large) {
      const title = root.querySelector(':scope > text[font-size="4ex"]');
      if (title) {
        title.setAttribute("text-anchor", "middle");
        title.setAttribute("x", box.x + box.width / 2);
      }
    }
    root.querySelectorAll(".today").forEach((e) => e.remove()); // a printed chart has no current date
    // Without HTML labels, Mermaid starts the text of round nodes in a mind map in the middle.
    root.querySelectorAll('.mindmap-node > g.label[transform^="translate(0,"] text').forEach((e) => e.setAttribute("text-anchor", "middle"));
    // Mermaid puts the title of a composite state on its upper border.
    root.querySelectorAll(".statediagram-cluster").forEach((e) => {
      const [outer, inner, label] = [".outer", ".inner", ".cluster-label"].map((s) => e.querySelector(s)?.getBoundingClientRect());
      if (!outer || !inner || !label) return;
      const down = (outer.top + inner.top) / 2 - (label.top + label.bottom) / 2;
      e.querySelector(".cluster-label").setAttribute("transform",
        `translate(0, ${down}) ${e.querySelector(".cluster-label").getAttribute("transform") ?? ""}`);
    });
    // Icons are nested svg elements. Groups keep only their shapes.
    root.querySelectorAll("svg").forEach((icon) => {
      const g = document.createElementNS(root.namespaceURI, "g"), view = icon.viewBox.baseVal;
      const [x, y, width, height] = ["x", "y", "width", "height"].map((side) => icon[side].baseVal.value);
      const scale = view && view.width && view.height ? Math.min(width / view.width, height / view.height) : 1;
      g.setAttribute("transform", `translate(${x} ${y}) scale(${scale})` + (view && view.width ? ` translate(${-view.x} ${-view.y})` : ""));
      g.append(...icon.childNodes);
      icon.replaceWith(g);
    });
    thin(root);
    legible(root);
    soften(root);
    const smallest = smallestText(root) * scale;
    const larger = smallest ? Math.max(1, least / smallest) : 1;
    flatten(root);
    return {svg: new XMLSerializer().serializeToString(root), kind, title,
      width: box.width * scale * larger, height: box.height * scale * larger, text: smallest * larger};
  } catch (e) {
    if (e?.fatal) throw e;
    return {error: String(e?.message ?? e) || "unknown error"};
  } finally {
    document.body.replaceChildren();
  }
}
