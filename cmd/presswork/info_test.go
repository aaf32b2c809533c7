package main

import (
	"encoding/json"
	"path/filepath"
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
	// Without a home nothing is kept; with a cache that cannot be used, it says so.
	if i.Cache != (cacheInfo{Backend: "memory"}) || i.Telemetry != "" {
		t.Errorf("%+v, %q", i.Cache, i.Telemetry)
	}
	file := filepath.Join(folder(t, map[string]string{"file": ""}), "file")
	env := home(t, map[string]string{"PRESSWORK_CACHE_PATH": file, "PRESSWORK_TELEMETRY": "maybe"})
	for _, want := range []string{"sqlite " + file, "not a directory", "allowed: on, off"} {
		if got := askIn(t, env, "info"); got.code != 0 || !strings.Contains(got.stdout, want) {
			t.Errorf("%q is not in %+v", want, got)
		}
	}
	text := ask(t, "info").stdout
	for _, want := range []string{i.Chromium.Path, i.Redis.Path, "THEMES_DIR", "Emoji", "serif fonts", "CACHE_DIR"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
}
