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

// kinds are the diagrams that Mermaid draws, with every part that has a colour or a size of its own.
var kinds = []struct{ name, source string }{
	{
		"flowchart",
		"flowchart TD\n a[Anna] -->|to| b{Berta} ==> c([Clara]) -.->|thin| d[(Dora)]\n subgraph Group\n  e((Emma)) --> f>Flag] --> g{{Hex}} --> h[[Sub]]\n  subgraph Inner\n   i[/Para/]\n  end\n end\n b --> e",
	},
	{
		"sequence",
		"sequenceDiagram\n actor Anna\n participant Berta\n box Group\n participant Clara\n end\n Anna->>+Berta: Hello\n Note over Anna,Berta: A note\n alt is so\n Berta-->>-Anna: Yes\n else otherwise\n Berta--xClara: No\n end\n loop daily\n Clara->>Clara: Self\n end",
	},
	{
		"class",
		"classDiagram\n namespace Family {\n class Anna {\n <<interface>>\n +int age\n +walk(to) bool\n }\n }\n Anna <|-- Berta : is\n Anna \"1\" *-- \"many\" Clara : has\n note for Berta \"A note\"",
	},
	{
		"state",
		"stateDiagram-v2\n [*] --> Anna\n state Anna {\n  [*] --> Inner\n  Inner --> Other : step\n  --\n  [*] --> Second\n }\n state choice <<choice>>\n Anna --> choice : go\n choice --> Berta\n choice --> [*]\n note right of Berta : A note",
	},
	{
		"er",
		"erDiagram\n ANNA ||--o{ BERTA : has\n ANNA {\n string name PK \"a comment\"\n int age\n int size\n }\n BERTA }|..|{ CLARA : uses",
	},
	{
		"gantt",
		"gantt\n title Plan\n dateFormat YYYY-MM-DD\n excludes weekends\n section Anna\n Done :done, a1, 2026-01-05, 9d\n Active :active, a2, after a1, 9d\n section Berta\n Critical :crit, a3, 2026-01-08, 12d\n Critical and done :crit, done, 2026-01-05, 3d\n Milestone :milestone, 2026-01-20, 0d\n Short :2026-01-20, 1d\n section Clara\n Plain :2026-01-12, 12d\n section Dora\n Fourth :2026-01-12, 12d",
	},
	{
		"small letters",
		"%%{init: {\"gantt\": {\"fontSize\": 6}}}%%\ngantt\n dateFormat YYYY-MM-DD\n Small :2026-01-05, 9d",
	},
	{
		"pie",
		"pie showData title Share\n \"Anna\" : 3\n \"Berta\" : 2\n \"Clara\" : 2\n \"Dora\" : 1\n \"Emma\" : 1\n \"Frida\" : 1\n \"Gerda\" : 1\n \"Hanna\" : 1",
	},
	{
		"mindmap",
		"mindmap\n  root((Anna))\n    Berta\n      Second\n        Third\n    [Clara]\n      Leaf\n    (Dora)\n    ))Emma((\n    {{Frida}}\n    )Gerda(\n    Hanna\n    Ilse\n    Jana\n    Karla\n    Lena\n    Maria",
	},
	{
		"gitgraph",
		"gitGraph\n commit id: \"one\"\n branch Berta\n commit tag: \"v1\"\n branch Clara\n commit type: HIGHLIGHT\n branch Dora\n commit\n branch Emma\n commit type: REVERSE\n branch Frida\n commit\n branch Gerda\n commit\n branch Hanna\n commit\n checkout main\n commit id: \"two\"\n checkout Clara\n cherry-pick id: \"two\"",
	},
	{
		"timeline",
		"timeline\n title Time\n section Early\n 2001 : Anna : Berta\n 2002 : Clara\n section Late\n 2003 : Dora\n section Later\n 2004 : Emma\n section Last\n 2005 : Frida",
	},
	{
		"quadrant",
		"quadrantChart\n title Chart\n x-axis Low --> High\n y-axis Poor --> Rich\n quadrant-1 One\n quadrant-2 Two\n quadrant-3 Three\n quadrant-4 Four\n Anna: [0.3, 0.6]\n Berta: [0.8, 0.2]",
	},
	{
		"journey",
		"journey\n title Day\n section Work\n  Tea: 5: Anna\n  Write: 1: Anna, Berta\n section Home\n  Cook: 3: Clara, Dora",
	},
	{
		"xychart",
		"xychart-beta\n title Sales\n x-axis \"Who\" [Anna, Berta, Clara]\n y-axis \"Much\" 0 --> 10\n bar [1, 2, 3]\n line [9, 8, 9]",
	},
	{"sankey", "sankey-beta\nAnna,Berta,10\nAnna,Clara,5\nBerta,Dora,7\nClara,Dora,4\nBerta,Emma,3"},
	{
		"block",
		"block-beta\n columns 3\n a[\"Anna\"] b([\"Berta\"]) c((\"Clara\"))\n block:group:3\n  d[\"Dora\"] e{\"Emma\"}\n end\n a -- \"to\" --> d",
	},
	{"packet", "packet-beta\n title Header\n 0-15: \"Source\"\n 16-31: \"Destination\"\n 32-63: \"Sequence\""},
	{
		"kanban",
		"kanban\n  todo[To do]\n    t1[Write]@{ ticket: AB-1, priority: 'High', assigned: 'Anna' }\n    t2[Read]\n  doing[Doing]\n    t3[Draw]\n  done[Done]\n    t4[Sleep]",
	},
	{
		"radar",
		"radar-beta\n title Marks\n axis a[\"Maths\"], b[\"Art\"], c[\"Sport\"]\n curve x[\"Anna\"]{80, 90, 60}\n curve y[\"Berta\"]{50, 70, 95}\n max 100",
	},
	{
		"requirement",
		"requirementDiagram\n requirement first {\n id: 1\n text: it works\n risk: high\n verifymethod: test\n }\n element thing {\n type: simulation\n }\n thing - satisfies -> first",
	},
	{
		"architecture",
		"architecture-beta\n group api(cloud)[API]\n service db(database)[Database] in api\n service disk(disk)[Storage] in api\n service server(server)[Server] in api\n service net(internet)[Net]\n db:L -- R:server\n disk:T -- B:server\n net:R --> L:db",
	},
	{
		"c4",
		"C4Context\n title System\n Person(a, \"Anna\", \"A customer\")\n Person_Ext(x, \"Xaver\", \"Outside\")\n Enterprise_Boundary(b0, \"Bank\") {\n System(s, \"Banking\", \"What it does\")\n SystemDb(d, \"Store\")\n }\n System_Ext(m, \"Mail\", \"Of others\")\n BiRel(a, s, \"Uses\")\n Rel(s, m, \"Sends\", \"SMTP\")",
	},
	{
		"treemap",
		"treemap-beta\n\"Anna\"\n  \"Berta\": 10\n  \"Clara\"\n    \"Dora\": 5\n    \"Emma\": 7\n\"Frida\"\n  \"Gerda\": 8",
	},
}

