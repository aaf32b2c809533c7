// Commands that Temml lacks. A macro gets its arguments as tokens in reverse order.
(() => {
  const text = (tokens) => tokens.map((t) => t.text).reverse().join("");

  temml.__defineMacro("\\mbox", "\\text{#1}");
  temml.__defineMacro("\\hbox", "\\text{#1}");
  temml.__defineMacro("\\intertext", "\\\\ \\text{#1} \\notag \\\\");
  temml.__defineMacro("\\shortintertext", "\\\\ \\text{#1} \\notag \\\\");
  temml.__defineMacro("\\KaTeX", "\\text{KaTeX}");
  temml.__defineMacro("\\MathJax", "\\text{MathJax}");
  temml.__defineMacro("\\bm", "\\boldsymbol{#1}");
  temml.__defineMacro("\\ensuremath", "#1");
  temml.__defineMacro("\\DeclareMathOperator", (t) => {
    const star = t.future().text === "*" ? t.popToken().text : "";
    const [name, body] = t.consumeArgs(2);
    return `\\def${text(name)}{\\operatorname${star}{${text(body)}}}`;
  });

  // Names that KaTeX has from MediaWiki and texvc, and those of MathJax.
  const names = {
    R: "\\mathbb{R}", Z: "\\mathbb{Z}", N: "\\mathbb{N}", C: "\\mathbb{C}", Q: "\\mathbb{Q}", reals: "\\mathbb{R}", Reals: "\\mathbb{R}",
    natnums: "\\mathbb{N}", cnums: "\\mathbb{C}", Complex: "\\mathbb{C}", exist: "\\exists", sub: "\\subset", sube: "\\subseteq",
    supe: "\\supseteq", infin: "\\infty", alef: "\\aleph", alefsym: "\\aleph", and: "\\land", or: "\\lor", empty: "\\emptyset",
    isin: "\\in", lang: "\\langle", rang: "\\rangle", plusmn: "\\pm", real: "\\Re", Real: "\\Re", image: "\\Im", weierp: "\\wp",
    thetasym: "\\vartheta", bull: "\\bullet", clubs: "\\clubsuit", hearts: "\\heartsuit", spades: "\\spadesuit",
    diamonds: "\\diamondsuit", sdot: "\\cdot", Dagger: "\\ddagger", strut: "\\vphantom{(}", textdegree: "°", textregistered: "®",
    textellipsis: "\\ldots", hfill: "\\quad", hfil: "\\quad", displaylimits: "\\limits", qed: "\\square",
    textasciicircum: "\\char94", cssId: "#2", shoveleft: "#1", shoveright: "#1", require: "\\@firstoftwo{}{#1}",
  };
  for (const name in names) temml.__defineMacro("\\" + name, names[name]);
  for (const [name, arrow] of [["l", "left"], ["r", "right"], ["u", "up"], ["d", "down"], ["h", "leftright"], ["lr", "leftright"]]) {
    temml.__defineMacro(`\\${name}arr`, `\\${arrow}arrow`);
    for (const kind of [name + "A", name[0].toUpperCase() + name.slice(1) + "a"]) {
      temml.__defineMacro(`\\${kind}rr`, `\\${arrow[0].toUpperCase()}${arrow.slice(1)}arrow`);
    }
  }
  temml.__defineMacro("\\bbox", (t) => {
    if (t.future().text === "[") while (t.popToken().text !== "]") if (t.future().text === "EOF") break;
    return "";
  });
  temml.__defineMacro("\\unicode", (t) => `\\char"${text(t.consumeArgs(1)[0]).replace(/^x/, "")} `);

  // siunitx
  const units = {
    meter: "m", metre: "m", gram: "g", kilogram: "kg", second: "s", ampere: "A", kelvin: "K", mole: "mol", candela: "cd",
    hertz: "Hz", newton: "N", pascal: "Pa", joule: "J", watt: "W", coulomb: "C", volt: "V", farad: "F", ohm: "Ω", siemens: "S",
    weber: "Wb", tesla: "T", henry: "H", lumen: "lm", lux: "lx", becquerel: "Bq", gray: "Gy", sievert: "Sv", katal: "kat",
    radian: "rad", steradian: "sr", degree: "°", arcminute: "′", arcsecond: "″", celsius: "°C", degreeCelsius: "°C", percent: "\\%",
    minute: "min", hour: "h", day: "d", hectare: "ha", liter: "L", litre: "l", tonne: "t", bar: "bar", bel: "B", decibel: "dB",
    neper: "Np", electronvolt: "eV", dalton: "Da", astronomicalunit: "au", angstrom: "Å", barn: "b", knot: "kn", mmHg: "mmHg",
    bit: "bit", byte: "B", m: "m", cm: "cm", mm: "mm", km: "km", um: "µm", nm: "nm", g: "g", kg: "kg", mg: "mg", s: "s", ms: "ms",
    us: "µs", ns: "ns", Hz: "Hz", kHz: "kHz", MHz: "MHz", GHz: "GHz", N: "N", Pa: "Pa", kPa: "kPa", J: "J", kJ: "kJ", W: "W", kW: "kW",
    V: "V", mV: "mV", kV: "kV", A: "A", mA: "mA", K: "K", mol: "mol", eV: "eV", keV: "keV", MeV: "MeV", GeV: "GeV", TeV: "TeV",
  };
  const prefixes = {
    quecto: "q", ronto: "r", yocto: "y", zepto: "z", atto: "a", femto: "f", pico: "p", nano: "n", micro: "µ", milli: "m", centi: "c",
    deci: "d", deca: "da", deka: "da", hecto: "h", kilo: "k", mega: "M", giga: "G", tera: "T", peta: "P", exa: "E", zetta: "Z",
    yotta: "Y", ronna: "R", quetta: "Q", kibi: "Ki", mebi: "Mi", gibi: "Gi", tebi: "Ti",
  };
  const powers = {squared: "2", cubed: "3", square: "2", cubic: "3"};

  // unit returns the LaTeX of a unit: \kilo\meter\per\second\squared or kg.m/s^2.
  const unit = (tokens) => {
    let out = "", prefix = "", power = "", sign = "", brace = false;
    const put = (name) => {
      out += (out && !/[\/{]$/.test(out) ? "\\," : "") + `\\mathrm{${prefix}${name}}`;
      if (power || sign) out += `^{${sign}${power || 1}}`;
      prefix = power = sign = "";
    };
    const list = [...tokens].reverse().map((t) => t.text);
    for (let i = 0; i < list.length; i++) {
      const name = list[i].replace(/^\\/, "");
      if (!list[i].startsWith("\\")) {
        if (list[i] === "." || list[i] === "~" || list[i] === "*") out += "\\,";
        else if (list[i] === "^") {
          const end = list[i + 1] === "{" ? list.indexOf("}", i) : i + (list[i + 1] === "-" ? 2 : 1);
          out += "^{" + list.slice(i + 1, end + 1).filter((c) => c !== "{" && c !== "}").join("") + "}";
          i = end;
        } else if (/^[A-Za-z°%µΩ\/\d-]$/.test(list[i])) out += list[i] === "/" ? "/" : `\\mathrm{${list[i] === "%" ? "\\%" : list[i]}}`;
      } else if (name === "per") sign = "-";
      else if (name in prefixes) prefix += prefixes[name];
      else if (name === "square" || name === "cubic") power = powers[name];
      else if (name === "squared" || name === "cubed") {
        out = /\^\{-1\}$/.test(out) ? out.replace(/\^\{-1\}$/, `^{-${powers[name]}}`) : out + `^{${powers[name]}}`;
      } else if (name === "tothe" || name === "raiseto") {
        const end = list.indexOf("}", i), n = list.slice(i + 2, end).join("");
        if (name === "tothe") out = /\^\{-1\}$/.test(out) ? out.replace(/\^\{-1\}$/, `^{-${n}}`) : out + `^{${n}}`;
        else power = n;
        i = end;
      } else if (name === "%") put("\\%");
      else put(units[name] ?? name);
    }
    return out;
  };

  // number returns the LaTeX of a number: 1.5e-3, 12345.6 and 1.2(3) or 1.2 +- 0.3.
  const number = (tokens) => {
    const source = text(tokens).replace(/\s|~/g, "");
    const grouped = (digits) => digits.length > 4 ? digits.replace(/\B(?=(\d{3})+$)/g, "\\,") : digits;
    return source.split(/(\+-|\\pm|[;x])/).map((part) => {
      if (part === "+-" || part === "\\pm") return "\\pm ";
      if (part === ";") return ",\\ ";
      if (part === "x") return "\\times ";
      const m = part.match(/^([+-]?)(\d*)([.,]\d+)?(\(\d+\))?(?:[eEdD]([+-]?\d+))?$/);
      if (!m) return `\\text{${part.replace(/[\\{}$%&#_^]/g, "")}}`;
      const [, sign, whole, rest = "", doubt = "", exponent] = m;
      const digits = sign + grouped(whole || (rest ? "0" : "")) + rest.replace(",", "{,}") + doubt;
      if (exponent === undefined) return digits;
      return (whole || rest ? digits + "\\times " : sign) + `10^{${exponent.replace("+", "")}}`;
    }).join("");
  };

  // options skips an optional argument: \SI[per-mode=symbol]{…}.
  const options = (t) => {
    t.consumeSpaces();
    if (t.future().text !== "[") return;
    while (t.future().text !== "EOF" && t.popToken().text !== "]");
  };
  const quantity = (value, of) => `{${value}}` + (/^\\mathrm\{[°′″]\}$/.test(of) ? "" : "\\,") + `{${of}}`;

  for (const name of ["\\SI", "\\qty"]) {
    temml.__defineMacro(name, (t) => {
      options(t);
      const [value, of] = t.consumeArgs(2);
      return quantity(number(value), unit(of));
    });
  }
  for (const name of ["\\SIrange", "\\qtyrange"]) {
    temml.__defineMacro(name, (t) => {
      options(t);
      const [from, to, of] = t.consumeArgs(3);
      return quantity(number(from), unit(of)) + "\\text{–}" + quantity(number(to), unit(of));
    });
  }
  for (const name of ["\\si", "\\unit"]) {
    temml.__defineMacro(name, (t) => {
      options(t);
      return `{${unit(t.consumeArgs(1)[0])}}`;
    });
  }
  temml.__defineMacro("\\num", (t) => {
    options(t);
    return `{${number(t.consumeArgs(1)[0])}}`;
  });
  temml.__defineMacro("\\ang", (t) => {
    options(t);
    const parts = text(t.consumeArgs(1)[0]).split(";"), signs = ["°", "′", "″"];
    return parts.slice(0, 3).map((p, i) => p ? `${p.replace(/[^\d.+-]/g, "")}\\mathrm{${signs[i]}}` : "").join("");
  });
})();
