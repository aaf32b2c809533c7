package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestThemeListJSON(t *testing.T) {
	t.Parallel()
	dir := folder(
		t,
		map[string]string{
			"mine.css":   ":root{--primary:#123456;--base-100:#fff;--base-content:#000}",
			"broken.css": "x",
		},
	)

	got := ask(t, "theme", "list", "--json", "--themes-dir", dir)
	if !strings.Contains(got.stderr, "custom theme left out (theme broken, ") {
		t.Errorf("no warning about the broken theme: %q", got.stderr)
	}

	var list struct {
		Default string
		Count   int
		Themes  []map[string]any
	}
	if err := json.Unmarshal([]byte(got.stdout), &list); err != nil || got.code != 0 {
		t.Fatalf("%v: %+v", err, got)
	}

	if list.Default != "light" || list.Count != 36 || len(list.Themes) != 36 || list.Themes[35]["name"] != "mine" ||
		list.Themes[35]["custom"] != true {
		t.Errorf("default %q, count %d, last %v", list.Default, list.Count, list.Themes[len(list.Themes)-1])
	}
}

func TestThemeListTable(t *testing.T) {
	t.Parallel()
	got := ask(t, "theme", "list")

	rows := strings.Split(strings.TrimSpace(got.stdout), "\n")
	if got.code != 0 || len(rows) != 36 || !strings.HasPrefix(rows[0], "NAME") || strings.Contains(got.stdout, "\x1b") {
		t.Errorf("%d rows: %s", len(rows), got.stdout)
	}

	if got := ask(t, "theme", "list", "--themes-dir", filepath.Join(t.TempDir(), "none")); got.code != exitUsage ||
		!strings.Contains(got.stderr, "--themes-dir") {
		t.Errorf("%+v", got)
	}

	if got := ask(t, "theme", "lsit"); got.code != exitUsage || !strings.Contains(got.stderr, `"list"`) {
		t.Errorf("%+v", got)
	}
}

func TestNothingIsRewrittenOnADumbTerminal(t *testing.T) {
	t.Parallel()

	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()

	for term, want := range map[string]bool{"dumb": false, "xterm": true} {
		p := &program{getenv: func(string) string { return term }}
		if p.live(terminal) != want {
			t.Errorf("TERM=%s: a line is rewritten: %v", term, !want)
		}
	}
}

func TestThemePreviewShowsADocumentInThemes(t *testing.T) {
	t.Parallel()
	needsChromium(t)
	dir := folder(t, map[string]string{
		"a.md":            "---\ncover: true\ntoc: true\ntheme: silk\n---\n# Hello\n",
		"themes/mine.css": `:root{--label:"<Mine>";--primary:#123456;--base-100:#ffffff;--base-content:#000000}`,
	})
	in := func(name string) string { return filepath.Join(dir, name) }

	got := ask(t, "theme-preview", "--explore", in("a.md"), "nord", "mine", "--themes-dir", in("themes"))
	if got.code != 0 || !strings.Contains(got.stderr, in("a.themes.pdf")+" (1 page, ") || got.stdout != "" {
		t.Errorf("%+v", got)
	}

	if !strings.HasPrefix(content(t, in("a.themes.pdf")), "%PDF-") {
		t.Error("no PDF was written")
	}

	got = ask(t, "theme-preview", "nord", "mine", "--themes-dir", in("themes"), "-o", in("g.html"), "-q")
	if got.code != 0 || got.stderr != "" {
		t.Errorf("%+v", got)
	}

	page := content(t, in("g.html"))
	if n := strings.Count(page, "data:image/webp;base64,UklG"); n != 2 {
		t.Errorf("%d pictures", n)
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

	dir := folder(t, map[string]string{"empty.md": "", "empty.themes.pdf": "older"})
	for name, c := range map[string]struct {
		args []string
		code int
		says string
	}{
		"unknown theme":    {[]string{"nrod"}, exitUsage, `did you mean "nord"?`},
		"no gallery":       {[]string{"-o", "x.png"}, exitUsage, "must end in .pdf or .html"},
		"missing document": {[]string{"--explore", filepath.Join(dir, "none.md"), "nord"}, exitFailed, "none.md: there is no such file"},
		"empty document":   {[]string{"--explore", filepath.Join(dir, "empty.md"), "nord"}, exitFailed, "empty.md: the content is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := ask(
				t,
				append([]string{"theme-preview"}, c.args...)...); got.code != c.code ||
				!strings.Contains(got.stderr, c.says) {
				t.Errorf("%s: %+v", name, got)
			}
		})
	}

	if got := content(t, filepath.Join(dir, "empty.themes.pdf")); got != "older" {
		t.Errorf("the older gallery became %.20q", got)
	}
}