// graphs are drawn by Graphviz.
var graphs = []struct{ name, source string }{
	{
		"graph",
		"digraph G { label=\"Title\"; rankdir=LR; subgraph cluster_a { label=\"Group\"; a -> b [label=\"to\"] } b -> c; c [shape=box, label=\"Clara\"]; " +
			"d [shape=record, label=\"one|{two|three}\"]; c -> d; e [shape=none, label=\"Plain\"]; d -> e [style=dashed] }",
	},
	{
		"table",
		"graph { a [shape=none, label=<<table border=\"1\"><tr><td>One</td><td>Two</td></tr><tr><td colspan=\"2\">Three</td></tr></table>>]; a -- b }",
	},
	{"small letters", "graph { node [fontsize=5]; Small -- Letters }"},
}

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
	kinds := append(slices.Clone(kinds), graphs...)
	first := len(kinds) - len(graphs) // of the graphs

	var draw, inspect []string

	for i, k := range kinds {
		language := Mermaid
		if i >= first {
			language = DOT
		}

		job, err := json.Marshal(
			map[string]any{
				"config":   config,
				"sheet":    sheet,
				"graph":    graph,
				"name":     fmt.Sprintf("k%d", i),
				"language": language,
				"source":   k.source,
				"least":    SmallestText,
			},
		)
		if err != nil {
			t.Fatal(err)
		}
		draw = append(draw, "("+drawJS+")("+string(job)+")")
	}

	var drawn []json.RawMessage

	for language, list := range map[string][]string{Mermaid: draw[:first], DOT: draw[first:]} {
		library, err := libraryOf(language)
		if err != nil {
			t.Fatal(err)
		}

		answers, err := browser.Script(t.Context(), library, list...)
		if err != nil {
			t.Fatal(err)
		}

		if language == DOT {
			drawn = append(drawn, answers...)
		} else {
			drawn = append(answers, drawn...)
		}
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
