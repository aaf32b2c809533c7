package chromium

import (
	"os"
	"testing"
	"time"

	"presswork/internal/chromium/process"
)

func TestMemoryOfAnIdleBrowserIsReadOnceAMinute(t *testing.T) {
	t.Parallel()
	now := time.Now()
	hourAgo := now.Add(-time.Hour)

	const cached = 1 // byte

	for what, i := range map[string]*instance{
		"is working":                          {started: hourAgo, lastUse: hourAgo, users: 1, memoryReadAt: now},
		"worked just now":                     {started: hourAgo, lastUse: now, memoryReadAt: now.Add(-2 * memorySettles)},
		"worked just before the last reading": {started: hourAgo, lastUse: now.Add(-memorySettles - time.Second), memoryReadAt: now.Add(-memorySettles)},
		"has just started":                    {started: now, memoryReadAt: now.Add(-2 * memorySettles)},
		"was read long ago":                   {started: hourAgo, lastUse: hourAgo, memoryReadAt: now.Add(-memoryValidFor)},
		"was never read":                      {started: hourAgo, lastUse: hourAgo},
	} {
		t.Run(what, func(t *testing.T) {
			i.proc, i.memoryBytes = &process.Process{PID: os.Getpid()}, cached
			if got := i.memory(); got == cached {
				t.Errorf("a browser that %s: memory() = the cached value, want a new one", what)
			}
		})
	}

	if i := (&instance{started: hourAgo, lastUse: now.Add(-3 * memorySettles), memoryReadAt: now.Add(-memorySettles), memoryBytes: cached}); i.memory() != cached {
		t.Error("idle browser: memory() read a new value, want the cached one")
	}
}
