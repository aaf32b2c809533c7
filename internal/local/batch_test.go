package local_test

import (
	"fmt"
	"path/filepath"
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
