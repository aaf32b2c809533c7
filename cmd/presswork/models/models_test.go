package models

import (
	"fmt"
	"strings"
	"testing"

	"presswork/internal/inference/ollama"
)

func TestProgressOutsideItsRangeIsClamped(t *testing.T) {
	t.Parallel()

	for _, step := range []ollama.Progress{
		{Completed: 2, Total: 1}, {Completed: -1, Total: 1}, {Completed: 1 << 62, Total: 1<<63 - 1}, {Status: "\x1b[31mred"}, {Total: -1},
	} {
		t.Run(fmt.Sprintf("%d of %d", step.Completed, step.Total), func(t *testing.T) {
			line := pullLine(step.Status, step.Completed, step.Total)
			if strings.Contains(line, "\x1b") || strings.Count(line, "█")+strings.Count(line, "░") > 30 {
				t.Errorf("pullLine(%+v) = %q; want at most 30 blocks and no terminal codes", step, line)
			}
		})
	}
}
