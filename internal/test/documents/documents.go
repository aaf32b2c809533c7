// Package documents provides Markdown documents for measurements of speed.
package documents

import (
	"fmt"
	"strings"
)

// Document is one kind of document. Markdown(n) returns the nth document of the kind. All have different text of about
// the same length.
type Document struct {
	Name     string
	Markdown func(n int) string
}

const prose = "The quick brown fox jumps over the lazy dog while **every** reader of this paragraph waits for " +
	"`something` to happen in it. "

// All returns the kinds of documents, each of one to three pages. The first is the reference document with some of
// everything; each other has much of one thing.
func All() []Document {
	return []Document{
		{"reference", reference},
		{"headings", headings},
		{"prose", paragraphs},
		{"lists", lists},
		{"code", code},
		{"tables", tables},
		{"big table", bigTable},
	}
}

// repeat returns the nth document of a kind: a title with n in it, then a number of blocks that block writes.
func repeat(kind string, n, blocks int, block func(b *strings.Builder, i int)) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s %d\n\n", kind, n)

	for i := range blocks {
		block(&b, i)
	}

	return b.String()
}

func reference(n int) string {
	return repeat("Report", n, 6, func(b *strings.Builder, i int) {
		fmt.Fprintf(
			b,
			"## Section %d\n\n%s\n\n| Name | Count | State |\n|---|---:|---|\n| alpha | %d | ready |\n| beta | 22 "+
				"| waiting |\n| gamma | 333 | gone |\n\n",
			i,
			strings.Repeat(prose, 2),
			n,
		)
		fmt.Fprintf(
			b,
			"- first item\n- second item with *emphasis*\n- third item\n\n```go\nfunc main() "+
				"{\n\tfmt.Println(\"hello\", %d)\n}\n```\n\n",
			i,
		)
	})
}

func headings(n int) string {
	return repeat("Headings", n, 40, func(b *strings.Builder, i int) {
		fmt.Fprintf(b, "%s Heading %d of the document\n\n", strings.Repeat("#", 2+i%3), i)
	})
}

func paragraphs(n int) string {
	return repeat("Prose", n, 16,
		func(b *strings.Builder, i int) { fmt.Fprintf(b, "%d. paragraph: %s\n\n", i, strings.Repeat(prose, 4)) })
}

func lists(n int) string {
	return repeat("Lists", n, 12, func(b *strings.Builder, i int) {
		fmt.Fprintf(
			b,
			"Group %d:\n\n- one item\n- another item with **weight**\n  - nested\n  - nested again\n- a "+
				"third\n\n1. step\n2. step\n3. step\n\n",
			i,
		)
	})
}

func code(n int) string {
	return repeat("Code", n, 8, func(b *strings.Builder, i int) {
		fmt.Fprintf(
			b,
			"```go\n// f%d doubles what it gets.\nfunc f%d(x int) (int, error) {\n\tif x < 0 {\n\t\treturn 0, "+
				"fmt.Errorf(\"negative: %%d\", x)\n\t}\n\treturn 2 * x, nil\n}\n```\n\n",
			i,
			i,
		)
	})
}

func tables(n int) string {
	return repeat("Tables", n, 18, func(b *strings.Builder, i int) {
		fmt.Fprintf(
			b,
			"| Name | Count | State |\n|---|---:|---|\n| alpha | %d | ready |\n| beta | 22 | waiting |\n| gamma | "+
				"333 | gone |\n\n",
			i,
		)
	})
}

func bigTable(n int) string {
	return repeat("Table", n, 1, func(b *strings.Builder, _ int) {
		b.WriteString("| Number | Name | Count | State | Remark |\n|---|---|---:|---|---|\n")

		for row := range 90 {
			fmt.Fprintf(b, "| %d | name %d | %d | ready | a few words here |\n", row, row, row*37)
		}
	})
}
