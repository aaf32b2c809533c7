package markdown

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"

	"presswork/internal/markdown/dialect"
	"presswork/internal/markdown/ext/reference"
	"presswork/internal/markdown/tree"
	"presswork/internal/test/cputime"
)

// superLinear returns patterns that take goldmark quadratic time or more when they are repeated. They were found
// by trying repeated patterns and random combinations of tokens.
func superLinear() []string {
	return []string{
		"*a_ ",
		"_a* ",
		"*a**b ",
		"~a~~b ",
		"**a*b",
		"*_",
		"__~~([](",
		"[a](",
		"[a](b",
		"[a](<b",
		"[a](b \"c\n",
		"[a](b 'c\n",
		"[a*](b",
		"[x](y(",
		"[*a*](b) ",
		"[[a]] ",
		"[",
		"![",
		"![a](",
		";![](",
		"](![http://",
		"[a][b",
		"[a]: b\n",
		"[a]: b\n'c\n",
		"[^1]\n@",
		"[^1]: b\n\n",
		"[^1](",
		"```\n=**\\`",
		"`a``b",
		"`\n",
		"~",
		"~- ",
		"<a ",
		"<a b='",
		"<!--",
		"<?",
		"<!A",
		"<![CDATA[",
		"&a",
		"http://a",
		"(((http://a.b)))",
		"a@b",
		"{",
		"]{.a}",
		"[a]{.b}",
		"[[a]{.b}",
		"`a`{.b} ",
		"*a*{.b}",
		"{.a b=\"",
		"{a=[",
		"a {.b}\n",
		"a\n\n{.b}\n\n",
		"a~b",
		"~a~",
		"a~b~c~",
		"^a",
		"^a^",
		"x^",
		"^[",
		"a^[",
		"^[a b] ",
		"^[[",
		"^[`",
		"^[a\n",
		"x^[^[a b]",
		"==a",
		"a==",
		"==a== ",
		"++a ++",
		"==a ++b ",
		"=",
		"+",
		":",
		":a",
		":smile:",
		"::smile:",
		"*[a]: b\n",
		"*[a",
		"*[a b]: c\n\na a a ",
		"![a](b =",
		"![a](b \"",
		"![a](b =1x",
		"!!! note\n",
		"!!! note\n    ",
		"!!!",
		"??? a \"",
		":::a\n",
		":::a\n:::\n",
		":::",
		"::: {.a\n",
		"> :::a\n",
		"|a|\n|-|\n\n: b\n\n",
		"# a {#b}\n",
		"```a {",
		"[[toc]]\n\n",
		"> ",
		"- ",
		"1. ",
		">- ",
		"* - ",
		"* * * ",
		"#",
		"a|b\n",
		"-|-\n",
		"a\n: b\n\n",
		"[[a",
		"[[a|b]] ",
		"![[a|",
		"[[#a]] ",
		"[[a]][[b|c]]",
		"![[a|b]]%%",
		"![[a|b]]\n\n%%a\n",
		"{/*",
		"{/* */",
		"{/*\n\n",
		"*/} {/*",
		"{++",
		"{++a",
		"{++a++}",
		"{--a",
		"--} {--",
		"{~~a~>",
		"{>>a<<} ",
		"{++{--",
		"a. b\n",
		"a. b\nb. c\n",
		"i. b\n\n",
		"> a. b\n",
		"(@) a\n",
		"(@a) ",
		"#. a\n",
		"#. ",
		"> [!a] b\n",
		"> [!a]- *b\n",
		"::: columns\n",
		"\\index{",
		"\\index{a} ",
		"\\index{a!b|see{c}}",
		"[a]{.index} ",
		"| a\n",
		"| a\n\n",
		"|\n b\n",
		"import \"a\"\n<A/>\n",
		"export {\n",
		"][](\"(]",
		"[]:---\n '**",
		"]([^b",
	}
}

func TestHostilePatternsAreParsedInBoundedTime(t *testing.T) {
	t.Parallel()
	p := newParser()
	// 30 times what the slowest takes on an idle machine. Without the guards many of these take far more.
	const limit = time.Minute
	size := 300_000

	switch {
	case RaceDetector:
		size = 4_000
	case testing.Short():
		size = 10_000
	}

	for _, pattern := range superLinear() {
		src := strings.Repeat(pattern, size/len(pattern))
		checkTime(t, p, src, limit)

		if !startsParagraph(t, p, strings.Repeat(pattern, 3)) {
			checkTime(t, p, "x"+src, limit)
		}
	}
}

// startsParagraph reports whether the text begins with a plain paragraph.
func startsParagraph(t *testing.T, p parser.Parser, src string) bool {
	t.Helper()

	root, err := parse(t.Context(), p, []byte(src), dialect.Detect([]byte(src)), reference.None)
	if err != nil {
		t.Fatalf("%q: %v", src, err)
	}

	return root.FirstChild() != nil && root.FirstChild().Kind() == ast.KindParagraph
}

// checkTime fails the test if parsing takes more CPU time than limit.
func checkTime(t *testing.T, p parser.Parser, src string, limit time.Duration) {
	t.Helper()

	var err error

	took := cputime.Of(
		func() {
			_, err = parse(t.Context(), p, []byte(src), dialect.Detect([]byte(src)), labelKeys([]byte(src)))
		},
	)
	if took > limit {
		t.Errorf("%.20q took %s, with the error %v", src, took, err)
	}
}

