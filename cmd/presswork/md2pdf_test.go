package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presswork/internal/chromium"
	"presswork/internal/fault"
)

func TestMD2PDFWritesAPDFNextToItsInput(t *testing.T) {
	t.Parallel()
	needsChromium(t)
	dir := writeFiles(t, map[string]string{"a.md": "---\ntheme: nord\n---\n# Hello\n\n![x](none.png)"})

	got := runCommand(t, "md2pdf", filepath.Join(dir, "a.md"), "--page-size", "A5", "--margin-top=30mm")
	got.checkOK(t)
	got.checkNoOutput(t)

	for _, want := range []string{"a.md:6: image \"none.png\"", "a.pdf (nord, 1 page, "} {
		if !strings.Contains(got.stderr, want) {
			t.Errorf("stderr %q does not say %q", got.stderr, want)
		}
	}

	if !strings.HasPrefix(readFile(t, filepath.Join(dir, "a.pdf")), "%PDF-") {
		t.Error("no PDF was written")
	}

	runCommand(t, "md2pdf", filepath.Join(dir, "a.md"), "-q").checkQuiet(t)
}

func TestMD2PDFReadsStandardInputAndWritesStandardOutput(t *testing.T) {
	t.Parallel()
	needsChromium(t)

	stdout, stderr, err := runWithInput(t, "# Hello", nil, "md2pdf", "-")
	if err != nil || !strings.HasPrefix(stdout, "%PDF-") || stderr != "" {
		t.Errorf("got error %v, stdout %.20q, stderr %q; want a PDF only", err, stdout, stderr)
	}
}

func TestMD2PDFReportsEachFileAsJSON(t *testing.T) {
	t.Parallel()
	needsChromium(t)
	dir := writeFiles(t, map[string]string{
		"a.md":      "# A\n\n![x](none.png)",
		"b.md":      "---\ntitle: [\n---\ny",
		"c.md":      "# C",
		"out/b.pdf": "older",
	})
	path := func(name string) string { return filepath.Join(dir, name) }

	got := runCommand(t, "md2pdf", path("a.md"), path("b.md"), path("c.md"), "--json", "-o", path("out"), "--theme",
		"dark")
	got.check(t, exitFailed, "1 of 3 files failed")

	lines := got.decodeLines(t)
	if len(lines) != 3 {
		t.Fatalf("got %d lines, want 3: %s", len(lines), got.stdout)
	}

	for i, name := range []string{"a", "b", "c"} {
		t.Run(name, func(t *testing.T) {
			l := lines[i]
			if l.Input != path(name+".md") || l.Output != path("out/"+name+".pdf") || l.Warnings == nil {
				t.Errorf("got %+v; want the paths of %s and its warnings", l, name)
			}

			failed := name == "b"
			if failed != (l.Error != nil) || failed != (l.Pages == 0) || failed != (l.Bytes == 0) ||
				failed != (l.Theme == "") {
				t.Errorf("got %+v; failed must be %t", l, failed)
			}
		})
	}

	e := lines[1].Error
	if e == nil || e.Code != fault.FrontMatterInvalid || !strings.Contains(e.Message, "front matter, line 2: ") {
		t.Errorf("got error %v, want %s", e, fault.FrontMatterInvalid)
	}

	if w := lines[0].Warnings; len(w) != 1 || w[0].Code != fault.ImageFailed || w[0].Line != 3 {
		t.Errorf("got warnings %v, want %s in line 3", w, fault.ImageFailed)
	}

	if got := readFile(t, path("out/b.pdf")); got != "older" {
		t.Errorf("the older PDF became %q, want it unchanged", got)
	}
}

func TestMD2PDFWritesHTMLWithoutABrowser(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, map[string]string{
		"a.md":      "---\ntitle: Front\ntheme: dark\nauthor: Ann\n---\n# H\n",
		"extra.css": "h1{letter-spacing:3px}",
	})

	got := runCommand(t, "md2pdf", "--html", filepath.Join(dir, "a.md"), "--css", filepath.Join(dir, "extra.css"),
		"--title", "Flag", "-t", "nord")
	got.checkOK(t)

	page := readFile(t, filepath.Join(dir, "a.html"))
	for _, want := range []string{"<title>Flag</title>", `data-theme="nord"`, "letter-spacing:3px"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q: flags win over front matter", want)
		}
	}
}

func TestALowContrastThemeCausesOneWarning(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, map[string]string{
		"a.md":             "# A",
		"b.md":             "# B",
		"themes/pale.css":  ":root{--primary:#eee;--base-100:#fff;--base-content:#ddd}",
		"themes/plain.css": ":root{--primary:#00a;--base-100:#fff;--base-content:#111}",
	})

	path := func(name string) string { return filepath.Join(dir, name) }

	for theme, times := range map[string]int{"pale": 1, "plain": 0} {
		t.Run(theme, func(t *testing.T) {
			got := runCommand(t, "md2pdf", "--html", "--themes-dir", path("themes"), "-t", theme, path("a.md"),
				path("b.md"), "-o", path(theme))
			if n := strings.Count(got.stderr, "hard to read: WCAG AA requires"); got.code != exitOK || n != times {
				t.Errorf("got %d warnings, want %d: %v", n, times, got)
			}
		})
	}
}

