package main

import (
	"encoding/json"
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
	got := ask(t, "info", "--json")

	var i info
	if err := json.Unmarshal([]byte(got.stdout), &i); err != nil || got.code != 0 {
		t.Fatalf("%v: %+v", err, got)
	}

	if i.Version == "" || i.Go == "" || i.Chromium.Path == "" || i.Redis.Path == "" || len(i.Scripts) == 0 ||
		len(i.Fonts) < 10 || len(i.Paths) != 4 || i.Problems == nil {
		t.Errorf("%+v", i)
	}
	// Without HOME nothing is cached. An unusable cache is reported.
	if i.Cache != (cacheInfo{Backend: "memory"}) || i.Telemetry != "" {
		t.Errorf("%+v, %q", i.Cache, i.Telemetry)
	}
	file := filepath.Join(folder(t, map[string]string{"file": ""}), "file")

	env := home(t, map[string]string{"PRESSWORK_CACHE_PATH": file, "PRESSWORK_TELEMETRY": "maybe"})
	for _, want := range []string{"sqlite " + file, "not a directory", "allowed: on, off"} {
		t.Run(want, func(t *testing.T) {
			if got := askIn(t, env, "info"); got.code != 0 || !strings.Contains(got.stdout, want) {
				t.Errorf("%q is not in %+v", want, got)
			}
		})
	}

	text := ask(t, "info").stdout
	if first, _, _ := strings.Cut(text, "\n"); !strings.HasPrefix(
		first,
		"This machine can print documents and export pages, and run `presswork serve` by itself.",
	) {
		t.Errorf("the first line is %q", first)
	}

	for _, want := range []string{i.Chromium.Path, i.Redis.Path, "THEMES_DIR", "Emoji", "serif fonts", "CACHE_DIR"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in %s", want, text)
		}
	}
}

func TestInfoStartsWithTheProblems(t *testing.T) {
	t.Parallel()
	program := local.Program{Path: "/usr/bin/x", Version: "1"}

	problem := local.Problem{What: "no font for Thai", Fix: "apt install fonts-noto-core"}
	for want, m := range map[string]local.Machine{
		"This machine can print documents and export pages, and run `presswork serve` by itself. Documents are printed inside Chromium's sandbox, without network access. No problems were found.": {
			Chromium: program, Redis: program, Sandbox: true, NetworkIsolated: true,
		},
		"This machine can print documents and export pages. It cannot run `presswork serve` by itself (without redis-server it needs REDIS_URL). 1 problem to fix:\n- no font for Thai: apt install fonts-noto-core": {
			Chromium: program, Problems: []local.Problem{problem},
		},
		"It cannot print documents and export pages (no working Chromium was found; HTML output works without it), nor run `presswork serve` by itself (without redis-server it needs REDIS_URL). 2 problems to fix:\n" +
			"- no font for Thai: apt install fonts-noto-core\n- no font for Thai: apt install fonts-noto-core": {
			Chromium: local.Program{Path: "/usr/bin/x"}, Problems: []local.Problem{problem, problem},
		},
	} {
		t.Run(want, func(t *testing.T) {
			if got := (info{Machine: m}).summary(); got != want {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
		})
	}
}