// The steps after parsing are linear as well. Each of these once took minutes, or would have at a tenth of the
// largest document.
func TestHostilePatternsAreRenderedInBoundedTime(t *testing.T) {
	t.Parallel()
	const limit = time.Minute

	size := 2_400_000
	if testing.Short() || RaceDetector {
		size /= 10
	}

	var languages strings.Builder
	for i := range 300 {
		fmt.Fprintf(&languages, "```unknown%d\nx\n```\n", i)
	}
	r := New()

	for name, src := range map[string]string{
		"borders of drawn tables":       strings.Repeat("+-+\n", size/4),
		"labels above":                  strings.Repeat("(a)=\n", size/5),
		"roles":                         strings.Repeat("{ref}`", size/6) + "a\n",
		"nested directives":             strings.Repeat("```{note}\n", size/10),
		"directives of colons":          strings.Repeat(":::{note}\n", size/10),
		"directives and their ends":     strings.Repeat(":::{note}\n", size/40) + strings.Repeat(":::\n", size/40),
		"directives in items":           strings.Repeat("- ```{tip}\n", size/11),
		"directives after labels":       "```{note}\n```\n" + strings.Repeat("(a)=\n", size/5),
		"options":                       "```{note}\n" + strings.Repeat(":a: b\n  c\n", size/10),
		"an option of many lines":       "```{note}\n:a: b\n" + strings.Repeat("  c\n", size/4) + "```\n",
		"lists that are tables":         strings.Repeat("```{list-table}\n* - a\n```\n", size/100),
		"entries of an index":           "```{index} a\n" + strings.Repeat("pair: a; b\n", size/200),
		"links without text":            "```{note}\n```\n" + strings.Repeat("[](#a)\n\n", size/50),
		"attribute lists":               strings.Repeat("{: a=\"b\"}\n", size/11) + "x",
		"comments of kramdown":          strings.Repeat("{::comment}", size/11),
		"drawn tables":                  strings.Repeat("+-+\n|a|\n+-+\n\n", 1000) + strings.Repeat("+-+\n\n", size/20),
		"one drawn table":               strings.Repeat("+-+\n|\u00e9|\n", 4000) + "+-+\n",
		"corners without cells":         strings.Repeat(strings.Repeat("+", 900)+"\n"+strings.Repeat("|", 899)+" \n", size/1800),
		"corners and a gap":             strings.Repeat(strings.Repeat("+-", 400)+"+\n", size/900) + "+" + strings.Repeat("-", 799) + "+\n",
		"blocks in an unknown language": strings.Repeat("```unknown\nx\n```\n", 10_000),
		"unknown languages":             languages.String(),
		"info strings":                  strings.Repeat("```go "+strings.Repeat("{", tree.MaxBraces-20)+"\nx\n```\n", size/tree.MaxBraces),
		"marks without a match":         strings.Repeat(" 'a", size/3) + "\nx",
		"elements closed at the end":    strings.Repeat("<svg>", size/5) + "</svg>\n",
		"admonitions without an end":    "import x from 'y'\n\n" + strings.Repeat("<Note>\n\n", size/30),
		"template tags":                 strings.Repeat("{% note %}\n", size/30),
		"a template tag and code":       "{% note %}\n" + strings.Repeat("`a`", 4*size),
		"classes of one element":        strings.Repeat("{.a}\n\n", size/6),
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			if took := cputime.Of(func() { _, err = r.Parse(t.Context(), []byte(src), Options{}) }); took > limit {
				t.Errorf("took %s, with the error %v", took, err)
			}
		})
	}
}

func TestOrdinaryBulkIsAccepted(t *testing.T) {
	t.Parallel()

	for name, src := range map[string]string{
		"5 MB of prose":          strings.Repeat("The *quick* **brown** fox `jumps` over [the](http://lazy.dog) dog.\nAnd on. ", 70_000),
		"paragraphs":             strings.Repeat("The *quick* **brown** fox _jumps_ over [the](http://lazy.dog) dog [x] (y).\n\n", 20_000),
		"a 100 000-row table":    "|a|b|c|\n|-|-|-|\n" + strings.Repeat("|*x*|`y`|[z](http://z)|\n", 100_000),
		"a long list":            strings.Repeat("- item with *emphasis*\n  - nested\n", 30_000),
		"a footnote cited often": strings.Repeat("text[^1]\n\n", 20_000) + "[^1]: note\n",
		"one long line":          strings.Repeat("word ", 1_000_000),
	} {
		t.Run(name, func(t *testing.T) {
			if name == "5 MB of prose" {
				src = strings.ReplaceAll(src, "And on. ", "And on.\n\n")
			}

			if err := Check([]byte(src)); err != nil {
				t.Errorf("%s: %v", name, err)
			}

			if _, err := parse(t.Context(), newParser(), []byte(src), "", reference.None); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// Each reference finds its footnote by a map. With the search of goldmark, this many footnotes take minutes.
func TestManyFootnotesTakeLinearTime(t *testing.T) {
	t.Parallel()

	n := 100_000
	if testing.Short() || RaceDetector {
		n = 10_000
	}

	var src strings.Builder
	for i := range n {
		fmt.Fprintf(&src, "a[^%d]\n\n[^%d]: b\n\n", i, i)
	}

	if err := Check([]byte(src.String())); err != nil {
		t.Error(err)
	}
	checkTime(t, newParser(), src.String(), 20*time.Second)
}
