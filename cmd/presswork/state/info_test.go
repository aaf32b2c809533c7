package state

import (
	"testing"

	"presswork/internal/local"
)

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
		"It cannot print documents and export pages (no working Chromium was found; HTML output works without it), nor run `presswork serve` by itself (without redis-server it needs REDIS_URL). 2 problems to fix:\n- no font for Thai: apt install fonts-noto-core\n- no font for Thai: apt install fonts-noto-core": {
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
