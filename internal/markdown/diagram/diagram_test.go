package diagram_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"presswork/internal/chromium"
	"presswork/internal/fault"
	"presswork/internal/markdown/diagram"
	"presswork/internal/test/browsertest"
	"presswork/internal/test/wait"
)

var style = diagram.Style{
	Page: "#ffffff", Text: "#1f2328", Line: "#d0d7de", Font: "Inter, sans-serif", Size: 14,
	Accents: []string{"#4a2fd8", "#e0338c", "#d49a00", "#c0392b"},
}

// patient allows for a busy machine.
var patient = chromium.Options{Tabs: 2, ScriptTimeout: wait.Patience}

func TestEveryKindIsDrawn(t *testing.T) {
	t.Parallel()
	r := diagram.New(diagram.Options{Script: browsertest.Start(t, patient).Script})
	kinds := []struct{ source, label, text string }{
		{"flowchart TD\n A[Anna] -->|to| B{Berta}\n subgraph Group\n B\n end", "flow chart", "Anna|to|Berta|Group"},
		{"sequenceDiagram\n Anna->>Berta: Hello\n Note over Anna: Note", "sequence diagram", "Anna|Berta|Hello|Note"},
		{"classDiagram\n Anna <|-- Berta\n Anna : +int age", "class diagram", "Anna|Berta|age"},
		{"stateDiagram-v2\n [*] --> Anna\n Anna --> Berta : go", "state diagram", "Anna|Berta|go"},
		{"erDiagram\n ANNA ||--o{ BERTA : has", "entity relationship diagram", "ANNA|BERTA|has"},
		{
			"gantt\n title Plan\n dateFormat YYYY-MM-DD\n section Anna\n Berta :a1, 2026-01-01, 30d",
			"Gantt chart",
			"Plan|Anna|Berta",
		},
		{"pie title Share\n \"Anna\" : 3\n \"Berta\" : 1", "pie chart", "Share|Anna|75%"},
		{"mindmap\n  root((Anna))\n    Berta", "mind map", "Anna|Berta"},
		{"gitGraph\n commit id: \"Anna\"\n branch Berta\n commit", "Git graph", "Anna|Berta|main"},
		{"timeline\n title Time\n 2002 : Anna", "timeline", "Time|2002|Anna"},
		{"quadrantChart\n title Chart\n x-axis Low --> High\n Anna: [0.3, 0.6]", "quadrant chart", "Chart|Low|Anna"},
		{"journey\n title Day\n section Work\n  Tea: 5: Anna", "user journey", "Day|Work|Tea|Anna"},
		{"xychart-beta\n title Sales\n x-axis [Anna, Berta]\n bar [1, 2]", "chart", "Sales|Anna"},
		{"flowchart LR\n accTitle: What happens\n accDescr: Anna meets Berta\n A --> B", "", "A|B"},
	}

	var sources []string
	for _, k := range kinds {
		sources = append(sources, k.source)
	}

	for i, p := range draw(t, r, sources...) {
		k := kinds[i]
		if p.Problem != "" {
			t.Errorf("%s: %s", k.source, p.Problem)
			continue
		}

		label := `aria-label="Diagram: ` + k.label + `"`
		if k.label == "" {
			label = `aria-label="What happens: Anna meets Berta"`
		}

		if !strings.Contains(p.SVG, `role="img" `+label) {
			t.Errorf("%s: no %s in %.300s", k.source, label, p.SVG)
		}

		text := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(p.SVG, "")
		for want := range strings.SplitSeq(k.text, "|") {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is not in %q", k.source, want, text)
			}
		}
		checkHarmless(t, p.SVG)
	}
}

