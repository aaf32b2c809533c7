package diagram

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"presswork/internal/chromium"
	"presswork/internal/test/browsertest"
	"presswork/internal/test/wait"
	"presswork/themes"
)

// look returns the texts of a drawing with their sizes and what is painted below them,
// and its lines.
const look = `(svg) => {
  document.body.innerHTML = svg;
  const root = document.querySelector("svg"), nominal = root.width.baseVal.value;
  root.style.cssText = "position: fixed; left: 0; top: 0; max-width: 100vw; max-height: 100vh; height: auto";
  const shown = root.getScreenCTM().a * root.viewBox.baseVal.width / nominal;
  const paint = (e, what) => {
    const s = getComputedStyle(e);
    let alpha = s[what] === "none" ? 0 : +s[what + "Opacity"];
    for (let a = e; a !== root.parentNode; a = a.parentNode) alpha *= +getComputedStyle(a).opacity;
    return { color: s[what], alpha };
  };
  const under = (e, x, y) => document.elementsFromPoint(x, y).filter((b) => b instanceof SVGGeometryElement && e.compareDocumentPosition(b) & Node.DOCUMENT_POSITION_PRECEDING &&
    b.isPointInFill(new DOMPoint(x, y).matrixTransform(b.getScreenCTM().inverse()))).map((b) => paint(b, "fill")).reverse();
  const texts = [], lines = [];
  for (const e of root.querySelectorAll("text, tspan")) {
    const words = [...e.childNodes].filter((n) => n.nodeType === Node.TEXT_NODE).map((n) => n.data).join("").trim();
    if (!words || getComputedStyle(e).visibility === "hidden") continue;
    const range = document.createRange(), m = e.getScreenCTM();
    range.selectNodeContents(e);
    const r = range.getBoundingClientRect(), upright = r.height > 2 * r.width;
    for (const at of [0.15, 0.5, 0.85]) {
      const x = r.left + r.width * (upright ? 0.5 : at), y = r.top + r.height * (upright ? at : 0.5);
      texts.push({ words, size: parseFloat(getComputedStyle(e).fontSize) * Math.hypot(m.a, m.b) / shown, ink: paint(e, "fill"), below: under(e, x, y) });
    }
  }
  for (const e of root.querySelectorAll("path, line, polyline")) {
    const ink = paint(e, "stroke");
    if (!ink.alpha || !parseFloat(getComputedStyle(e).strokeWidth) || e.closest("defs, marker") || e.localName !== "line" && paint(e, "fill").alpha) continue;
    const at = e.getPointAtLength(e.getTotalLength() / 2).matrixTransform(e.getScreenCTM());
    lines.push({ ink, below: under(e, at.x, at.y) });
  }
  return { texts, lines };
}`

var hexColor = regexp.MustCompile("#[0-9a-f]{6}")

// recolor replaces each colour in a configuration by the result of paint, which gets the path to the colour.
func recolor(value any, place string, paint func(place, color string) string) any {
	switch v := value.(type) {
	case map[string]string:
		made := map[string]any{}
		for k, v := range v {
			made[k] = recolor(v, place+"."+k, paint)
		}

		return made
	case map[string]any:
		made := map[string]any{}
		for k, v := range v {
			made[k] = recolor(v, place+"."+k, paint)
		}

		return made
	case []string:
		var made []string
		for i, v := range v {
			made = append(made, recolor(v, fmt.Sprintf("%s.%d", place, i), paint).(string))
		}

		return made
	case string:
		n := 0

		return hexColor.ReplaceAllStringFunc(v, func(color string) string {
			n++
			return paint(fmt.Sprintf("%s/%d", place, n), color)
		})
	}

	return value
}

// ink is a colour as the browser returns it, and its opacity.
type ink struct {
	Color string
	Alpha float64
}

// over returns the visible colour of an ink on a background. colors maps the marked colours to those of a theme.
func (i ink) over(t *testing.T, back string, colors map[string]string) string {
	t.Helper()

	if i.Alpha == 0 {
		return back
	}
	var r, g, b int

	alpha := 1.0
	if n, _ := fmt.Sscanf(i.Color, "rgb(%d, %d, %d)", &r, &g, &b); n != 3 {
		if n, _ := fmt.Sscanf(i.Color, "rgba(%d, %d, %d, %f)", &r, &g, &b, &alpha); n != 4 {
			t.Errorf("unknown colour %s", i.Color)
		}
	}

	color := fmt.Sprintf("#%02x%02x%02x", r, g, b)
	switch themed, ok := colors[color]; {
	case alpha == 0:
		return back
	case ok:
		color = themed
	case !slices.Contains([]string{"#ffffff", "#087ebf", "#fff8dc", "#666666", "#ffa500"}, color): // the texts of C4, icons, faces and mouths
		t.Errorf("the colour %s comes from Mermaid, without a setting", color)
	}

	return mix(color, back, alpha*i.Alpha)
}

