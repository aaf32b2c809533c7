package main

import (
	"encoding/json"
	"fmt"
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
	for i, want := range []string{"sqlite " + file, "not a directory", "allowed: on, off"} {
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
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
		t.Errorf("it begins with %q", first)
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
		"This machine can print documents and export pages, and run `presswork serve` by itself. What is printed is confined by Chromium's sandbox, without a network. Nothing is wrong.": {
			Chromium: program, Redis: program, Sandbox: true, NetworkIsolated: true,
		},
		"This machine can print documents and export pages. It cannot run `presswork serve` by itself (without redis-server it needs REDIS_URL). One thing is to be mended:\n- no font for Thai: apt install fonts-noto-core": {
			Chromium: program, Problems: []local.Problem{problem},
		},
		"It cannot print documents and export pages (there is no Chromium that works; HTML needs none), nor run `presswork serve` by itself (without redis-server it needs REDIS_URL). 2 problems to fix:\n" +
			"- no font for Thai: apt install fonts-noto-core\n- no font for Thai: apt install fonts-noto-core": {
			Chromium: local.Program{Path: "/usr/bin/x"}, Problems: []local.Problem{problem, problem},
		},
	} {
		t.Run(want, func(t *testing.T) {
			if got := (info{Machine: m}).words(); got != want {
				t.Errorf("it says\n%s\nand not\n%s", got, want)
			}
		})
	}
}
