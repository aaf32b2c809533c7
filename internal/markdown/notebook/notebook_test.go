package notebook_test

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"presswork/internal/fault"
	"presswork/internal/markdown/notebook"
	"presswork/internal/test/golden"
)

func TestNotebookGolden(t *testing.T) {
	t.Parallel()

	data, err := os.ReadFile("testdata/wells.ipynb")
	if err != nil {
		t.Fatal(err)
	}

	n, err := notebook.Convert(data)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	out.Write(n.Markdown)
	out.WriteString("----------\n")

	for _, name := range slices.Sorted(maps.Keys(n.Files)) {
		fmt.Fprintf(&out, "%s: %d bytes\n", name, len(n.Files[name]))
	}

	for _, w := range n.Warnings {
		out.WriteString("warning: " + w.Message + "\n")
	}
	golden.Check(t, "wells.md", []byte(out.String()))
}

func TestPlaceNamesTheCell(t *testing.T) {
	t.Parallel()

	n, err := notebook.Convert([]byte(`{"nbformat":4,"metadata":{"title":"T"},"cells":[` +
		`{"cell_type":"markdown","source":"a\nb"},{"cell_type":"markdown","source":["c"]}]}`))
	if err != nil {
		t.Fatal(err)
	}

	for i, line := range strings.Split(string(n.Markdown), "\n") {
		want := map[string]string{"a": "cell 1", "b": "cell 1", "c": "cell 2"}[line]
		if got := n.Place(i + 1); want != "" && got != want {
			t.Errorf("line %d, %q, is in %s, want %s", i+1, line, got, want)
		}
	}
}

func TestUnreadableNotebooksAreRejected(t *testing.T) {
	t.Parallel()

	for name, row := range map[string]struct {
		data, want string
		code       fault.Code
	}{
		"no JSON":     {"# Text\n", "line 1: invalid character '#'", fault.InvalidRequest},
		"cut off":     {"{\"nbformat\": 4,\n\"cells\": [\n{\"cell_type\":", "line 3: unexpected end", fault.InvalidRequest},
		"wrong type":  {"{\"nbformat\": 4,\n\"cells\": 3}", "line 2: ", fault.InvalidRequest},
		"other JSON":  {`{"a": 1}`, "it has no nbformat and no cells", fault.InvalidRequest},
		"nbformat 3":  {`{"nbformat": 3, "worksheets": []}`, "nbformat 3; allowed is 4", fault.InvalidRequest},
		"many cells":  {`{"nbformat": 4, "cells": [` + strings.Repeat("{},", 20_000) + `{}]}`, "more than 20000 cells", fault.ContentTooComplex},
		"deep arrays": {`{"nbformat": 4, "cells": ` + strings.Repeat("[", 100_000), "line 1: ", fault.InvalidRequest},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, err := notebook.Convert([]byte(row.data))
			if fault.CodeOf(err) != row.code || !strings.Contains(err.Error(), row.want) {
				t.Errorf("got %v, want %s", err, row.want)
			}
		})
	}
}

func TestPicturesOfANotebookAreBounded(t *testing.T) {
	t.Parallel()

	cell := `{"cell_type":"code","source":"x","outputs":[{"output_type":"display_data","data":{"image/png":"` +
		strings.Repeat("AAAA", 4<<20) + `"}}]}`

	n, err := notebook.Convert([]byte(`{"nbformat":4,"cells":[` + cell + "," + cell + "," + cell + `]}`))
	if err != nil {
		t.Fatal(err)
	}

	if len(n.Files) != 2 || len(n.Warnings) != 1 ||
		n.Warnings[0].Message != "cell 3: a picture is left out: the pictures of the notebook are larger than 32 MB together" {
		t.Errorf("got %d files and the warnings %v", len(n.Files), n.Warnings)
	}
}