// Mermaid alone leaves some text unreadable. It is as light as the author's colour of its node, has the colour of
// the box behind it, or lies on other text.
func TestTextIsReadable(t *testing.T) {
	t.Parallel()
	dark := diagram.Style{
		Dark:    true,
		Page:    "#101020",
		Text:    "#f0f0f0",
		Line:    "#404050",
		Font:    "Inter",
		Size:    14,
		Accents: style.Accents,
	}

	p, err := diagram.New(diagram.Options{Script: browsertest.Start(t, patient).Script}).Draw(t.Context(), mermaid(
		"flowchart TD\n a[Anna] --> b[Berta] --> c[Clara]\n style a fill:#ffddff\n style b fill:#ffddff,color:#ff0000",
		"journey\n title Day\n section Work\n  Tea: 5: Anna",
		"gantt\n dateFormat YYYY-MM-DD\n axisFormat %Y-%m-%d\n tickInterval 1day\n Anna :2026-01-01, 90d",
		"classDiagram\n Anna --> Berta : knows",
		"sequenceDiagram\n rect rgb(200, 220, 240)\n Anna->>Berta: Hello\n end",
	), dark)
	if err != nil {
		t.Fatal(err)
	}

	for i, want := range [][]string{
		{`fill="rgb\(0, 0, 0\)"[^A]*Anna`, `fill="rgb\(255, 0, 0\)"[^B]*Berta`, `^.*fill="rgb\(240, 240, 240\)"`},
		{`<text[^>]*><tspan[^>]*>Work`, `<text[^>]*><tspan[^>]*>Tea`},
		{`stroke="rgb\(64, 64, 80\)"`},
		{`<rect[^>]*fill="rgb\(16, 16, 32\)"[^k]*<text[^k]*knows`},
		{`<rect[^>]*fill="rgb\(200, 220, 240\)" fill-opacity="0\.[1-4]`},
	} {
		t.Run(fmt.Sprintf("diagram %d", i), func(t *testing.T) {
			for _, pattern := range want {
				if !regexp.MustCompile(pattern).MatchString(p[i].SVG) {
					t.Errorf("%d: no %s in %s (%s)", i, pattern, p[i].SVG, p[i].Problem)
				}
			}
		})
	}

	if regexp.MustCompile(`<text[^>]* fill="[^>]*>(<tspan[^>]*>)?(Work|Tea)`).MatchString(p[1].SVG) {
		t.Errorf("the texts of the user journey have other colours: %s", p[1].SVG)
	}

	if n := strings.Count(p[2].SVG, ">2026-"); n < 3 || n > 12 {
		t.Errorf("got %d dates below the Gantt chart, want 3 to 12", n)
	}
}

func mermaid(texts ...string) (sources []diagram.Source) {
	for _, text := range texts {
		sources = append(sources, diagram.Source{Language: diagram.Mermaid, Text: text})
	}

	return sources
}

// draw draws Mermaid diagrams in the style of the tests.
func draw(t testing.TB, r *diagram.Renderer, sources ...string) []diagram.Picture {
	t.Helper()

	pictures, err := r.Draw(t.Context(), mermaid(sources...), style)
	if err != nil {
		t.Fatal(err)
	}

	return pictures
}

const answer = `{"svg":"<svg xmlns=\"http://www.w3.org/2000/svg\"><text id=\"a\">x</text></svg>","width":10,"height":5}`

// drawer returns a Script that draws every source up to the first for which broken returns an error. It records
// the number of drawn sources in runs.
func drawer(runs *[]int, broken func(expression string) error) diagram.Script {
	return func(_ context.Context, _ string, expressions ...string) (values []json.RawMessage, err error) {
		defer func() { *runs = append(*runs, len(values)) }()

		for _, e := range expressions {
			if err := broken(e); err != nil {
				return values, err
			}
			values = append(values, json.RawMessage(answer))
		}

		return values, nil
	}
}

// A diagram that breaks its page does not affect the others.
func TestADiagramThatHangsDoesNotAffectOthers(t *testing.T) {
	t.Parallel()
	var runs []int

	r := diagram.New(diagram.Options{Script: drawer(&runs, func(job string) error {
		if strings.Contains(job, "endless") {
			return fault.Errorf(fault.RenderTimeout, "too long")
		}

		return nil
	})})
	for range 2 {
		p := draw(t, r, "good", "endless", "fine", "good")
		if p[0].SVG == "" || p[2].SVG == "" || p[1].Problem != "it takes too long to draw" || p[1].SVG != "" {
			t.Errorf("%+v", p)
		}

		if p[0].SVG == p[3].SVG || !strings.Contains(p[3].SVG, "-2-0") {
			t.Errorf("the ids of %s and %s are equal", p[0].SVG, p[3].SVG)
		}
	}
	// The first call needs the page that breaks, one for the diagram alone, and one for the rest. The second call
	// draws only the failed diagram.
	if want := []int{1, 0, 1, 0, 0}; !slices.Equal(runs, want) {
		t.Errorf("runs drew %d diagrams, want %d", runs, want)
	}
}

