package chromium

import (
	"os"
	"testing"
	"time"

	"presswork/internal/chromium/process"
)

func TestTheMemoryOfABrowserAtRestIsReadOnceAMinute(t *testing.T) {
	t.Parallel()
	now := time.Now()
	long := now.Add(-time.Hour)

	const remembered = 1

	for what, i := range map[string]*instance{
		"works":                {born: long, left: long, busy: 1, weighed: now},
		"has just worked":      {born: long, left: now, weighed: now.Add(-2 * settled)},
		"had just worked then": {born: long, left: now.Add(-settled - time.Second), weighed: now.Add(-settled)},
		"has just begun":       {born: now, weighed: now.Add(-2 * settled)},
		"was read long ago":    {born: long, left: long, weighed: now.Add(-memoryFor)},
		"was never read":       {born: long, left: long},
	} {
		t.Run(what, func(t *testing.T) {
			i.proc, i.weight = &process.Process{PID: os.Getpid()}, remembered
			if got := i.memory(); got == remembered {
				t.Errorf("a browser that %s: its memory is not read", what)
			}
		})
	}

	if i := (&instance{born: long, left: now.Add(-3 * settled), weighed: now.Add(-settled), weight: remembered}); i.memory() != remembered {
		t.Error("the memory of a browser at rest is read again")
	}
}
