package tasks_test

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/tasks"
)

// This test fails when a new Asynq dequeues in a way the doorbell does not
// recognise: by its counters, and by what an idle worker asks of Redis.
func TestDoorbellAnswersForThePinnedAsynq(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	s := b.serve(t, tasks.Options{}, complete)
	eventually(t, "the queue is found empty", func() bool { n, _ := s.Bell(); return n >= 2 })
	for range 5 {
		_, before := s.Bell()
		b.finished(t, b.submit(t, submission(t)))
		if _, after := s.Bell(); after == before {
			t.Error("a task was picked up without the bell")
		}
	}
}

func TestWithoutBLMOVETheQueueIsPolled(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	if err := b.rdb.Do(t.Context(), "acl", "setuser", "default", "-blmove").Err(); err != nil {
		t.Fatal(err)
	}
	s := b.serve(t, tasks.Options{}, complete)
	for range 5 {
		if rec := b.finished(t, b.submit(t, submission(t))); rec.Status != presswork.Completed {
			t.Errorf("%+v", rec)
		}
	}
	if _, rings := s.Bell(); rings != 0 {
		t.Errorf("the bell rang %d times", rings)
	}
}

func TestPausedQueueRests(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	ctx := t.Context()
	paused := "asynq:{render}:paused"
	b.rdb.Set(ctx, paused, 1, 0)
	s := b.serve(t, tasks.Options{}, complete)
	id := b.submit(t, submission(t))
	_, before := s.Bell()
	time.Sleep(time.Second)
	if _, after := s.Bell(); after-before > 10 {
		t.Errorf("the bell of a paused queue rang %d times in a second", after-before)
	}
	if got := b.job(t, id).Status; got != presswork.Queued {
		t.Errorf("a paused queue ran a job: %s", got)
	}
	b.rdb.Del(ctx, paused)
	b.finished(t, id)
}

// calls returns the number of commands Redis has executed, those inside scripts
// included, by name.
func calls(t *testing.T, rdb redis.UniversalClient) map[string]int {
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

func TestAnIdleWorkerLeavesRedisInPeace(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	s := b.server(t, tasks.Options{})
	tasks.Handle(s, tasks.ConvertPDF, complete)
	for _, q := range []tasks.Queue{tasks.Export, tasks.Text, tasks.Infer} {
		tasks.HandlePlain(s, tasks.Kind[struct{}]{Name: "test:" + string(q), Queue: q, Retries: 1, Timeout: time.Second},
			func(context.Context, struct{}) error { return nil })
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	const seconds = 10
	time.Sleep(2 * time.Second)
	before := calls(t, b.rdb)
	time.Sleep(seconds * time.Second)
	total := 0
	var lines []string
	for name, n := range calls(t, b.rdb) {
		if n -= before[name]; n > 0 {
			total += n
			lines = append(lines, name+" "+strconv.Itoa(n))
		}
	}
	slices.Sort(lines)
	t.Logf("%d commands/s with five queues; in %d s: %s", total/seconds, seconds, strings.Join(lines, ", "))
	if total > 80*seconds {
		t.Errorf("%d commands/s, want at most 80", total/seconds)
	}
}