// A page that is slow because the machine is busy still draws all diagrams. Each one that runs out of time is
// tried again.
func TestDiagramsInASlowPageAreDrawn(t *testing.T) {
	t.Parallel()
	var runs []int
	late := map[string]bool{"no 70": true, "no 80": true}
	r := diagram.New(diagram.Options{Script: drawer(&runs, func(job string) error {
		for source := range late {
			if strings.Contains(job, source) {
				delete(late, source)
				return fault.Errorf(fault.RenderTimeout, "too long")
			}
		}

		return nil
	})})

	var sources []string
	for i := range 147 {
		sources = append(sources, fmt.Sprintf("no %d", i))
	}

	for i, p := range draw(t, r, sources...) {
		if p.SVG == "" {
			t.Errorf("diagram %d: %s", i, p.Problem)
		}
	}

	if want := []int{25, 25, 20, 10, 25, 25, 17}; !slices.Equal(runs, want) {
		t.Errorf("runs drew %d diagrams, want %d", runs, want)
	}
}

func TestHopelessDiagramsAreBounded(t *testing.T) {
	t.Parallel()
	var runs []int
	r := diagram.New(diagram.Options{Script: drawer(&runs, func(job string) error {
		if strings.Contains(job, "endless") {
			return fault.Errorf(fault.RenderTimeout, "too long")
		}

		return nil
	})})

	var sources []string
	for i := range 100 {
		sources = append(sources, fmt.Sprintf("fine %d", i), fmt.Sprintf("endless %d", i))
	}

	for i, p := range draw(t, r, sources...) {
		if (p.SVG == "") == (p.Problem == "") || i < 4 && (p.SVG == "") != (i%2 == 1) {
			t.Errorf("diagram %d: %+v", i, p)
		}
	}

	if len(runs) != 4 {
		t.Errorf("got %d broken pages, want 4", len(runs))
	}
}

func TestDrawEndsWithItsContextAndItsBrowser(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		end  bool
		err  error
		want fault.Code
	}{
		"the context ends":   {true, errors.New("the context has ended"), fault.Internal},
		"the browser breaks": {false, fault.Errorf(fault.BrowserUnavailable, "the browser has ended"), fault.BrowserUnavailable},
	} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		var runs []int

		r := diagram.New(diagram.Options{Script: drawer(&runs, func(string) error {
			if c.end {
				cancel()
			}

			return c.err
		})})
		if p, err := r.Draw(ctx, mermaid("a", "b"), style); fault.CodeOf(err) != c.want || len(runs) != 1 {
			t.Errorf("%s: %+v, %v after %d runs", name, p, err, len(runs))
		}
	}
	// Without a browser, diagrams stay source.
	var runs []int

	r := diagram.New(
		diagram.Options{Script: drawer(&runs, func(string) error { return errors.New("no browser was found") })},
	)
	if p := draw(t, r, "a", "b"); p[0].Problem == "" || p[1].Problem == "" || len(runs) != 1 {
		t.Errorf("%+v after %d runs", p, len(runs))
	}
}

// BenchmarkDraw draws one and ten diagrams that are not in a cache. Each run loads Mermaid into a new page.
func BenchmarkDraw(b *testing.B) {
	browser := browsertest.Start(b, chromium.Options{Tabs: 2})
	for _, n := range []int{1, 10} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				var sources []string
				for j := range n {
					sources = append(
						sources,
						fmt.Sprintf("flowchart LR\n a[Anna %d] --> b[Berta %d]\n b --> c{Choice} --> d", i, j),
					)
				}

				for _, p := range draw(b, diagram.New(diagram.Options{Script: browser.Script}), sources...) {
					if p.Problem != "" {
						b.Fatal(p.Problem)
					}
				}
			}
		})
	}
}
