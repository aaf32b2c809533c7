package local_test

import (
	"bytes"
	"context"
	"errors"
	"html"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"presswork"
	"presswork/internal/chromium"
	"presswork/internal/fault"
	"presswork/internal/local"
	"presswork/internal/test/public"
)

// start starts a converter: with a real browser unless it is for HTML.
func start(t *testing.T, o local.Options) *local.Converter {
	t.Helper()

	if o.Output != presswork.HTML && testing.Short() {
		t.Skip("needs Chromium; `make test` runs this test")
	}

	c := local.New(o)
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for range 2 { // the second time is harmless
			if err := c.Close(); err != nil {
				t.Errorf("Close: %v", err)
			}
		}
	})

	return c
}

// files writes files into a new folder and returns its path.
func files(t *testing.T, content map[string]string) string {
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

// names lists a folder.
func names(t *testing.T, dir string) (list []string) {
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

func picture(t *testing.T) string {
	t.Helper()

	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 2, 2))); err != nil {
		t.Fatal(err)
	}

	return b.String()
}

func TestConvertsAFile(t *testing.T) {
	t.Parallel()
	c := start(t, local.Options{})
	dir := files(t, map[string]string{"report.md": "---\ntheme: nord\n---\n# One\n\n<!-- pagebreak -->\n\n# Two\n"})
	pdf := filepath.Join(dir, "report.pdf")

	out, err := c.Convert(t.Context(),
		local.Input{Path: filepath.Join(dir, "report.md"), Output: pdf, Options: presswork.Options{Title: "T"}})
	if err != nil {
		t.Fatal(err)
	}

	printed := readFile(t, pdf)
	if !strings.HasPrefix(printed, "%PDF-") || out.Bytes != len(printed) || out.Theme != "nord" || out.Elapsed <= 0 ||
		out.Pages < 1 {
		t.Errorf("%+v of a file of %d bytes", out, len(printed))
	}

	if diff := cmp.Diff([]string{"report.md", "report.pdf"}, names(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestStandardInputToStandardOutput(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	var stages []presswork.Stage

	c := start(t, local.Options{
		Output: presswork.HTML, Stdin: strings.NewReader("# Hello"), Stdout: &out,
		Progress: func(_ string, s presswork.Stage) { stages = append(stages, s) },
	})
	if _, err := c.Convert(t.Context(), local.Input{Path: local.Std, Output: local.Std}); err != nil {
		t.Fatal(err)
	}

	if !strings.Contains(out.String(), "Hello</h1>") {
		t.Errorf("wrote %q", out.String())
	}

	want := []presswork.Stage{presswork.StageRendering, presswork.StageStoring, presswork.StageDone}
	if diff := cmp.Diff(want, stages); diff != "" {
		t.Errorf("stages (-want +got):\n%s", diff)
	}
}

func TestAFailureLeavesTheOlderResult(t *testing.T) {
	t.Parallel()

	strict := true
	for name, c := range map[string]struct {
		in      string
		options presswork.Options
		theme   string
		want    fault.Code
		says    string
		warns   string
	}{
		"missing":      {in: "nothing.md", want: fault.NotFound, says: "there is no such file"},
		"folder":       {in: "folder", want: fault.InvalidRequest, says: "it is a folder"},
		"empty":        {in: "empty.md", want: fault.ContentEmpty, says: "empty"},
		"binary":       {in: "binary.md", want: fault.ContentNotUTF8, says: "byte 3"},
		"front matter": {in: "matter.md", want: fault.FrontMatterInvalid, says: "line 3"},
		"theme":        {in: "good.md", theme: "nrod", want: fault.ThemeNotFound, says: `"nord"`},
		"strict":       {in: "warns.md", options: presswork.Options{Strict: &strict}, want: fault.StrictFindings, says: "1 warning", warns: "none.png"},
		"endless":      {in: "/dev/zero", want: fault.ContentTooLarge, says: "64 MB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conv := start(t, local.Options{Output: presswork.HTML})
			dir := files(t, map[string]string{
				"empty.md":    " \n",
				"binary.md":   "PDF\xff\xfe",
				"matter.md":   "---\ntheme: nord\npage_size: [\n---\nx",
				"good.md":     "x",
				"warns.md":    "![a](none.png)",
				"folder/x.md": "x",
				"out.html":    "older",
			})
			before := names(t, dir)

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
				t.Errorf("warnings %+v, want one that says %q", out.Warnings, c.warns)
			}

			if fault.CodeOf(err) != c.want || !strings.Contains(local.Message(err), c.says) {
				t.Errorf("error %v, want %s that says %q", err, c.want, c.says)
			}

			if got := readFile(t, in.Output); got != "older" {
				t.Errorf("the older result became %q", got)
			}

			if diff := cmp.Diff(before, names(t, dir)); diff != "" {
				t.Errorf("files (-before +after):\n%s", diff)
			}
		})
	}
}

func TestAFailedPrintLeavesTheOlderPDF(t *testing.T) {
	t.Parallel()
	c := start(t, local.Options{})
	dir := files(t, map[string]string{"a.md": "# One page", "a.pdf": "older"})

	in := local.Input{
		Path:    filepath.Join(dir, "a.md"),
		Output:  filepath.Join(dir, "a.pdf"),
		Options: presswork.Options{PageRanges: "9"},
	}
	if _, err := c.Convert(t.Context(), in); fault.CodeOf(err) != fault.InvalidOption {
		t.Errorf("error %v, want %s", err, fault.InvalidOption)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()

	in.Options.PageRanges = ""
	if _, err := c.Convert(ended, in); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want the end of the context", err)
	}

	if got := readFile(t, in.Output); got != "older" {
		t.Errorf("the older result became %q", got)
	}

	if diff := cmp.Diff([]string{"a.md", "a.pdf"}, names(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestAnInputThatNeverEndsIsLeft(t *testing.T) {
	t.Parallel()
	endless, never := io.Pipe()
	t.Cleanup(func() { never.Close() })
	c := start(t, local.Options{Output: presswork.HTML, Stdin: endless, Timeout: 10 * time.Millisecond})

	_, err := c.Convert(t.Context(), local.Input{Path: local.Std, Output: local.Std})
	if fault.CodeOf(err) != fault.RenderTimeout {
		t.Errorf("error %v, want %s", err, fault.RenderTimeout)
	}
}

func TestAMissingBrowserIsSaidAtTheStart(t *testing.T) {
	t.Parallel()

	c := local.New(local.Options{Browser: filepath.Join(t.TempDir(), "chromium")})
	if err := c.Start(t.Context()); !errors.Is(err, chromium.ErrNotFound) ||
		!strings.Contains(err.Error(), "apt install") {
		t.Errorf("error %v, want ErrNotFound with how to get one", err)
	}

	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

func TestABrowserThatDoesNotWorkFailsTheDocument(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"a.md": "x"})
	broken := filepath.Join(dir, "chromium")
	public.Program(t, broken, "#!/bin/sh\necho broken >&2; exit 1\n")

	c := local.New(local.Options{Browser: broken})
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })

	_, err := c.Convert(t.Context(), local.Input{Path: filepath.Join(dir, "a.md"), Output: filepath.Join(dir, "a.pdf")})
	if fault.CodeOf(err) != fault.BrowserUnavailable {
		t.Errorf("error %v, want %s", err, fault.BrowserUnavailable)
	}

	if diff := cmp.Diff([]string{"a.md", "chromium"}, names(t, dir)); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

func TestIncludesComeFromTheDocumentsFolderOnly(t *testing.T) {
	t.Parallel()

	dir := files(
		t,
		map[string]string{
			"doc/in.md":     "within",
			"doc/sub/in.md": "below",
			"secret.md":     "secret",
			"doc/a.md":      "",
			"other/in.md":   "other",
		},
	)
	for link, target := range map[string]string{"doc/link.md": "../secret.md", "doc/inner.md": "in.md", "doc/folder": "sub"} {
		t.Run(link, func(t *testing.T) {
			if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
				t.Fatal(err)
			}
		})
	}

	for include, want := range map[string]string{
		"in.md": "<p>within</p>", "sub/in.md": "<p>below</p>", "sub/../in.md": "<p>within</p>",
		"link.md": "through links: link.md", "inner.md": "through links: inner.md", "folder/in.md": "through links: folder",
		"../secret.md": "document&#39;s folder only", "../doc/in.md": "document&#39;s folder only", "none.md": "there is no such file", "sub": "it is not a file",
	} {
		t.Run(include, func(t *testing.T) {
			var page bytes.Buffer
			conv := start(t, local.Options{Output: presswork.HTML, Stdout: &page, Allow: []string{dir}})

			source := filepath.Join(dir, "doc", "a.md")
			if err := os.WriteFile(source, []byte("{{#include "+include+"}}\n"), 0o644); err != nil {
				t.Fatal(err)
			}

			out, err := conv.Convert(t.Context(), local.Input{Path: source, Output: local.Std})
			if err != nil {
				t.Fatal(err)
			}

			said := page.String()
			for _, w := range out.Warnings {
				said += html.EscapeString(w.Message)
			}

			if !strings.Contains(said, want) || strings.Contains(said, "<p>secret") {
				t.Errorf("%s: %q is not said; warnings %v", include, want, out.Warnings)
			}

			if _, watched := out.Sources[filepath.Join(dir, "doc", include)]; !watched &&
				!strings.HasPrefix(include, "..") {
				t.Errorf("%s: a change of it would not be seen", include)
			}
		})
	}
}

func TestImagesComeFromAllowedFoldersOnly(t *testing.T) {
	t.Parallel()

	dir := files(t, map[string]string{
		"doc/in.png":     picture(t),
		"doc/sub/in.png": picture(t),
		"out.png":        picture(t),
		"other/in.png":   picture(t),
		"doc/a.md":       "",
	})
	if err := os.Symlink("../out.png", filepath.Join(dir, "doc/link.png")); err != nil {
		t.Fatal(err)
	}

	if err := os.Symlink("sub/in.png", filepath.Join(dir, "doc/inner.png")); err != nil {
		t.Fatal(err)
	}

	if err := syscall.Mkfifo(filepath.Join(dir, "doc/fifo.png"), 0o644); err != nil {
		t.Fatal(err)
	}

	const outside = "outside the document's folder"
	for name, c := range map[string]struct {
		image string
		allow []string
		says  string // "": the image is shown
	}{
		"beside":                  {image: "in.png"},
		"below":                   {image: "./sub/in.png"},
		"up and back":             {image: "../doc/in.png"},
		"link within":             {image: "inner.png"},
		"above":                   {image: "../out.png", says: outside},
		"link to above":           {image: "link.png", says: outside},
		"far above":               {image: "../../../../../../etc/passwd", says: outside},
		"absolute":                {image: "/etc/passwd", says: outside},
		"absolute, allowed":       {image: dir + "/other/in.png", allow: []string{"other"}},
		"above, allowed":          {image: "../out.png", allow: []string{"."}},
		"link to above, allowed":  {image: "link.png", allow: []string{"."}},
		"above, other is allowed": {image: "../out.png", allow: []string{"other"}, says: outside},
		"sibling, allowed":        {image: "../other/in.png", allow: []string{"other"}},
		"missing":                 {image: "none.png", says: "there is no such file"},
		"pipe":                    {image: "fifo.png", says: "it is not a file"},
		"folder":                  {image: "sub", says: "it is not a file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			for i := range c.allow {
				c.allow[i] = filepath.Join(dir, c.allow[i])
			}
			var page bytes.Buffer
			conv := start(t, local.Options{Output: presswork.HTML, Stdout: &page, Allow: c.allow})

			source := filepath.Join(dir, "doc", name+".md")
			if err := os.WriteFile(source, []byte("x\n\n![alt](<"+c.image+">)"), 0o644); err != nil {
				t.Fatal(err)
			}

			out, err := conv.Convert(t.Context(), local.Input{Path: source, Output: local.Std})
			if err != nil {
				t.Fatal(err)
			}

			if shown := strings.Contains(page.String(), "src=\"data:image/png"); shown != (c.says == "") {
				t.Errorf("shown: %v; warnings %v", shown, out.Warnings)
			}

			if c.says != "" && (len(out.Warnings) != 1 || out.Warnings[0].Code != fault.ImageFailed ||
				!strings.Contains(out.Warnings[0].Message, c.says) || out.Warnings[0].Line != 3) {
				t.Errorf("warnings %v, want one on line 3 that says %q", out.Warnings, c.says)
			}
		})
	}
}

func TestAnAllowedFolderMustExist(t *testing.T) {
	t.Parallel()
	missing := filepath.Join(t.TempDir(), "none")

	err := local.New(local.Options{Output: presswork.HTML, Allow: []string{t.TempDir(), missing}}).Start(t.Context())
	if err == nil || !strings.Contains(err.Error(), missing) {
		t.Errorf("error %v, want one that names %s", err, missing)
	}
}

func TestThemesAreReadAnew(t *testing.T) {
	t.Parallel()
	dir := files(t, map[string]string{"own.css": ":root{--primary:#123456;--base-100:#fff;--base-content:#000}"})

	c := start(t, local.Options{Output: presswork.HTML, ThemesDir: dir})
	if err := c.CheckTheme("own"); err != nil {
		t.Error(err)
	}

	if err := os.Rename(filepath.Join(dir, "own.css"), filepath.Join(dir, "mine.css")); err != nil {
		t.Fatal(err)
	}
	c.Reload()

	if err := c.CheckTheme("own"); fault.CodeOf(err) != fault.ThemeNotFound {
		t.Errorf("error %v, want %s", err, fault.ThemeNotFound)
	}

	if err := c.CheckTheme("mine"); err != nil {
		t.Error(err)
	}
}
