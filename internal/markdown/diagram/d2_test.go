package diagram_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"presswork/internal/chromium"
	"presswork/internal/markdown/diagram"
	"presswork/internal/test/browsertest"
)

// drawD2 draws diagrams of D2 in the style of the tests.
func drawD2(t *testing.T, r *diagram.Renderer, diagrams ...string) []diagram.Picture {
	t.Helper()

	var sources []diagram.Source
	for _, text := range diagrams {
		sources = append(sources, diagram.Source{Language: diagram.D2, Text: text})
	}

	pictures, err := r.Draw(t.Context(), sources, style)
	if err != nil {
		t.Fatal(err)
	}

	return pictures
}

func TestD2IsDrawn(t *testing.T) {
	t.Parallel()
	r := diagram.New(diagram.Options{Script: browsertest.Start(t, patient).Script})
	rows := []struct{ name, source, text, look string }{
		{"shapes", "a: Anna\nb: Berta {shape: cylinder}\na -> b: to", "Anna|Berta|to", `font-family="Inter`},
		{"containers", "outer: Outer {inner: Größe {x: 日本}}", "Outer|Größe|日本", "<rect"},
		{"lines stop at their labels", "a -> b: label", "label", `<path[^>]* clip-path="url\(#dg`},
		{"colours of the author", "n: Dark {style.fill: \"#101010\"}", "Dark", `fill="rgb\(255, 255, 255\)"[^>]*>Dark`},
		{"tables", "t: Orders {shape: sql_table; id: int {constraint: primary_key}}", "Orders|id|int|PK", "<rect"},
		{"classes", "c: Queue {shape: class; +push(x): error; -size: int}", `Queue|push(x)|size`, "<rect"},
		{
			"sequences",
			"shape: sequence_diagram\na: Anna\nb: Berta\na -> b: Hello\nb -> a: Bye",
			"Anna|Berta|Hello|Bye",
			"<line|<path",
		},
		{"grids", "g: Grid {grid-columns: 2; a; b; c; d}", "Grid|a|b|c|d", "<rect"},
		{
			"Markdown",
			"n: |md\n  ## Title\n  Some **bold** `code`\n  - one\n  - two\n|",
			"Title|Some bold code|•|one|two",
			`font-weight="600"[^>]*>Title`,
		},
		{"code", "n: |go\n  func main() {}\n|", "func main() {}", `font-family="monospace"`},
		{"names with quotes", "a`b -> \"c${d}\": e", "a`b|c${d}|e", "marker-end"},
		{
			"variables and classes",
			"vars: {x: Value}\nclasses: {red: {style.stroke: red}}\na: ${x} {class: red}",
			"Value",
			`stroke="rgb\(255, 0, 0\)"`,
		},
		{"the first board", "layers: {x: {inside -> that}}\nscenarios: {y: {other}}", "inside|that", "<rect"},
		{
			"another engine and sketch",
			"vars: {d2-config: {layout-engine: elk; sketch: true; theme-id: 200}}\na -> b",
			"a|b",
			"<rect",
		},
	}

	var sources []string
	for _, row := range rows {
		sources = append(sources, row.source)
	}
	pictures := drawD2(t, r, sources...)

	for i, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()

			p := pictures[i]
			if p.Problem != "" || !strings.Contains(p.SVG, `role="img" aria-label="Diagram`) {
				t.Fatalf("got problem %q and %.300s, want a labelled picture", p.Problem, p.SVG)
			}

			text := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(p.SVG, "")
			for want := range strings.SplitSeq(row.text, "|") {
				if !strings.Contains(strings.ReplaceAll(text, "\u00a0", " "), want) {
					t.Errorf("%q is not in %q", want, text)
				}
			}

			if !regexp.MustCompile(row.look).MatchString(p.SVG) {
				t.Errorf("got %s, want a match of %s", p.SVG, row.look)
			}
			checkHarmless(t, p.SVG)
		})
	}
}

