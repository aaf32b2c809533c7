package local_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/local"
)

func TestABatchKeepsItsOrderDespiteFailures(t *testing.T) {
	t.Parallel()
	content := map[string]string{}
	var inputs []local.Input
	dir := t.TempDir()

	for i := range 9 {
		name := fmt.Sprintf("%d.md", i)

		content[name] = fmt.Sprintf("# Document %d", i)
		if i == 4 {
			content[name] = ""
		}
		inputs = append(inputs, local.Input{Path: name, Output: filepath.Join(dir, fmt.Sprintf("%d.pdf", i))})
	}
	c := startConverter(t, local.Options{Jobs: 3})
	source := writeFiles(t, content)
	var order, want []string

	for i := range inputs {
		inputs[i].Path = filepath.Join(source, inputs[i].Path)
		want = append(want, inputs[i].Path)
	}

	for out, err := range c.Batch(t.Context(), inputs) {
		order = append(order, out.Input)
		if failed := fault.CodeOf(err) == fault.ContentEmpty; failed != (len(order) == 5) || (err != nil && !failed) {
			t.Errorf("document %d, %s: got error %v; want content_empty for the fifth only", len(order), out.Input, err)
		}
	}

	if diff := cmp.Diff(want, order); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}

	if got := listFolder(t, dir); len(got) != 8 {
		t.Errorf("got results %v, want 8", got)
	}
}

func TestWebPagesOfABatchLinkToEachOther(t *testing.T) {
	t.Parallel()
	source := writeFiles(t, map[string]string{
		"a.md":         "[b](sub/b%20c.md#part) [same](#part) [other](missing.md) [web](https://example.com/a.md)\n\n# Part\n",
		"sub/b c.md":   "[a](../a.md) [pdf](../print.md)\n\n# Part\n",
		"print.md":     "[a](a.md)\n",
		"elsewhere.md": "[a](a.md)\n",
	})
	out := t.TempDir()
	c := startConverter(t, local.Options{})
	inputs := []local.Input{
		{Path: filepath.Join(source, "a.md"), Output: filepath.Join(out, "a.html"), Format: presswork.HTML},
		{
			Path:   filepath.Join(source, "sub", "b c.md"),
			Output: filepath.Join(out, "pages", "b.html"),
			Format: presswork.HTML,
		},
		{Path: filepath.Join(source, "print.md"), Output: filepath.Join(out, "print.pdf")},
	}

	if err := os.Mkdir(filepath.Join(out, "pages"), 0o755); err != nil {
		t.Fatal(err)
	}

	for _, err := range c.Batch(t.Context(), inputs) {
		if err != nil {
			t.Fatal(err)
		}
	}
	alone := local.Input{
		Path: filepath.Join(source, "elsewhere.md"), Output: filepath.Join(out, "alone.html"), Format: presswork.HTML,
	}

	if _, err := c.Convert(t.Context(), alone); err != nil {
		t.Fatal(err)
	}

	for page, want := range map[string][]string{
		"a.html":       {"pages/b.html#part", "#part", "https://example.com/a.md"},
		"pages/b.html": {"../a.html"},
		"alone.html":   nil,
	} {
		html, err := os.ReadFile(filepath.Join(out, page))
		if err != nil {
			t.Fatal(err)
		}
		var got []string

		for _, m := range regexp.MustCompile(`<a href="([^"]*)"`).FindAllSubmatch(html, -1) {
			got = append(got, string(m[1]))
		}

		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("links of %s (-want +got):\n%s", page, diff)
		}
	}
}

func TestABatchCanBeAbandoned(t *testing.T) {
	t.Parallel()
	c := startConverter(t, local.Options{Output: presswork.HTML, Jobs: 2})
	dir := writeFiles(t, map[string]string{"a.md": "a", "b.md": "b", "c.md": "c", "d.md": "d"})

	var inputs []local.Input
	for _, name := range []string{"a", "b", "c", "d"} {
		inputs = append(inputs,
			local.Input{Path: filepath.Join(dir, name+".md"), Output: filepath.Join(dir, name+".html")})
	}

	for out, err := range c.Batch(t.Context(), inputs) {
		if err != nil || out.Input != inputs[0].Path {
			t.Errorf("got %s, %v; want the first document", out.Input, err)
		}
		break
	}
}
