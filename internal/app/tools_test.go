package app

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"presswork/internal/config"
	"presswork/internal/inference/sandbox"
)

func TestTheSettingsBoundTheMemoryOfInterpreters(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		session, total int // TOOL_MEMORY_MB and TOOL_MEMORY_TOTAL_MB
		want           string
	}{
		"one session fits": {100, 229, "<nil>"},
		"too little for one": {
			100, 228, "the budget of all sessions is 228 MiB; one session takes up to 229 MiB",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			cfg := config.Config{ToolPython: "python3", ToolMemoryMB: c.session, ToolMemoryTotalMB: c.total}

			_, err := newInterpreters(cfg, &sandbox.Box{}, slog.New(slog.DiscardHandler))
			if !strings.Contains(fmt.Sprint(err), c.want) {
				t.Errorf("got error %v, want %q", err, c.want)
			}
		})
	}
}