// In every theme, the texts and lines of every kind are visible, and no text is below 7 pt. Each kind is drawn
// once, in colours that mark the setting they come from. The colours of every theme then follow without drawing
// again.
func TestEveryKindIsReadableInEveryTheme(t *testing.T) {
	t.Parallel()
	browser := browsertest.Start(t, chromium.Options{Tabs: 1, ScriptTimeout: wait.Patience})
	catalogue := themes.Open(themes.Options{})

	styles := map[string]Style{}

	for _, theme := range catalogue.List() {
		s := Style{
			Dark: theme.Scheme == "dark",
			Page: theme.Token("--base-100"),
			Text: theme.Token("--base-content"),
			Line: theme.Token("--rule"),
		}
		for _, name := range []string{"--primary", "--secondary", "--warning", "--error", "--info", "--success", "--accent"} {
			s.Accents = append(s.Accents, theme.Token(name))
		}
		s.Accents = distinct(s.Accents)
		styles[theme.Name] = s
	}
	marked := Style{
		Page: "#ffffff", Text: "#101010", Line: "#808080", Font: "Inter, sans-serif", Size: 14,
		Accents: []string{"#4a2fd8", "#e0338c", "#d49a00", "#c0392b", "#00a0a0", "#30c030", "#303030"},
	}
	marks := map[string]string{} // from the path of a setting to its marked colour
	mark := func(place, _ string) string {
		marks[place] = fmt.Sprintf("#%02x%02x40", 10+len(marks)%240, 100+len(marks)/240)
		return marks[place]
	}
	config, sheet := recolor(marked.config(), "", mark), recolor(marked.sheet(), "sheet", mark)
	graph := recolor(marked.graph(), "graph", mark)
	kinds := slices.Concat(kinds, graphs, boards)

	var inspect []string
	var drawn []json.RawMessage

	for _, of := range []struct {
		language string
		count    int
	}{{Mermaid, len(kinds) - len(graphs) - len(boards)}, {DOT, len(graphs)}, {D2, len(boards)}} {
		var draw []string

		for _, k := range kinds[len(drawn):][:of.count] {
			job, err := json.Marshal(
				map[string]any{
					"config":   config,
					"sheet":    sheet,
					"graph":    graph,
					"name":     fmt.Sprintf("k%d", len(drawn)+len(draw)),
					"language": of.language,
					"source":   k.source,
					"least":    SmallestText,
				},
			)
			if err != nil {
				t.Fatal(err)
			}
			draw = append(draw, "("+drawJS+")("+string(job)+")")
		}

		library, err := libraryOf(of.language)
		if err != nil {
			t.Fatal(err)
		}

		answers, err := browser.Script(t.Context(), library, draw...)
		if err != nil {
			t.Fatal(err)
		}
		drawn = append(drawn, answers...)
	}

	for i := range drawn {
		var d drawing
		if err := json.Unmarshal(drawn[i], &d); err != nil {
			t.Fatal(err)
		}

		p := d.picture(fmt.Sprintf("k%d", i), Source{Text: kinds[i].source})
		if p.Problem != "" {
			t.Fatalf("%s: %s", kinds[i].name, p.Problem)
		}

		svg, err := json.Marshal(p.SVG)
		if err != nil {
			t.Fatal(err)
		}
		inspect = append(inspect, "("+look+")("+string(svg)+")")
	}
	themed := map[string]map[string]string{} // by theme, from the marked colour to that of the theme

	for name, s := range styles {
		colors := map[string]string{}
		keep := func(place, color string) string {
			if marked, ok := marks[place]; ok {
				colors[marked] = color
			}

			return color
		}
		recolor(s.config(), "", keep)
		recolor(s.sheet(), "sheet", keep)
		recolor(s.graph(), "graph", keep)
		themed[name] = colors
	}

	looks, err := browser.Script(t.Context(), "0", inspect...)
	if err != nil {
		t.Fatal(err)
	}

	for i := range looks {
		var seen struct {
			Texts []struct {
				Words string
				Size  float64
				Ink   ink
				Below []ink
			}
			Lines []struct {
				Ink   ink
				Below []ink
			}
		}
		if err := json.Unmarshal(looks[i], &seen); err != nil || len(seen.Texts) == 0 {
			t.Fatalf("%s: %d texts, %v", kinds[i].name, len(seen.Texts), err)
		}

		for _, text := range seen.Texts {
			if text.Size < SmallestText-0.01 {
				t.Errorf("%s: %q is %.1f pixels large", kinds[i].name, text.Words, text.Size)
			}
		}

		for name, colors := range themed {
			s := styles[name]
			var faults []string

			ground := func(below []ink) string {
				back := s.Page
				for _, b := range below {
					back = b.over(t, back, colors)
				}

				return back
			}
			for _, text := range seen.Texts {
				back := ground(text.Below)
				if ratio := contrast(text.Ink.over(t, back, colors), back); ratio < 4.5 {
					faults = append(faults, fmt.Sprintf("%.1f for %q on %s", ratio, text.Words, back))
				}
			}

			for _, line := range seen.Lines {
				back := ground(line.Below)
				switch top := len(line.Below) - 1; {
				case strings.HasPrefix(line.Ink.Color, "url("): // a gradient between two other colours
					continue
				case top >= 0 && line.Below[top] == line.Ink: // the outline of its own shape
					continue
				}

				if ratio := contrast(line.Ink.over(t, back, colors), back); ratio < 1.3 {
					faults = append(faults, fmt.Sprintf("%.2f for a line of %s on %s", ratio, line.Ink.Color, back))
				}
			}
			slices.Sort(faults)

			if faults = slices.Compact(faults); len(faults) > 0 {
				t.Errorf("%s, %s: the contrast is %s", kinds[i].name, name, strings.Join(faults, ", "))
			}
		}
	}
}
