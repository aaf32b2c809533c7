package main

import (
	"path/filepath"
	"strings"
	"testing"

	"presswork/internal/local"
)

func TestInfo(t *testing.T) {
	t.Parallel()

	if testing.Short() {
		t.Skip("needs Chromium and Redis; `make test` runs this test")
	}

	var i struct {
		local.Machine
		Version, Go, Telemetry string
		Paths                  []any
		Cache                  struct{ Backend, Path string }
	}
	runCommand(t, "info", "--json").decodeJSON(t, &i)

	if i.Version == "" || i.Go == "" || i.Chromium.Path == "" || i.Redis.Path == "" || len(i.Scripts) == 0 ||
		len(i.Fonts) < 10 ||
		len(i.Paths) != 4 ||
		i.Problems == nil {
		t.Errorf("got %+v; want every field", i)
	}
	// Without HOME nothing is cached. An unusable cache is reported.
	if i.Cache.Backend != "memory" || i.Cache.Path != "" || i.Telemetry != "" {
		t.Errorf("got cache %+v and telemetry %q; want a cache in memory and no telemetry", i.Cache, i.Telemetry)
	}
	file := filepath.Join(writeFiles(t, map[string]string{"file": ""}), "file")

	env := envWithHome(t, map[string]string{"PRESSWORK_CACHE_PATH": file, "PRESSWORK_TELEMETRY": "maybe"})
	for _, want := range []string{"sqlite " + file, "not a directory", "allowed: on, off"} {
		runWithEnv(t, env, "info").checkPrints(t, want)
	}

	text := runCommand(t, "info").stdout
	first, _, _ := strings.Cut(text, "\n")

	const want = "This machine can print documents and export pages, and run `presswork serve` by itself."
	if !strings.HasPrefix(first, want) {
		t.Errorf("the first line is %q, want %q", first, want)
	}

	for _, want := range []string{i.Chromium.Path, i.Redis.Path, "THEMES_DIR", "Emoji", "serif fonts", "CACHE_DIR"} {
		if !strings.Contains(text, want) {
			t.Errorf("got %s; want %q in it", text, want)
		}
	}
}
