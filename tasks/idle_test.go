package tasks_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork/internal/test/wait"
	"presswork/tasks"
)

// commandCounts returns by name how often Redis has executed each command, including those inside scripts.
func commandCounts(t *testing.T, rdb redis.UniversalClient) map[string]int {
	t.Helper()
	out := map[string]int{}

	for line := range strings.Lines(rdb.Info(t.Context(), "commandstats").Val()) {
		name, rest, ok := strings.Cut(strings.TrimPrefix(line, "cmdstat_"), ":calls=")
		if !ok {
			continue
		}
		n, _, _ := strings.Cut(rest, ",")
		out[name], _ = strconv.Atoi(n)
	}

	return out
}

func TestAnIdleWorkerSendsFewCommands(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	s := b.server(t, tasks.Options{})
	tasks.Handle(s, tasks.ConvertPDF, complete)

	for _, q := range []tasks.Queue{tasks.Export, tasks.Text, tasks.Infer} {
		tasks.HandlePlain(s,
			tasks.Kind[struct{}]{Name: "test:" + string(q), Queue: q, Retries: 1, Timeout: time.Second},
			func(context.Context, struct{}) error { return nil })
	}

	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	// Each of the four queues with BLMOVE calls it about once a second. The test waits for two rounds and counts
	// all other commands.
	polls := func() int { return commandCounts(t, b.rdb)["blmove"] }
	wait.Until(t, "the worker is idle", func() bool { return polls() >= 4 })
	before := commandCounts(t, b.rdb)
	wait.Until(t, "it has polled each queue twice more", func() bool { return polls() >= before["blmove"]+8 })
	after, total := commandCounts(t, b.rdb), 0
	var lines []string

	for name, n := range after {
		// These commands are from the test itself.
		if n -= before[name]; n > 0 && name != "info" {
			total += n
			lines = append(lines, name+" "+strconv.Itoa(n))
		}
	}
	slices.Sort(lines)
	// On a busy machine there may be more than two rounds.
	seconds := (after["blmove"] - before["blmove"]) / 4
	t.Logf("%d commands in %d idle seconds of five queues: %s", total, seconds, strings.Join(lines, ", "))

	// The heartbeats of every five seconds may be among them.
	if total > 40*seconds {
		t.Errorf("%d commands in %d idle seconds, want at most %d", total, seconds, 40*seconds)
	}
}
