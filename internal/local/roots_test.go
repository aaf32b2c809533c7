package local_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/local"
)

func TestRootsConfineFiles(t *testing.T) {
	t.Parallel()
	outside := writeFiles(t, map[string]string{"secret.md": "# Secret\n", "secret.png": "x"})
	first := writeFiles(t, map[string]string{"doc.md": "# Hi\n\n![x](../" + filepath.Base(outside) + "/secret.png)\n"})
	second := writeFiles(t, map[string]string{"book/SUMMARY.md": "- [One](one.md)\n", "book/one.md": "# One\n"})

	for name, target := range map[string]string{"link.md": outside + "/secret.md", "folder": outside, "out.html": outside + "/x"} {
		if err := os.Symlink(target, filepath.Join(first, name)); err != nil {
			t.Fatal(err)
		}
	}

	if err := syscall.Mkfifo(filepath.Join(first, "pipe.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	c := startConverter(t, local.Options{Roots: []string{first, second}, Output: presswork.HTML})

	for name, row := range map[string]struct {
		in   local.Input
		code fault.Code
	}{
		"a relative path":           {local.Input{Path: "doc.md", Output: "new/doc.html"}, ""},
		"a file in the second root": {local.Input{Path: second + "/book/one.md", Output: second + "/one.html"}, ""},
		"a book":                    {local.Input{Path: second + "/book", Output: "book.html"}, ""},
		"a text":                    {local.Input{Path: local.Std, Content: []byte("# Hi"), Output: "text.html"}, ""},
		"a file outside":            {local.Input{Path: outside + "/secret.md", Output: "x.html"}, fault.Forbidden},
		"a path with dots":          {local.Input{Path: "../" + filepath.Base(outside) + "/secret.md", Output: "x.html"}, fault.Forbidden},
		"a link":                    {local.Input{Path: "link.md", Output: "x.html"}, fault.Forbidden},
		"a file in a linked folder": {local.Input{Path: "folder/secret.md", Output: "x.html"}, fault.Forbidden},
		"a linked folder":           {local.Input{Path: first + "/folder", Output: "x.html"}, fault.Forbidden},
		"a pipe":                    {local.Input{Path: "pipe.md", Output: "x.html"}, fault.InvalidRequest},
		"a missing file":            {local.Input{Path: "none.md", Output: "x.html"}, fault.NotFound},
		"a Word document":           {local.Input{Path: "a.docx", Output: "x.html"}, fault.InvalidRequest},
		"an output outside":         {local.Input{Path: "doc.md", Output: outside + "/x.html"}, fault.Forbidden},
		"an output on a link":       {local.Input{Path: "doc.md", Output: "out.html"}, fault.Forbidden},
		"an output behind a link":   {local.Input{Path: "doc.md", Output: "folder/x.html"}, fault.Forbidden},
		"a new folder behind one":   {local.Input{Path: "doc.md", Output: "folder/new/x.html"}, fault.Forbidden},
		"an output on a folder":     {local.Input{Path: "doc.md", Output: second + "/book"}, fault.StoreUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			out, err := c.Convert(t.Context(), row.in)
			if fault.CodeOf(err) != row.code {
				t.Fatalf("Convert returned %v, want the code %q", err, row.code)
			}

			if row.in.Path == "doc.md" && len(out.Warnings) > 0 &&
				!strings.Contains(out.Warnings[0].Message, "--root") {
				t.Errorf("the warning is %v", out.Warnings[0])
			}
		})
	}

	if files, _ := os.ReadDir(outside); len(files) != 2 {
		t.Errorf("something was written outside: %v", files)
	}

	for _, name := range []string{"new/doc.html", "book.html", "text.html"} {
		if _, err := os.Stat(filepath.Join(first, name)); err != nil {
			t.Error(err)
		}
	}
}

func TestAMissingRootIsAnError(t *testing.T) {
	t.Parallel()

	c := local.New(local.Options{Roots: []string{"/does/not/exist"}, Output: presswork.HTML})
	if err := c.Start(t.Context()); fault.CodeOf(err) != fault.InvalidOption {
		t.Errorf("Start returned %v", err)
	}
}
