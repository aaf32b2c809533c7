package numbering_test

import (
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"

	"presswork/internal/markdown/numbering"
	"presswork/internal/markdown/tree"
)

// headings returns the headings of a document, whose lines are those of source.
func headings(source string) (nodes []*ast.Heading, src []byte) {
	src = []byte(strings.ReplaceAll(source, "\n", "\n\n"))

	tree.EachBlock(goldmark.DefaultParser().Parse(text.NewReader(src)), func(n ast.Node) {
		if h, ok := n.(*ast.Heading); ok {
			nodes = append(nodes, h)
		}
	})

	return nodes, src
}

// numbered returns the headings of a document with their numbers. Lines of source are the headings.
func numbered(source string, before *numbering.Sections) (string, numbering.Sections) {
	nodes, src := headings(source)
	n := numbering.New(nodes, src, before)
	var list []string

	for _, h := range nodes {
		list = append(list, strings.TrimSpace(n.Next(h)+" "+tree.PlainText(h, src)))
	}

	return strings.Join(list, "; "), n.Sections
}

func TestHeadingsAreNumbered(t *testing.T) {
	t.Parallel()

	for name, row := range map[string]struct{ source, want string }{
		"chapters":                {"# A\n## B\n## C\n# D\n### E", "1 A; 1.1 B; 1.2 C; 2 D; 2.0.1 E"},
		"a title":                 {"# T\n## A\n### B\n## C", "T; 1 A; 1.1 B; 2 C"},
		"a title below a preface": {"## Preface\n# T\n## A", "1 Preface; T; 2 A"},
		"appendix with sections": {
			"# T\n## A\n## Appendix\n### Data\n#### Raw\n### Code\n## References\n### X",
			"T; 1 A; Appendix; A Data; A.1 Raw; B Code; 2 References; 2.1 X",
		},
		"sections after the appendix": {
			"# T\n## A\n## Appendices\n## Data\n### Raw\n## Code",
			"T; 1 A; Appendices; A Data; A.1 Raw; B Code",
		},
		"chapters after the appendix": {"# A\n# Anhang\n# B\n## C", "1 A; Anhang; A B; A.1 C"},
		"chapters with appendices":    {"# A\n## Appendix\n### B\n# C\n## D", "1 A; Appendix; A B; 2 C; 2.1 D"},
		"a last appendix":             {"# T\n## A\n## Appendix", "T; 1 A; Appendix"},
		"letters that the author wrote": {
			"# T\n## A\n## Appendix A: Data\n### Raw\n## Appendix B\n### Code\n## Last",
			"T; 1 A; Appendix A: Data; A.1 Raw; Appendix B; B.1 Code; 2 Last",
		},
		"other titles": {
			"# T\n## Appendix to the law\n## Appendix Annotated\n## Anhangs",
			"T; 1 Appendix to the law; 2 Appendix Annotated; 3 Anhangs",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got, _ := numbered(row.source, nil); got != row.want {
				t.Errorf("got  %s\nwant %s", got, row.want)
			}
		})
	}
}

func TestChaptersHaveNumbers(t *testing.T) {
	t.Parallel()

	for name, row := range map[string]struct{ source, want string }{
		"chapters":                      {"# A\n## B\n# C", "1  2"},
		"sections below a title":        {"# T\n## A\n### B\n## C", " 1  2"},
		"letters":                       {"# A\n# Appendix\n# B\n## C\n# D", "1  A  B"},
		"letters below":                 {"# A\n# Appendix\n## B\n### C\n# D", "1  A  2"},
		"letters that the author wrote": {"# A\n# Appendix A: B\n## C\n# Appendix B\n# D", "1 A  B 2"},
	} {
		t.Run(name, func(t *testing.T) {
			nodes, src := headings(row.source)
			n := numbering.New(nodes, src, nil)
			var list []string

			for _, h := range nodes {
				list = append(list, n.Chapter(h, n.Next(h)))
			}

			if got := strings.Join(list, " "); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func TestNumbersContinueInTheNextDocument(t *testing.T) {
	t.Parallel()

	_, before := numbered("# A\n# B\n## C", &numbering.Sections{})
	if got, _ := numbered("## D\n# E", &before); got != "2.2 D; 3 E" {
		t.Errorf("after chapters: %s", got)
	}

	appendix := before.InAppendix()

	got, after := numbered("# F\n## G\n# Appendix B\n## H", &appendix)
	if got != "A F; A.1 G; Appendix B; B.1 H" {
		t.Errorf("in the appendix: %s", got)
	}

	after = after.InAppendix()
	if got, _ := numbered("# I", &after); got != "C I" {
		t.Errorf("further in the appendix: %s", got)
	}
}
