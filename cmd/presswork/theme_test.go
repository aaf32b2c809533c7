package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

func TestThemeListJSON(t *testing.T) {
	t.Parallel()
	dir := folder(t, map[string]string{"mine.css": ":root{--primary:#123456;--base-100:#fff;--base-content:#000}", "broken.css": "x"})
	got := ask(t, "theme", "list", "--json", "--themes-dir", dir)
	var list struct {
		Default string
		Count   int
		Themes  []map[string]any
	}
	if err := json.Unmarshal([]byte(got.stdout), &list); err != nil || got.code != 0 {
		t.Fatalf("%v: %+v", err, got)
	}
	if list.Default != "light" || list.Count != 36 || len(list.Themes) != 36 || list.Themes[35]["name"] != "mine" || list.Themes[35]["custom"] != true {
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
	if got := ask(t, "theme", "list", "--themes-dir", filepath.Join(t.TempDir(), "none")); got.code != exitUsage || !strings.Contains(got.stderr, "--themes-dir") {
		t.Errorf("%+v", got)
	}
	if got := ask(t, "theme", "lsit"); got.code != exitUsage || !strings.Contains(got.stderr, `"list"`) {
		t.Errorf("%+v", got)
	}
}
