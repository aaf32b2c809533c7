package e2e_test

import (
	"fmt"
	"os"
	"testing"

	"presswork/internal/test/e2e"
)

// The monitor of Go's threads is among those whose timers may be late.
func TestTheTimersOfAServerMayBeLate(t *testing.T) {
	t.Parallel()
	node, _ := e2e.Serve(t, nil)
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", node.PID()))
	if err != nil {
		t.Fatal(err)
	}
	for _, thread := range threads {
		slack, err := os.ReadFile("/proc/" + thread.Name() + "/timerslack_ns")
		if err == nil && string(slack) != "500000\n" { // one may have ended
			t.Errorf("thread %s: %s", thread.Name(), slack)
		}
	}
}
