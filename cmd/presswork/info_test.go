package main

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestInfo(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("needs Chromium and Redis; `make test` runs this test")
	}
	got := ask(t, "info", "--json")
	var i info
	if err := json.Unmarshal([]byte(got.stdout), &i); err != nil || got.code != 0 {
		t.Fatalf("%v: %+v", err, got)
	}
	if i.Version == "" || i.Go == "" || i.Chromium.Path == "" || i.Redis.Path == "" || len(i.Scripts) == 0 || len(i.Fonts) < 10 || len(i.Paths) != 4 || i.Problems == nil {
		t.Errorf("%+v", i)
	}
	text := ask(t, "info").stdout
	for _, want := range []string{i.Chromium.Path, i.Redis.Path, "THEMES_DIR", "Emoji", "serif fonts", "CACHE_DIR"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
}
