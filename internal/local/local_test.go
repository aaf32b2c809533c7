package local_test

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"presswork"
	"presswork/internal/chromium"
	"presswork/internal/fault"
	"presswork/internal/local"
	"presswork/internal/test/public"
)

// startConverter starts a converter. It needs a browser, unless the output is HTML.
func startConverter(t *testing.T, o local.Options) *local.Converter {
	t.Helper()

	if o.Output != presswork.HTML && testing.Short() {
		t.Skip("needs Chromium; `make test` runs this test")
	}

	c := local.New(o)
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for range 2 { // a second Close does nothing
			if err := c.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		}
	})

	return c
}

// writeFiles writes files into a new folder and returns its path.
func writeFiles(t *testing.T, content map[string]string) string {
	t.Helper()

	dir := t.TempDir()
	for name, text := range content {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}

		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}

	return dir
}

func readFile(t *testing.T, path string) string {
	t.Helper()

	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	return string(b)
}

// listFolder returns the names in a folder, in order.
func listFolder(t *testing.T, dir string) (list []string) {
	t.Helper()

	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}

	for _, e := range entries {
		list = append(list, e.Name())
	}

	return list
}

func pngPicture(t *testing.T) string {
	t.Helper()

	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}

	return b.String()
}

func TestConvertsAFile(t *testing.T) {
	t.Parallel()
	c := startConverter(t, local.Options{})
	dir := writeFiles(
		t,
		map[string]string{"report.md": "---\ntheme: nord\n---\n# One\n\n<!-- pagebreak -->\n\n# Two\n"},
	)
	pdf := filepath.Join(dir, "report.pdf")

	out, err := c.Convert(t.Context(),
		local.Input{Path: filepath.Join(dir, "report.md"), Output: pdf, Options: presswork.Options{Title: "T"}})
	if err != nil {
		t.Fatal(err)
	}

	printed := readFile(t, pdf)
	if !strings.HasPrefix(printed, "%PDF-") || out.Bytes != len(printed) || out.Theme != "nord" || out.Elapsed <= 0 ||
		out.Pages < 1 {
		t.Errorf("got %+v for a file of %d bytes, want its size, pages, theme and time", out, len(printed))
	}

	if diff := cmp.Diff([]string{"report.md", "report.pdf"}, listFolder(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestStandardInputToStandardOutput(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	var stages []presswork.Stage

	c := startConverter(t, local.Options{
		Output: presswork.HTML, Stdin: strings.NewReader("# Hello"), Stdout: &out,
		Progress: func(_ string, s presswork.Stage) { stages = append(stages, s) },
	})
	if _, err := c.Convert(t.Context(), local.Input{Path: local.Std, Output: local.Std}); err != nil {
		t.Fatal(err)
	}

	if !strings.Contains(out.String(), "Hello</h1>") {
		t.Errorf("stdout is %q, want the document", out.String())
	}

	want := []presswork.Stage{presswork.StageRendering, presswork.StageStoring, presswork.StageDone}
	if diff := cmp.Diff(want, stages); diff != "" {
		t.Errorf("stages (-want +got):\n%s", diff)
	}
}

func TestAFailureKeepsTheOlderResult(t *testing.T) {
	t.Parallel()

	strict := true
	for name, c := range map[string]struct {
		in      string
		options presswork.Options
		theme   string
		want    fault.Code
		text    string // part of the error
		warns   string
	}{
		"missing":      {in: "nothing.md", want: fault.NotFound, text: "there is no such file"},
		"folder":       {in: "folder", want: fault.InvalidRequest, text: "it is a folder"},
		"empty":        {in: "empty.md", want: fault.ContentEmpty, text: "empty"},
		"binary":       {in: "binary.md", want: fault.ContentNotUTF8, text: "byte 3"},
		"front matter": {in: "matter.md", want: fault.FrontMatterInvalid, text: "line 3"},
		"theme":        {in: "good.md", theme: "nrod", want: fault.ThemeNotFound, text: `"nord"`},
		"strict":       {in: "warns.md", options: presswork.Options{Strict: &strict}, want: fault.StrictFindings, text: "1 warning", warns: "none.png"},
		"endless":      {in: "/dev/zero", want: fault.ContentTooLarge, text: "64 MB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conv := startConverter(t, local.Options{Output: presswork.HTML})
			dir := writeFiles(t, map[string]string{
				"empty.md":    " \n",
				"binary.md":   "PDF\xff\xfe",
				"matter.md":   "---\ntheme: nord\npage_size: [\n---\nx",
				"good.md":     "x",
				"warns.md":    "![a](none.png)",
				"folder/x.md": "x",
				"out.html":    "older",
			})
			before := listFolder(t, dir)

			in := local.Input{
				Path:    filepath.Join(dir, c.in),
				Output:  filepath.Join(dir, "out.html"),
				Theme:   c.theme,
				Options: c.options,
			}
			if filepath.IsAbs(c.in) {
				in.Path = c.in
			}

			out, err := conv.Convert(t.Context(), in)
			if c.warns != "" && (len(out.Warnings) != 1 || !strings.Contains(out.Warnings[0].Message, c.warns)) {
				t.Errorf("got warnings %+v, want one with %q", out.Warnings, c.warns)
			}

			if fault.CodeOf(err) != c.want || !strings.Contains(local.Message(err), c.text) {
				t.Errorf("got error %v, want %s with %q", err, c.want, c.text)
			}

			if got := readFile(t, in.Output); got != "older" {
				t.Errorf("the older result became %q, want it unchanged", got)
			}

			if diff := cmp.Diff(before, listFolder(t, dir)); diff != "" {
				t.Errorf("files (-before +after):\n%s", diff)
			}
		})
	}
}

func TestAFailedPrintKeepsTheOlderPDF(t *testing.T) {
	t.Parallel()
	c := startConverter(t, local.Options{})
	dir := writeFiles(t, map[string]string{"a.md": "# One page", "a.pdf": "older"})

	in := local.Input{
		Path:    filepath.Join(dir, "a.md"),
		Output:  filepath.Join(dir, "a.pdf"),
		Options: presswork.Options{PageRanges: "9"},
	}
	if _, err := c.Convert(t.Context(), in); fault.CodeOf(err) != fault.InvalidOption {
		t.Errorf("got error %v, want %s", err, fault.InvalidOption)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()

	in.Options.PageRanges = ""
	if _, err := c.Convert(ended, in); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}

	if got := readFile(t, in.Output); got != "older" {
		t.Errorf("the older result became %q, want it unchanged", got)
	}

	if diff := cmp.Diff([]string{"a.md", "a.pdf"}, listFolder(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestEndlessInputIsAbandoned(t *testing.T) {
	t.Parallel()
	input, writer := io.Pipe() // nothing is written
	t.Cleanup(func() { writer.Close() })
	c := startConverter(t, local.Options{Output: presswork.HTML, Stdin: input, Timeout: 10 * time.Millisecond})

	_, err := c.Convert(t.Context(), local.Input{Path: local.Std, Output: local.Std})
	if fault.CodeOf(err) != fault.RenderTimeout {
		t.Errorf("got error %v, want %s", err, fault.RenderTimeout)
	}
}

func TestMissingBrowserFailsTheStart(t *testing.T) {
	t.Parallel()

	c := local.New(local.Options{Browser: filepath.Join(t.TempDir(), "chromium")})

	err := c.Start(t.Context())
	if !errors.Is(err, chromium.ErrNotFound) || !strings.Contains(err.Error(), "apt install") {
		t.Errorf("got error %v, want ErrNotFound with the command that installs a browser", err)
	}

	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestABrokenBrowserFailsTheDocument(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, map[string]string{"a.md": "x"})
	broken := filepath.Join(dir, "chromium")
	public.Program(t, broken, "#!/bin/sh\necho broken >&2; exit 1\n")

	c := local.New(local.Options{Browser: broken})
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })

	_, err := c.Convert(t.Context(), local.Input{Path: filepath.Join(dir, "a.md"), Output: filepath.Join(dir, "a.pdf")})
	if fault.CodeOf(err) != fault.BrowserUnavailable {
		t.Errorf("got error %v, want %s", err, fault.BrowserUnavailable)
	}

	if diff := cmp.Diff([]string{"a.md", "chromium"}, listFolder(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestReloadReadsThemesAgain(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, map[string]string{"own.css": ":root{--primary:#123456;--base-100:#fff;--base-content:#000}"})

	c := startConverter(t, local.Options{Output: presswork.HTML, ThemesDir: dir})
	if err := c.CheckTheme("own"); err != nil {
		t.Error(err)
	}

	if err := os.Rename(filepath.Join(dir, "own.css"), filepath.Join(dir, "mine.css")); err != nil {
		t.Fatal(err)
	}
	c.Reload()

	if err := c.CheckTheme("own"); fault.CodeOf(err) != fault.ThemeNotFound {
		t.Errorf("got error %v, want %s", err, fault.ThemeNotFound)
	}

	if err := c.CheckTheme("mine"); err != nil {
		t.Error(err)
	}
}
