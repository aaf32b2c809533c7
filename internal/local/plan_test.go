package local_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/local"
)

func TestPlanNamesAnOutputForEachInput(t *testing.T) {
	t.Parallel()

	dir := writeFiles(t, map[string]string{"a.md": "", "b.md": "", "sub/a.md": "", "taken.pdf": "", "folder/x": ""})
	if err := os.Symlink("a.md", filepath.Join(dir, "alias.md")); err != nil {
		t.Fatal(err)
	}

	path := func(name string) string {
		if name == "" || name == local.Std {
			return name
		}

		return dir + "/" + name // filepath.Join would remove a separator at the end
	}
	for name, c := range map[string]struct {
		paths  string // separated by spaces
		output string
		want   string // outputs
		err    string // part of the error, if one is wanted
	}{
		"beside":              {paths: "a.md sub/a.md", want: "a.pdf sub/a.pdf"},
		"one to a file":       {paths: "a.md", output: "x.pdf", want: "x.pdf"},
		"one over a file":     {paths: "a.md", output: "taken.pdf", want: "taken.pdf"},
		"one to a folder":     {paths: "a.md", output: "folder", want: "folder/a.pdf"},
		"one to a new folder": {paths: "a.md", output: "new/", want: "new/a.pdf"},
		"two to a new folder": {paths: "a.md b.md", output: "many", want: "many/a.pdf many/b.pdf"},
		"standard both":       {paths: "-", want: "-"},
		"standard input":      {paths: "-", output: "x.pdf", want: "x.pdf"},
		"stdin to a folder":   {paths: "- a.md", output: "folder", want: "folder/document.pdf folder/a.pdf"},
		"to standard output":  {paths: "a.md", output: "-", want: "-"},

		"none":                  {err: "name a Markdown file"},
		"two to stdout":         {paths: "a.md b.md", output: "-", err: "takes one document"},
		"two to a file":         {paths: "a.md b.md", output: "taken.pdf", err: "make one document of them with --merge"},
		"two to a new file":     {paths: "a.md b.md", output: "new.pdf", err: "make one document of them with --merge"},
		"two into a file":       {paths: "a.md b.md", output: "taken.pdf/x", err: "taken.pdf/x for 2 documents: not a directory"},
		"stdin among others":    {paths: "- a.md", err: "needs an output folder"},
		"the same twice":        {paths: "a.md alias.md", err: "given twice"},
		"same names in one":     {paths: "a.md sub/a.md", output: "folder", err: "would both become"},
		"over the input":        {paths: "a.md", output: "a.md", err: "would overwrite"},
		"over the input's link": {paths: "a.md", output: "alias.md", err: "would overwrite"},
		"a PDF as input":        {paths: "taken.pdf", err: "would overwrite"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			var paths, got, want []string
			for name := range strings.FieldsSeq(c.paths) {
				paths = append(paths, path(name))
			}

			inputs, err := local.Plan(paths, path(c.output), ".pdf")
			if c.err != "" {
				if err == nil || !strings.Contains(err.Error(), c.err) {
					t.Errorf("got error %v, want %q in it", err, c.err)
				}

				return
			}

			if err != nil {
				t.Fatal(err)
			}

			for _, i := range inputs {
				got = append(got, i.Output)
			}

			for name := range strings.FieldsSeq(c.want) {
				want = append(want, path(name))
			}

			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("outputs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlanMergedNamesOneOutput(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, map[string]string{"a.md": "", "b.md": "", "folder/x": ""})

	path := func(name string) string { return filepath.Join(dir, name) }
	for output, want := range map[string]string{"": path("a.pdf"), path("x.pdf"): path("x.pdf"), path("folder"): path("folder/a.pdf"), local.Std: local.Std} {
		t.Run("to "+output, func(t *testing.T) {
			got, err := local.PlanMerged([]string{path("a.md"), path("b.md"), local.Std}, output, ".pdf")
			if err != nil || got.Path != path("a.md") || got.Output != want || len(got.Merge) != 2 {
				t.Errorf("got %+v, %v; want output %s and two more files", got, err, want)
			}
		})
	}

	for name, c := range map[string]struct {
		paths  []string
		output string
	}{
		"nothing":       {nil, ""},
		"a file twice":  {[]string{path("a.md"), path("b.md"), path("b.md")}, ""},
		"over an input": {[]string{path("a.md"), path("b.md")}, path("b.md")},
		"stdin twice":   {[]string{local.Std, local.Std}, path("x.pdf")},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := local.PlanMerged(c.paths, c.output, ".pdf"); err == nil {
				t.Errorf("got %+v, want an error", got)
			}
		})
	}
}
