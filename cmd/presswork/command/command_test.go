package command_test

import (
	"os"
	"testing"

	"presswork/cmd/presswork/command"
)

func TestADumbTerminalGetsNoRewrittenLines(t *testing.T) {
	t.Parallel()

	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer terminal.Close()

	for term, want := range map[string]bool{"dumb": false, "xterm": true} {
		p := &command.Program{Getenv: func(string) string { return term }}
		if p.Live(terminal) != want {
			t.Errorf("TERM=%s: lines are rewritten: got %v, want %v", term, !want, want)
		}
	}
}
