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
		"works":                {started: long, lastUse: long, users: 1, memoryReadAt: now},
		"has just worked":      {started: long, lastUse: now, memoryReadAt: now.Add(-2 * memorySettles)},
		"had just worked then": {started: long, lastUse: now.Add(-memorySettles - time.Second), memoryReadAt: now.Add(-memorySettles)},
		"has just begun":       {started: now, memoryReadAt: now.Add(-2 * memorySettles)},
		"was read long ago":    {started: long, lastUse: long, memoryReadAt: now.Add(-memoryValidFor)},
		"was never read":       {started: long, lastUse: long},
	} {
		t.Run(what, func(t *testing.T) {
			i.proc, i.memoryBytes = &process.Process{PID: os.Getpid()}, remembered
			if got := i.memory(); got == remembered {
				t.Errorf("a browser that %s: its memory is not read", what)
			}
		})
	}

	if i := (&instance{started: long, lastUse: now.Add(-3 * memorySettles), memoryReadAt: now.Add(-memorySettles), memoryBytes: remembered}); i.memory() != remembered {
		t.Error("the memory of a browser at rest is read again")
	}
}
