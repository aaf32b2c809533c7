package block_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"presswork/internal/markdown/block"
)

// outline writes a tree of blocks, one on each line.
func outline(blocks []block.Block, indent string) string {
	names := []string{
		"other",
		"paragraph",
		"heading",
		"table",
		"code",
		"division",
		"diagram",
		"footnotes",
		"note",
		"page break",
		"place",
	}

	var out strings.Builder
	for _, b := range blocks {
		out.WriteString(indent + names[b.Kind])

		if b.ID != "" {
			out.WriteString(" #" + b.ID)
		}

		for _, c := range b.Classes {
			out.WriteString(" ." + c)
		}

		if b.Unsound {
			out.WriteString(" unsound")
		}

		if b.Leaks {
			out.WriteString(" leaks")
		}
		out.WriteString("\n" + outline(b.Blocks, indent+"  "))
	}

	return out.String()
}

func TestReadCutsHTMLIntoBlocks(t *testing.T) {
	t.Parallel()

	tests := map[string]struct{ html, want string }{
		"elements and the space after them": {
			"<h1 id=\"a\">A</h1>\n<p>text</p>\n<hr>\n",
			"heading #a\nparagraph\nother\n",
		},
		"nested blocks": {
			"<ul>\n<li><p>one</p>\n<pre data-columns=\"90\">x</pre></li>\n</ul>\n",
			"other\n  paragraph\n  code\n",
		},
		"a diagram": {
			"<div class=\"diagram\"><svg width=\"1\"></svg></div>\n",
			"diagram .diagram\n",
		},
		"places": {
			"<nav class=\"toc-here\"></nav>\n<nav class=\"menu\"><p>x</p></nav>",
			"place .toc-here\nother .menu\n  paragraph\n",
		},
		"footnotes": {
			"<div class=\"footnotes\">\n<hr>\n<ol>\n<li id=\"fn:1\"><p>note</p><ol><li>x</li></ol></li>\n</ol>\n</div>\n",
			"footnotes .footnotes\n  note #fn:1\n    paragraph\n",
		},
		"markup in text": {"<p>no-header &lt;table&gt;</p>\n", "paragraph\n"},
		"a missing end tag": {
			"<div class=\"a\"><p>one</div>\n<p>two</p>\n",
			"division .a unsound\n  paragraph\nparagraph\n",
		},
		"a superfluous end tag": {"<p>one</p></em>\n<p>two</p>\n", "paragraph unsound\nparagraph\n"},
		"an end tag within an inline element": {
			"<p>one <em>two</p>\n<p>three</p>\n",
			"paragraph unsound leaks\nparagraph\n",
		},
		"an end tag within a block": {
			"<p>one <div>two</p>\n<p>three</p>\n",
			"paragraph unsound\n  division\n    paragraph\n",
		},
		"text alone": {"text", "other\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			blocks := block.Read(test.html)
			if got := outline(blocks, ""); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}

			if got := joined(blocks); got != test.html {
				t.Errorf("joined, the blocks are %q", got)
			}
		})
	}
}

func TestBlockDescribesItsContent(t *testing.T) {
	t.Parallel()
	read := func(html string) *block.Block { return &block.Read(html)[0] }

	pictures, plain := read("<p><img src=\"data:,\"> \u00ad</p>"), read("<p>is shown <em>here:</em></p>\n")
	if !pictures.PicturesOnly() || plain.PicturesOnly() {
		t.Error("PicturesOnly is wrong for a paragraph of pictures or of text")
	}

	if !plain.Leads() || plain.EndsWithColon() || !read("<p><strong>Bold</strong></p>").Leads() ||
		read("<p>no</p>").Leads() {
		t.Error("Leads or EndsWithColon is wrong")
	}

	if got := read("<p>12345<br>123<br>1</p>").Lines(4); got != 4 {
		t.Errorf("the paragraph has %d lines", got)
	}

	got := read(`<h2 id="x"><a href="#y">A</a> <em>b</em><sup id="fnref:1"><a>1</a></sup></h2>`).Entry()
	if got != "A <em>b</em>" {
		t.Errorf("the entry is %q", got)
	}

	table := read("<table><tr><th>Name</th></tr><tr><td colspan=\"2\">x y</td></tr></table>").Sizes()
	if table.Rows != 2 || !table.Spans || table.Letters != 7 || table.Columns[0].Word != 4 {
		t.Errorf("the table is %+v", table)
	}

	code := read(`<pre data-columns="90" class="x">y</pre>`)
	if got := code.TagWithStyle("a:b"); code.Columns != 90 || got != `<pre style="a:b" class="x">` {
		t.Errorf("the code block wants %d columns, and its tag becomes %s", code.Columns, got)
	}
}

// No element is cut, even if tags are missing or superfluous.
func TestTopLevelBlocksAreWholeElements(t *testing.T) {
	t.Parallel()

	for name, want := range map[string][]string{
		"whole elements":                {"<p>a</p>\n", "<hr>\n", "<div><p>b</p></div>"},
		"an end tag without an element": {"<details>\n</p>\n<p>a</p>\n</details>\n", "<p>b</p>"},
		"implied end tags":              {"<div><p>a<ul><li>b</ul></div>\n", "<p>b</p>"},
		"elements that continue":        {"<p>a</p>\n", "<div><b>a</div>\n", "<p>b</p>\n", "<h2>c</h2>\n</b>"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, b := range block.Read(strings.Join(want, "")) {
				got = append(got, b.HTML)
			}

			if !slices.Equal(got, want) {
				t.Errorf("%s: got %q, want %q", name, got, want)
			}
		})
	}
}

// FuzzRead checks that no HTML is lost, and that each block is at its offset.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("../testdata/render/*.txt")
	if err != nil || len(files) == 0 {
		f.Fatal("no golden files", err)
	}

	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	f.Add("<p><p></div><nav><ol></li></p><svg><title></svg>")
	f.Fuzz(func(t *testing.T, source string) {
		blocks := block.Read(source)
		if got := joined(blocks); got != source {
			t.Fatalf("%q became %q", source, got)
		}
		block.Walk(blocks, func(b *block.Block) {
			end := 0
			for _, within := range b.Blocks {
				if within.At < end || b.HTML[within.At:within.At+len(within.HTML)] != within.HTML {
					t.Fatalf("%q is not at %d of %q", within.HTML, within.At, b.HTML)
				}
				end = within.At + len(within.HTML)
			}

			if b.Tag()+b.Inner() == "" && b.After() != b.HTML {
				t.Fatalf("%q has no content", b.HTML)
			}
		})
	})
}

// joined returns the HTML of consecutive blocks.
func joined(blocks []block.Block) string {
	var out strings.Builder
	for _, b := range blocks {
		out.WriteString(b.HTML)
	}

	return out.String()
}
