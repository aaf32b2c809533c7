package markdown_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/markdown"
)

const linedSource = `# Title

A paragraph
of two lines.

- one
- two

  more of two
  - nested

> quoted

| a | b |
| - | - |
| 1 | 2 |

` + "```go\ncode\n```" + `

Term
: Meaning

***

> [!NOTE]
> A note.

![alt](pixel.png "A figure")

$$
x
$$

<p data-line="99">raw</p>
`

func TestBlocksCarryTheirSourceLine(t *testing.T) {
	t.Parallel()

	o := markdown.Options{SourceLines: true, Asset: assets, FirstLine: 11}
	var got []string
	tag := regexp.MustCompile(`<([a-z0-9]+)[^>]* data-line="([0-9]+)"`)

	for _, m := range tag.FindAllStringSubmatch(render(t, linedSource, o).HTML, -1) {
		got = append(got, m[1]+" "+m[2])
	}
	want := []string{
		"h1 11", "p 13", "li 16", "p 16", "li 17", "p 17", "p 19", "li 20", "p 22", "table 24", "thead 24", "tr 26",
		"pre 28", "dt 32", "dd 33", "hr 35", "div 37", "p 37", "figure 40", "p 99",
	}

	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (-want +got):\n%s", diff)
	}
}

func TestSourceLinesChangeNothingElse(t *testing.T) {
	t.Parallel()

	files, err := filepath.Glob("testdata/render/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden files (%v)", err)
	}
	line := regexp.MustCompile(` data-line="[0-9]+"`)

	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			t.Parallel()

			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			source, _, _ := strings.Cut(string(raw), "\n----------\n")
			plain := render(t, source, markdown.Options{Asset: assets})
			lined := render(t, source, markdown.Options{Asset: assets, SourceLines: true})

			if strings.Contains(plain.HTML, "data-line") {
				t.Error("a page without SourceLines has lines")
			}

			if diff := cmp.Diff(plain.HTML, line.ReplaceAllString(lined.HTML, "")); diff != "" {
				t.Errorf("HTML (-without +with lines):\n%s", diff)
			}

			if diff := cmp.Diff(plain.Warnings, lined.Warnings); diff != "" {
				t.Errorf("warnings (-without +with lines):\n%s", diff)
			}
		})
	}
}
