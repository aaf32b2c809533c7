package diagram_test

import (
	"regexp"
	"strings"
	"testing"

	"presswork/internal/chromium"
	"presswork/internal/markdown/diagram"
	"presswork/internal/test/browsertest"
)

// graphviz draws graphs in the style of the tests.
func graphviz(t *testing.T, r *diagram.Renderer, graphs ...string) []diagram.Picture {
	t.Helper()

	var sources []diagram.Source
	for _, text := range graphs {
		sources = append(sources, diagram.Source{Language: diagram.DOT, Text: text})
	}

	pictures, err := r.Draw(t.Context(), sources, style)
	if err != nil {
		t.Fatal(err)
	}

	return pictures
}

func TestGraphsAreDrawn(t *testing.T) {
	t.Parallel()
	r := diagram.New(diagram.Options{Script: browsertest.Start(t, patient).Script})
	graphs := []struct{ source, text, look string }{
		{"digraph G { Anna -> Berta [label=to] }", "Anna|to|Berta", `<ellipse[^>]*fill="rgb\(`},
		{"strict graph { layout=neato; Anna -- Berta -- Clara -- Anna }", "Anna|Berta|Clara", `font-family="Inter`},
		{"graph { a [label=\"Größe\\n日本\"] }", "Größe|日本", `width="`},
		{
			"digraph { n [style=filled, fillcolor=\"#101010\", label=Dark] }",
			"Dark",
			`fill="rgb\(255, 255, 255\)"[^>]*>Dark`,
		},
		{"digraph { n [color=red, fontcolor=blue, label=Own] }", "Own", `stroke="rgb\(255, 0, 0\)"`},
		{
			"graph { t [shape=plain, label=<<table><tr><td>Cell</td><td><b>Bold</b></td></tr></table>>] }",
			"Cell|Bold",
			`font-weight="700"`,
		},
		{
			"graph { t [shape=none, label=<<table><tr><td bgcolor=\"black\">Dark</td><td>Plain</td></tr></table>>] }",
			"Dark|Plain",
			`fill="rgb\(255, 255, 255\)"[^>]*>Dark.*<text x="[0-9.]+" y="[-0-9.]+" font-family="[^"]*" font-size="14px"[^>]*>Plain`,
		},
		{"graph { subgraph cluster_x { label=Group; a } }", "Group", "<polygon"},
	}

	var sources []string
	for _, g := range graphs {
		sources = append(sources, g.source)
	}

	for i, p := range graphviz(t, r, sources...) {
		g := graphs[i]
		if p.Problem != "" || !strings.Contains(p.SVG, `role="img" aria-label="Diagram: graph"`) {
			t.Errorf("%s: %s %.300s", g.source, p.Problem, p.SVG)
			continue
		}

		text := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(p.SVG, "")
		for want := range strings.SplitSeq(g.text, "|") {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is not in %q", g.source, want, text)
			}
		}

		if !regexp.MustCompile(g.look).MatchString(p.SVG) {
			t.Errorf("%s: no %s in %s", g.source, g.look, p.SVG)
		}
		checkHarmless(t, p.SVG)
	}
}

func TestErrorsOfGraphsNameTheirLine(t *testing.T) {
	t.Parallel()
	r := diagram.New(diagram.Options{Script: browsertest.Start(t, patient).Script})

	for i, p := range graphviz(t, r, "digraph {\n a -> -> b\n}", "graph {\n a -- b\n") {
		want := []diagram.Picture{{Problem: "unexpected '->'", Line: 2}, {Problem: "it ends before it is complete", Line: 2}}[i]
		if p != want {
			t.Errorf("got %+v, want %+v", p, want)
		}
	}
}

func TestHostileGraphsBecomeHarmlessPictures(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t, chromium.Options{Tabs: 2})
	r := diagram.New(diagram.Options{Script: b.Script})

	for _, p := range graphviz(t, r,
		`graph { a [URL="javascript:alert(1)", href="http://127.0.0.1:1/", target=_top, tooltip="<script>alert(1)</script>"] }`,
		`graph { a [image="http://127.0.0.1:1/x.png", label=<<table><tr><td><img src="/etc/passwd"/></td></tr></table>>] }`,
		`graph { stylesheet="http://127.0.0.1:1/x.css"; a [label="</text><script>alert(1)</script>", id="x\" onload=\"alert(1)"] }`,
		`graph { fontname="x;} body{display:none"; fontpath="/etc"; imagepath="/etc"; shapefile="/etc/passwd"; a [shapefile="/etc/passwd"] }`,
		`graph { size="100000,100000!"; a -- b }`,
		`graph { a [width=99999, height=99999] }`,
		"graph { "+strings.Repeat("{", 20_000),
		"graph { "+strings.Repeat("a -- b; ", 5000)+"}",
		"graph { node [shape=polygon, sides=100000, peripheries=1000]; a }",
	) {
		if (p.SVG == "") == (p.Problem == "") {
			t.Errorf("got the picture %.80q and the problem %q, want one of them", p.SVG, p.Problem)
		}

		if p.SVG != "" {
			checkHarmless(t, p.SVG)
		}

		if strings.ContainsAny(p.Problem, "\n") || len(p.Problem) > 400 {
			t.Errorf("got %q, want one line of plain words", p.Problem)
		}
	}
}

// Graphs and Mermaid diagrams of a document need different libraries, and keep their order.
func TestLanguagesAreMixed(t *testing.T) {
	t.Parallel()
	r := diagram.New(diagram.Options{Script: browsertest.Start(t, patient).Script})

	pictures, err := r.Draw(t.Context(), []diagram.Source{
		{Language: diagram.DOT, Text: "graph { One }"},
		{Language: diagram.Mermaid, Text: "flowchart TD\n Two"},
		{Language: diagram.DOT, Text: "graph { Three }"},
	}, style)
	if err != nil {
		t.Fatal(err)
	}

	for i, want := range []string{"One", "Two", "Three"} {
		if !strings.Contains(pictures[i].SVG, want) {
			t.Errorf("picture %d: %+v, want %s", i, pictures[i], want)
		}
	}
}
