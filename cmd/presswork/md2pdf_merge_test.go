package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/fault"
)

func TestMD2PDFMergesFilesIntoOneDocument(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, map[string]string{
		"one.md":     "---\ntitle: Book\ntheme: nord\n---\n# One\n\n[over](sub/two.md#same)\n\n## Same\n",
		"sub/two.md": "---\ntheme: dark\n---\n# Two\n\n## Same\n\n![pic](img/p.png)\n\n![up](../secret.png)\n",
	})
	path := func(name string) string { return filepath.Join(dir, name) }
	got := runCommand(t, "md2pdf", "--html", "--merge", path("one.md"), path("sub/two.md"), "--json")

	var l line
	got.decodeJSON(t, &l)

	if l.Input != path("one.md") || cmp.Diff([]string{path("sub/two.md")}, l.Merged) != "" ||
		l.Output != path("one.html") ||
		l.Theme != "nord" {
		t.Errorf("got %+v; want one.html in nord, with sub/two.md merged", l)
	}

	if !strings.Contains(got.stdout, `"analysis":null`) {
		t.Errorf("no analysis in %s", got.stdout)
	}
	// Images are resolved relative to their own file and confined to its folder.
	var messages []string
	for _, w := range l.Warnings {
		messages = append(messages, string(w.Code)+" "+w.Message)
	}

	if len(messages) != 2 ||
		!strings.HasPrefix(messages[0], `image_failed two.md: image "img/p.png": there is no such file`) ||
		!strings.HasPrefix(messages[1], `image_failed two.md: image "../secret.png": it is outside`) {
		t.Errorf("warnings %q", messages)
	}

	if !strings.Contains(got.stderr, "two.md:8: image") {
		t.Errorf("stderr %q", got.stderr)
	}

	page := readFile(t, path("one.html"))
	for _, want := range []string{"<title>Book</title>", `data-theme="nord"`, `<a href="#same-2">over</a>`, `id="same-2"`} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s", want)
		}
	}
}

func TestMD2PDFTakesTheDateFromSourceDateEpoch(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, map[string]string{"a.md": "---\ncover: true\n---\n# A\n"})

	got := runWithEnv(t, map[string]string{"SOURCE_DATE_EPOCH": "86400"}, "md2pdf", "--html",
		filepath.Join(dir, "a.md"))
	if got.code != exitOK || !strings.Contains(readFile(t, filepath.Join(dir, "a.html")), "1970-01-02") {
		t.Errorf("got %v; want a page with the date 1970-01-02", got)
	}

	for _, wrong := range []string{"yesterday", "-1", "1.5", "99999999999999"} {
		t.Run(wrong, func(t *testing.T) {
			got := runWithEnv(t, map[string]string{"SOURCE_DATE_EPOCH": wrong}, "md2pdf", "--html",
				filepath.Join(dir, "a.md"))
			got.check(t, exitUsage, "SOURCE_DATE_EPOCH")
		})
	}
}

func TestEveryWarningIsShown(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, map[string]string{"a.md": "# A\n\n### Skipped\n\n[x](#none)\n\n![](none.png)\n"})
	got := runCommand(t, "md2pdf", "--html", "--json", filepath.Join(dir, "a.md"))

	var l line
	if err := json.Unmarshal([]byte(got.stdout), &l); err != nil {
		t.Fatal(err)
	}

	seen := map[fault.WarningCode]int{}
	for _, w := range l.Warnings {
		seen[w.Code] = w.Line
	}

	want := map[fault.WarningCode]int{
		fault.HeadingSkipped: 3,
		fault.LinkBroken:     5,
		fault.AltMissing:     7,
		fault.ImageFailed:    7,
	}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("warnings and their lines (-want +got):\n%s", diff)
	}
}
