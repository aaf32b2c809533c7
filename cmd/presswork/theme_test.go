package main

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestThemeListPrintsTheThemesAsJSON(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, map[string]string{
		"mine.css":   ":root{--primary:#123456;--base-100:#fff;--base-content:#000}",
		"broken.css": "x",
	})

	got := runCommand(t, "theme", "list", "--json", "--themes-dir", dir)
	if !strings.Contains(got.stderr, "custom theme left out (theme broken, ") {
		t.Errorf("no warning about the broken theme: %q", got.stderr)
	}

	var list struct {
		Default string
		Count   int
		Themes  []map[string]any
	}
	got.decodeJSON(t, &list)

	if list.Default != "light" || list.Count != 36 || len(list.Themes) != 36 || list.Themes[35]["name"] != "mine" ||
		list.Themes[35]["custom"] != true {
		t.Errorf("got default %q, count %d, last %v; want light, 36 and mine", list.Default, list.Count,
			list.Themes[len(list.Themes)-1])
	}
}

func TestThemeListPrintsATable(t *testing.T) {
	t.Parallel()
	got := runCommand(t, "theme", "list")

	rows := strings.Split(strings.TrimSpace(got.stdout), "\n")
	if got.code != exitOK || len(rows) != 36 || !strings.HasPrefix(rows[0], "NAME") ||
		strings.Contains(got.stdout, "\x1b") {
		t.Errorf("got %d rows, want a header and 35 themes: %s", len(rows), got.stdout)
	}

	runCommand(t, "theme", "list", "--themes-dir",
		filepath.Join(t.TempDir(), "none")).check(t, exitUsage, "--themes-dir")

	runCommand(t, "theme", "lsit").check(t, exitUsage, `"list"`)
}

func TestThemePreviewShowsADocumentInThemes(t *testing.T) {
	t.Parallel()
	needsChromium(t)
	dir := writeFiles(t, map[string]string{
		"a.md":            "---\ncover: true\ntoc: true\ntheme: silk\n---\n# Hello\n",
		"themes/mine.css": `:root{--label:"<Mine>";--primary:#123456;--base-100:#ffffff;--base-content:#000000}`,
	})
	path := func(name string) string { return filepath.Join(dir, name) }

	got := runCommand(t, "theme-preview", "--explore", path("a.md"), "nord", "mine", "--themes-dir", path("themes"))
	got.check(t, exitOK, path("a.themes.pdf")+" (1 page, ")
	got.checkNoOutput(t)

	if !strings.HasPrefix(readFile(t, path("a.themes.pdf")), "%PDF-") {
		t.Error("no PDF was written")
	}

	got = runCommand(t, "theme-preview", "nord", "mine", "--themes-dir", path("themes"), "-o", path("g.html"), "-q")
	got.checkQuiet(t)

	page := readFile(t, path("g.html"))
	if n := strings.Count(page, "data:image/webp;base64,UklG"); n != 2 {
		t.Errorf("got %d pictures, want 2", n)
	}

	for _, want := range []string{"The sample in 2 themes", ">Nord", "&lt;Mine&gt;", "background:#123456"} {
		if !strings.Contains(page, want) {
			t.Errorf("the gallery lacks %s", want)
		}
	}
}

func TestThemePreviewNamesTheInvalidFlag(t *testing.T) {
	t.Parallel()
	needsChromium(t)

	dir := writeFiles(t, map[string]string{"empty.md": "", "empty.themes.pdf": "older"})
	for name, c := range map[string]struct {
		args       []string
		code       int
		wantStderr string
	}{
		"unknown theme":    {[]string{"nrod"}, exitUsage, `did you mean "nord"?`},
		"no gallery":       {[]string{"-o", "x.png"}, exitUsage, "must end in .pdf or .html"},
		"missing document": {[]string{"--explore", filepath.Join(dir, "none.md"), "nord"}, exitFailed, "none.md: there is no such file"},
		"empty document":   {[]string{"--explore", filepath.Join(dir, "empty.md"), "nord"}, exitFailed, "empty.md: the content is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			got := runCommand(t, append([]string{"theme-preview"}, c.args...)...)
			got.check(t, c.code, c.wantStderr)
		})
	}

	if got := readFile(t, filepath.Join(dir, "empty.themes.pdf")); got != "older" {
		t.Errorf("the older gallery became %.20q, want it unchanged", got)
	}
}
