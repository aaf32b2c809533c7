package drawntable_test

import (
	"strings"
	"testing"

	"github.com/yuin/goldmark/parser"

	"presswork/internal/markdown/ext/drawntable"
	"presswork/internal/test/rendered"
)

// render returns the HTML of a document with drawn tables.
func render(t *testing.T, source string) string {
	t.Helper()

	cells := parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...))
	m, pc := rendered.New(drawntable.Extension{Cells: cells}), parser.NewContext()
	extended, tables := drawntable.Find([]byte(source))
	root := m.Parser().Parse(tables.NewReader(extended, len(source), pc), parser.WithContext(pc))

	var out strings.Builder
	if err := m.Renderer().Render(&out, extended, root); err != nil {
		t.Fatal(err)
	}

	return out.String()
}

// cellsOf returns the rows of a table in short: "<>a|<left>b|/" for a row of two cells, with "=" after
// the head.
func cellsOf(html string) string {
	return strings.NewReplacer(
		"<table>\n", "", "</table>\n", "", "<thead>\n", "", "</thead>\n", "=", "<tbody>\n", "", "</tbody>\n", "",
		"<tr>\n", "", "</tr>\n", "/", "<th", "<", "<td", "<", "</th>\n", "|", "</td>\n", "|",
		` style="text-align:left"`, "left", ` style="text-align:right"`, "right",
		` style="text-align:center"`, "center",
	).Replace(html)
}

func TestGridTables(t *testing.T) {
	t.Parallel()

	for name, row := range map[string]struct{ source, want string }{
		"head and body":  {"+---+---+\n| a | b |\n+===+===+\n| c | d |\n+---+---+\n", "<>a|<>b|/=<>c|<>d|/"},
		"no head":        {"+---+\n| a |\n+---+\n", "<>a|/"},
		"alignment":      {"+:-:+--:+\n| a | b |\n+---+---+\n", `<center>a|<right>b|/`},
		"two columns":    {"+---+---+\n| a     |\n+---+---+\n| b | c |\n+---+---+\n", `< colspan="2">a|/<>b|<>c|/`},
		"two rows":       {"+---+---+\n| a | b |\n|   +---+\n|   | c |\n+---+---+\n", `< rowspan="2">a|<>b|/<>c|/`},
		"blocks":         {"+-----+\n| - a |\n| - b |\n+-----+\n", "<><ul>\n<li>a</li>\n<li>b</li>\n</ul>\n|/"},
		"wide letters":   {"+----+\n| 漢 |\n+----+\n", "<>漢|/"},
		"in a quote":     {"> +---+\n> | a |\n> +---+\n", "<blockquote>\n<>a|/</blockquote>\n"},
		"markup":         {"+-----+\n| <b> |\n+-----+\n", "<><b>\n|/"},
		"crooked border": {"+---+\n| a  |\n+---+\n", "<p>+---+\n| a  |\n+---+</p>\n"},
		"open border":    {"+---+---+\n| a | b |\n+---+   +\n", "<p>+---+---+\n| a | b |\n+---+   +</p>\n"},
		"in code":        {"```\n+---+\n| a |\n+---+\n```\n", "<pre><code>+---+\n| a |\n+---+\n</code></pre>\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := cellsOf(render(t, row.source)); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func TestRuledTables(t *testing.T) {
	t.Parallel()

	for name, row := range map[string]struct{ source, want string }{
		"simple":    {"a   b\n--- ---\nc   d\n", "<left>a|<left>b|/=<left>c|<left>d|/"},
		"no head":   {"--- ---\na   b\n--- ---\n", "<left>a|<left>b|/"},
		"alignment": {"  a  b  c\n--- --- ---\nd   e   f\n", "<right>a|<center>b|<left>c|/=<right>d|<center>e|<left>f|/"},
		"multi-line": {
			"--------\na   b\n--- ----\nc   d\n    e\n\nf   g\n--------\n",
			"<left>a|<left>b|/=<left>c|<left>d\ne|/<left>f|<left>g|/",
		},
		"after text":        {"text\na   b\n--- ---\nc   d\n", "<p>text\na   b</p>\n<hr>\n<p>c   d</p>\n"},
		"text in the gap":   {"a   b\n--- ---\nc d e\nlong text\n", "<p>a   b</p>\n<hr>\n<p>c d e\nlong text</p>\n"},
		"thematic break":    {"- - -\n\n-- --\n", "<hr>\n<hr>\n"},
		"in a fenced block": {"```\na   b\n--- ---\nc   d\n```\n", "<pre><code>a   b\n--- ---\nc   d\n</code></pre>\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if got := cellsOf(render(t, row.source)); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func TestCellOffsetsNameTheirTable(t *testing.T) {
	t.Parallel()
	const source = "x\n\n+---+---+\n| a | b |\n+---+---+\n"
	extended, tables := drawntable.Find([]byte(source))

	for i, pair := range tables.CellOffsets() {
		if got, want := string(extended[pair[0]:pair[0]+1]), "ab"[i:i+1]; got != want {
			t.Errorf("cell %d begins with %q, want %q", i, got, want)
		}

		if pair[1] != strings.Index(source, "+") {
			t.Errorf("the table of cell %d is at %d", i, pair[1])
		}
	}

	for _, source := range []string{"no table", "```\nx\n\na   b\n--- ---\nc   d\n```\n"} {
		if extended, tables := drawntable.Find([]byte(source)); tables != nil || string(extended) != source {
			t.Errorf("%v in %q", tables, extended)
		}
	}
}

func TestLargeGridsStayText(t *testing.T) {
	t.Parallel()

	for name, source := range map[string]string{
		"cells":  strings.Repeat("+-+\n|a|\n", 5001) + "+-+\n",
		"border": strings.Repeat(strings.Repeat("+", 900)+"\n"+strings.Repeat("|", 900)+"\n", 30) + "+\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			if _, tables := drawntable.Find([]byte(source)); tables != nil {
				t.Errorf("%d tables", len(tables))
			}
		})
	}
}
