package document_test

import (
	"io/fs"
	"strings"
	"testing"

	"presswork/internal/document"
	"presswork/internal/fault"
)

const (
	// dotPNG is a picture of one pixel, in base64.
	dotPNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	dotURI = "data:image/png;base64," + dotPNG
)

func TestNotebooksOfAFolderAreDocuments(t *testing.T) {
	t.Parallel()
	const first = `{"nbformat":4,"cells":[{"cell_type":"markdown","source":"# One\n\n![](missing.png)"},
		{"cell_type":"code","source":"x","outputs":[{"output_type":"display_data","data":{"image/png":"` + dotPNG + `"}}]}]}`
	files := map[string]string{
		"b/two.ipynb": `{"nbformat":4,"cells":[{"cell_type":"markdown","source":"# Two"},
			{"cell_type":"code","source":"y","outputs":[{"output_type":"display_data","data":{"video/mp4":"AA"}}]}]}`,
		"bad.ipynb": "{",
	}
	open := func(name string) ([]byte, error) {
		if text, ok := files[name]; ok {
			return []byte(text), nil
		}

		return nil, fs.ErrNotExist
	}

	d := document.Document{Content: []byte(first)}
	if err := d.FromFolder("one.ipynb", []string{"b/two.ipynb"}, open); err != nil {
		t.Fatal(err)
	}

	c := compose(t, d)
	if html := c.Page.HTML; !strings.Contains(html, "One</h1>") || !strings.Contains(html, "Two</h1>") ||
		!strings.Contains(html, dotURI) {
		t.Errorf("want both headings and the picture of an output, got %s", html)
	}

	var messages []string
	for _, w := range c.Warnings {
		messages = append(messages, w.Message)
	}

	if all := strings.Join(messages, "\n"); !strings.Contains(all, "two.ipynb: cell 2: an output is left out") ||
		!strings.Contains(all, "missing.png") {
		t.Errorf("got warnings %q, want one of cell 2 and one of missing.png", all)
	}

	d = document.Document{Content: []byte(first)}
	if err := d.FromFolder("one.ipynb", []string{"bad.ipynb"}, open); fault.CodeOf(err) != fault.InvalidRequest ||
		!strings.HasPrefix(fault.AsError(err).Message, "bad.ipynb: it is not a Jupyter notebook: line 1") {
		t.Errorf("got %v, want %s that names bad.ipynb", err, fault.InvalidRequest)
	}
}