func TestMD2PDFNamesTheInvalidFlag(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, map[string]string{
		"a.md":     "# A",
		"b.md":     "# B",
		"empty.md": "",
		"sub/x.md": "x",
		"warns.md": "![a](../secret.png)",
	})

	path := func(name string) string { return filepath.Join(dir, name) }
	for name, c := range map[string]struct {
		args       string
		code       int
		wantStderr string
	}{
		"no file":             {"", exitUsage, "name a Markdown file"},
		"unknown flag":        {"--tehme nord a.md", exitUsage, `unknown flag: --tehme; did you mean "--theme"?`},
		"unknown short flag":  {"-x a.md", exitUsage, "unknown shorthand flag: 'x'"},
		"name like a flag":    {"-x.md", exitUsage, "write ./-x.md"},
		"unknown theme":       {"--theme nrod a.md", exitUsage, `--theme: theme "nrod" does not exist; did you mean "nord"?`},
		"another format":      {"a.md -o a.docx", exitUsage, "a.docx: the extension is not a supported format; allowed: pdf, html, epub, png"},
		"wrong page size":     {"--page-size A9 a.md", exitUsage, "--page-size: "},
		"wrong margin":        {"--margin-left 3 a.md", exitUsage, "--margin-left: "},
		"wrong scale":         {"--scale big a.md", exitUsage, "it must be a number"},
		"wrong switch":        {"--tagged=maybe a.md", exitUsage, "it must be true or false"},
		"wrong TOC":           {"--toc=7 a.md", exitUsage, "--toc: "},
		"wrong PDF/A":         {"--pdf-a=9z a.md", exitUsage, "--pdf-a: "},
		"merge over an input": {"a.md b.md --merge -o b.md", exitUsage, "would overwrite"},
		"merge twice":         {"a.md b.md a.md --merge", exitUsage, "is given twice"},
		"merge a missing one": {"a.md none.md --merge", exitFailed, "a.md and 1 more: "},
		"two passwords":       {"a.md --password x --password-file b.md", exitUsage, "cannot be combined"},
		"no password":         {"a.md --password-file empty.md", exitUsage, "is empty"},
		"missing stylesheet":  {"--css none.css a.md", exitUsage, "--css: "},
		"missing themes":      {"--themes-dir none a.md", exitUsage, "--themes-dir: "},
		"missing allowed":     {"--allow none a.md", exitUsage, "none: no such file"},
		"jobs in words":       {"--jobs two a.md", exitUsage, `--jobs is "two"; allowed: a whole number`},
		"switch in words":     {"--watch=maybe a.md", exitUsage, `--watch is "maybe"; allowed: true, false`},
		"no jobs":             {"--jobs 0 a.md", exitUsage, "at least 1"},
		"two to stdout":       {"a.md b.md -o -", exitUsage, "takes one document"},
		"json and PDF":        {"a.md -o - --json", exitUsage, "--json and the document"},
		"live of two":         {"a.md b.md --live", exitUsage, "--live shows one document"},
		"live of no pages":    {"a.md --live", exitUsage, "does not support html"},
		"watch stdin":         {"- --watch", exitUsage, "--watch needs files"},
		"open stdout":         {"a.md -o - --open", exitUsage, "--open needs a file"},
		"open two":            {"a.md b.md --open", exitUsage, "--open takes one document"},
		"over the input":      {"a.md -o a.md", exitUsage, "would overwrite"},
		"missing file":        {"none.md", exitFailed, "none.md: there is no such file"},
		"folder":              {"sub", exitFailed, "sub: it is a folder"},
		"empty file":          {"empty.md", exitFailed, "empty.md: the content is empty"},
		"strict":              {"warns.md --strict", exitFailed, "is outside the document's folder"},
		"output not writable": {"a.md -o none/a.html", exitFailed, "cannot write "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			args := []string{"md2pdf", "--html"}
			for word := range strings.FieldsSeq(c.args) {
				if strings.Contains(word, ".") && word[0] != '-' || word == "none" || word == "sub" {
					word = filepath.Join(dir, word)
				}
				args = append(args, word)
			}

			got := runCommand(t, args...)
			got.check(t, c.code, c.wantStderr)
			got.checkNoOutput(t)
		})
	}
	t.Cleanup(func() {
		if _, err := os.Stat(path("warns.html")); err == nil {
			t.Error("--strict left a result")
		}
	})
}

func TestAMissingBrowserHasItsOwnExitStatus(t *testing.T) {
	t.Parallel()

	got := exitStatus(fmt.Errorf("convert: %w", chromium.ErrNotFound))
	if got != exitNoBrowser {
		t.Errorf("got exit status %d, want %d", got, exitNoBrowser)
	}
}

func TestAnInterruptedMD2PDFKeepsTheOlderPDF(t *testing.T) {
	t.Parallel()
	needsChromium(t)
	dir := writeFiles(t, map[string]string{"a.md": "# A", "a.pdf": "older"})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stderr bytes.Buffer

	code := run(ctx, []string{"md2pdf", filepath.Join(dir, "a.md")}, func(string) string { return "" }, &stderr,
		&stderr)
	if code != exitInterrupted || readFile(t, filepath.Join(dir, "a.pdf")) != "older" {
		t.Errorf("got exit status %d, %q; want %d and the older PDF", code, stderr.String(), exitInterrupted)
	}
}