func TestErrorsOfD2NameTheirLine(t *testing.T) {
	t.Parallel()
	r := diagram.New(diagram.Options{Script: browsertest.Start(t, patient).Script})
	rows := map[string]diagram.Picture{
		"a\nb -> -> c":             {Problem: "connection missing destination", Line: 2},
		"a\n\nb: {shape: nope}":    {Problem: `unknown shape "nope"`, Line: 3},
		"a: @secret":               {Problem: "imports are not read; write their content into the diagram", Line: 1},
		"a\n...@../../etc/passwd":  {Problem: "imports are not read; write their content into the diagram", Line: 2},
		"vars: {x: ${x}}\na":       {Problem: `could not resolve variable "x"`, Line: 1},
		"a: |latex \\frac{a}{b} |": {Problem: "formulas in LaTeX are not drawn; write them as text"},
		"# only a comment":         {Problem: "it has no shapes"},
	}

	var sources []string
	for source := range rows {
		sources = append(sources, source)
	}

	for i, p := range drawD2(t, r, sources...) {
		if want := rows[sources[i]]; p != want {
			t.Errorf("%q: got %+v, want %+v", sources[i], p, want)
		}
	}
}

func TestHostileD2BecomesHarmlessPictures(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t, chromium.Options{Tabs: 2, ScriptTimeout: 5 * time.Second})
	rows := []struct{ name, source string }{
		{"links", `a: {link: "javascript:alert(1)"; tooltip: "<script>alert(1)</script>"}`},
		{"icons", "a: {icon: http://127.0.0.1:1/x.png}\nb: {shape: image; icon: file:///etc/passwd}"},
		{
			"HTML",
			"a: |md\n  <img src=x onerror=alert(1)> <script>alert(1)</script> <iframe src=\"http://127.0.0.1:1/\"></iframe>\n  [x](javascript:alert(1))\n|",
		},
		{
			"HTML that ends the picture",
			"a: |md\n  </div></foreignObject></svg><script>alert(1)</script><style>*{display:none}</style>\n|",
		},
		{"names", `"</text><script>alert(1)</script>": "x\" onload=\"alert(1)"`},
		{
			"styles",
			`a: {style.fill: "red;}*{background:url(http://127.0.0.1:1/)}"; style.font: "x;}body{display:none}"}`,
		},
		{"TeX", "a: |latex \\href{javascript:alert(1)}{x} \\def\\x{\\x\\x}\\x |"},
		{"braces", strings.Repeat("a: {", 12_000)},
		{"nested shapes", strings.Repeat("a.", 20_000) + "a"},
		{
			"globs",
			strings.Repeat("*.*.* -> *.*\n", 3) + strings.Repeat("a.b.c.d.e.f; ", 3) + manyNodes(50) +
				strings.Repeat("** -> **\n", 5),
		},
		{"sides", "a: {width: 99999999; height: 99999999}"},
		{"boards", strings.Repeat("layers: {x: {", 2000) + "a" + strings.Repeat("}}", 2000)},
		{"many nodes", manyNodes(4000)},
		{"too many nodes", manyNodes(20_000)},
	}

	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()

			start := time.Now()
			p := drawD2(t, diagram.New(diagram.Options{Script: b.Script}), row.source)[0]
			t.Logf("%d bytes, %q, %s", len(p.SVG), p.Problem, time.Since(start))

			if (p.SVG == "") == (p.Problem == "") {
				t.Errorf("got the picture %.80q and the problem %q, want one of them", p.SVG, p.Problem)
			}

			if p.SVG != "" {
				checkHarmless(t, p.SVG)
			}

			if strings.ContainsAny(p.Problem, "\n") || len(p.Problem) > 400 {
				t.Errorf("got %q, want one line of plain words", p.Problem)
			}
		})
	}
}

// manyNodes returns connected nodes.
func manyNodes(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d--%d\n", i, i*7%n)
	}

	return b.String()
}
