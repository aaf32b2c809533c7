// D2 is Go code as WebAssembly. It calls eval for Dagre, its layout engine, and writes names of the diagram into that
// code unescaped. So only code without such names is run, and the lines that build the graph are read instead.
{
  const run = globalThis.eval;
  const fixed = /^$|^\(function\(f\)\{if\(typeof exports|^var g = new dagre\.|^g\.setGraph\(|^dagre\.layout\(g\)$|^JSON\.stringify\(g\.(node|edge)\(/;
  globalThis.eval = (code) => {
    if (fixed.test(code)) return run(code);
    if (!code.startsWith("g.setNode(`")) throw new Error("not allowed");
    let edges = 0;
    for (const line of code.split("\n")) {
      const [, call, one, other] = /^g\.(setNode|setParent|setEdge)\((?:\{v:)?`(\d+)`, (?:w:|\{ id: )?`(\d+)`/.exec(line) ?? [];
      const [, width, height] = / width: ?(\d+), height: ?(\d+)(?:, labelpos: `c`)? \}\);$/.exec(line) ?? [];
      if (call === "setNode") globalThis.g.setNode(one, {id: one, width: +width, height: +height});
      if (call === "setParent") globalThis.g.setParent(one, other);
      if (call === "setEdge") globalThis.g.setEdge({v: one, w: other, name: `${edges++}`}, {width: +width, height: +height, labelpos: "c"});
    }
  };
}

// drawD2 lets D2 draw a diagram and returns its svg element in the fonts and colours of the document. D2 measures texts
// in fonts of its own, which are narrower than those of most themes.
globalThis.drawD2 = async (source, graph) => {
  const start = async () => {
    const {body} = await fetch("data:application/gzip;base64," + globalThis.d2Module);
    const module = await new Response(body.pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
    const program = new Go();
    program.run((await WebAssembly.instantiate(module, program.importObject)).instance);
    return program;
  };

  // explain returns the first error of D2, such as [{"errmsg": "index:3:5: unknown shape"}], as "line 3 unknown shape".
  const explain = (message) => {
    let [, line, text] = /"errmsg":"index:(\d+):\d+: ((?:[^"\\]|\\.)*)"/.exec(message) ?? [];
    if (/^latex/.test(message)) return "formulas in LaTeX are not drawn; write them as text";
    if (!line) return /^panic/.test(message) ? "it cannot be drawn" : message.split("\n")[0];
    if (/^failed to import/.test(text)) text = "imports are not read; write their content into the diagram";
    return `line ${line} ${JSON.parse(`"${text}"`)}`;
  };

  // call runs a function of D2. After a fatal error the page is lost, because the Go program has ended.
  const call = (name, request) => {
    let answer;
    try {
      answer = JSON.parse(globalThis.d2[name](JSON.stringify(request)));
    } catch (e) {
      throw Object.assign(new Error("D2 has ended: " + e), {fatal: true});
    }
    if (answer.error) throw new Error(explain(answer.error.message));
    return answer.data;
  };

  // firstBoard returns the first board with shapes: the diagram itself, or one of its layers, scenarios or steps.
  const firstBoard = (board) => {
    while (board && !board.shapes?.length) board = [board.layers, board.scenarios, board.steps].flatMap((list) => list ?? [])[0];
    if (!board) throw new Error("it has no shapes");
    return board;
  };

  // parse reads the picture without running or loading anything in it. Labels in Markdown are HTML.
  const parse = (svg) => {
    const root = new DOMParser().parseFromString(svg, "text/html").querySelector("svg svg");
    const known = /^(div|p|h[1-6]|[uo]l|li|dl|dt|dd|strong|b|em|i|del|s|code|pre|a|span|br|hr|blockquote|sup|sub|table|thead|tbody|tr|td|th)$/;
    for (const e of root.querySelectorAll("foreignObject *")) {
      if (!known.test(e.localName)) e.remove();
      const kept = e.matches("foreignObject > .md") ? ["class", "style"] : [];
      for (const {name} of [...e.attributes]) if (!kept.includes(name)) e.removeAttribute(name);
    }
    root.querySelectorAll("image, script, .appendix-icon, .dark-code").forEach((e) => e.remove());
    root.querySelector(":scope > rect").remove(); // the background
    return root;
  };

  // linesOf returns the lines of a piece of HTML: their places in the window and their runs of one style.
  const linesOf = (html) => {
    const lines = [], pen = document.createElement("canvas").getContext("2d");
    const walker = document.createTreeWalker(html, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const node = walker.currentNode, style = getComputedStyle(node.parentElement);
      pen.font = style.font;
      const up = pen.measureText("x").fontBoundingBoxAscent;
      for (const {index, 0: word} of node.data.matchAll(/\S+\s*|\s+/g)) {
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        const box = range.getClientRects()[0];
        if (!box?.width) continue;
        let line = lines.at(-1);
        if (!line || Math.abs(line.y - box.top - up) > 2 || Math.abs(box.left - line.right) > 8) {
          lines.push(line = {x: box.left, y: box.top + up, runs: []});
          const item = node.parentElement.closest("li");
          if (item && item.firstChild.contains(node) && !item.marked) {
            item.marked = true;
            const mark = item.parentElement.localName === "ol" ? [...item.parentElement.children].indexOf(item) + 1 + "." : "•";
            lines.splice(-1, 0, {x: box.left - 20, y: line.y, right: box.left, runs: [{style, text: mark}]});
          }
        }
        line.right = box.right;
        if (line.runs.at(-1)?.style === style) line.runs.at(-1).text += word;
        else line.runs.push({style, text: word});
      }
    }
    return lines;
  };

  // create makes an svg element.
  const create = (name, attributes, text = "") => {
    const e = document.createElementNS(root.namespaceURI, name);
    for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
    e.textContent = text;
    return e;
  };

  // writeText replaces the HTML of a label by svg text, a text element for each line.
  const writeText = (label) => {
    const parent = label.parentElement, window = parent.getScreenCTM().inverse(), html = label.firstElementChild;
    const {x, y, width, height} = label, fill = getComputedStyle(html).backgroundColor;
    const written = [create("rect", {x: x.baseVal.value, y: y.baseVal.value, width: width.baseVal.value, height: height.baseVal.value, fill})];
    for (const line of linesOf(html)) {
      const {x, y} = new DOMPoint(line.x, line.y).matrixTransform(window);
      const text = create("text", {x, y});
      for (const {style, text: words} of line.runs) {
        const run = create("tspan", {}, words.replace(/\s+/g, " "));
        for (const p of ["font-family", "font-size", "font-weight", "font-style"]) run.style.setProperty(p, style.getPropertyValue(p));
        run.style.fill = style.color;
        text.append(run);
      }
      written.push(text);
    }
    if (!/, 0\)$/.test(fill)) written[0].style.fill = fill;
    else written.shift();
    label.replaceWith(...written);
  };

  // clip keeps lines out of their labels. D2 does it with a mask, which is printed as an image.
  const clip = (mask) => {
    const box = (e) => ["x", "y", "width", "height"].map((side) => e[side].baseVal.value);
    const around = ([x, y, width, height]) => `M${x} ${y}h${width}v${height}h${-width}z`;
    const holes = [...mask.querySelectorAll('rect[fill="black"]')];
    const path = create("clipPath", {id: mask.id});
    path.append(create("path", {"clip-rule": "evenodd", d: [mask, ...holes].map(box).map(around).join("")}));
    mask.replaceWith(path);
    for (const line of root.querySelectorAll("[mask]")) {
      line.removeAttribute("mask");
      line.setAttribute("clip-path", `url(#${mask.id})`);
    }
  };

  // setFonts gives texts the font of the document. It makes all of them smaller until each is as wide as D2 meant.
  const setFonts = () => {
    const texts = [...root.querySelectorAll("text")].map((e) => [e, e.getComputedTextLength()]);
    const weights = {bold: 700, semibold: 600};
    for (const e of root.querySelectorAll("text, tspan")) {
      const style = getComputedStyle(e), [, face] = /-font-(\w+)/.exec(style.fontFamily) ?? [];
      if (e.localName === "tspan" && style.fontFamily === getComputedStyle(e.parentElement).fontFamily) continue;
      e.newStyle = {family: face === "mono" ? "monospace" : graph.font, weight: weights[face] ?? style.fontWeight,
        slant: face === "italic" ? "italic" : style.fontStyle, face};
    }
    for (const e of root.querySelectorAll("text, tspan")) {
      if (!e.newStyle) continue;
      e.style.fontFamily = e.newStyle.family;
      e.style.fontWeight = e.newStyle.weight;
      e.style.fontStyle = e.newStyle.slant;
    }
    const wider = Math.max(1, ...texts.filter(([, width]) => width > 0).map(([e, width]) => e.getComputedTextLength() / width));
    const sizes = [...root.querySelectorAll("text, tspan")].map((e) => [e, parseFloat(getComputedStyle(e).fontSize)]);
    for (const [e, size] of sizes) e.style.fontSize = size / wider + "px";
    return wider;
  };

  globalThis.d2Program ??= await start();
  const {diagram} = call("compile", {fs: {index: source}, options: {layout: "dagre", sketch: false, themeID: 0}});
  const drawn = call("render", {
    diagram: firstBoard(diagram),
    options: {noXMLTag: true, pad: 2, themeID: 0, sketch: false, themeOverrides: {...graph.palette, n1: graph.text}},
  });
  const root = parse(new TextDecoder().decode(Uint8Array.from(atob(drawn), (c) => c.charCodeAt(0))));
  root.setAttribute("fill", graph.text);
  document.body.replaceChildren(root);
  await Promise.all([...document.fonts].map((font) => font.load()));

  root.querySelectorAll("mask").forEach(clip);
  root.querySelectorAll("foreignObject").forEach(writeText);
  root.querySelectorAll(".light-code tspan").forEach((e) => e.removeAttribute("fill"));
  for (const back of root.querySelectorAll(".light-code > rect")) {
    back.style.removeProperty("fill");
    back.setAttribute("fill", graph.palette.n6);
  }
  root.querySelectorAll("g:has(> .shape)").forEach((e) => e.classList.add("node"));
  // Shapes without a colour of the palette have one of the author.
  root.querySelectorAll(".shape [fill]:not([class*=fill-])").forEach((e) => { e.style.fill = e.getAttribute("fill") });
  root.dataset.scale = graph.size / 16 * setFonts();
  return root;
};
