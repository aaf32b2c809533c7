package tasks

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
	"presswork/tasks/redisdial"
	"presswork/tasks/stream"
)

func TestTheClockIsRedisAndWarnsOnceOfAnotherTime(t *testing.T) {
	t.Parallel()

	rdb, err := redisdial.Dial(redistest.Start(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rdb.Close() })
	var log bytes.Buffer

	c := newClock(rdb, slog.New(slog.NewTextHandler(&log, nil)))
	for _, step := range []struct {
		ahead time.Duration
		lines int
	}{{0, 0}, {-5 * time.Minute, 1}, {20 * time.Second, 1}, {time.Second, 2}, {3 * time.Second, 3}} {
		c.local = func() time.Time { return time.Now().Add(step.ahead) }
		for range 2 {
			before := c.here
			wait.Until(
				t,
				"a look that is quick enough is believed",
				func() bool { c.look(t.Context()); return c.here != before },
			)
		}
		// This test may be held up between two readings of a clock.
		wait.Until(
			t,
			fmt.Sprintf("%s ahead: the time is Redis'", step.ahead),
			func() bool { return time.Until(c.now()).Abs() < time.Second/2 },
		)
		wait.Until(
			t,
			fmt.Sprintf("%s ahead: so is the skew", step.ahead),
			func() bool { return (c.skew() - step.ahead).Abs() < time.Second/2 },
		)

		if n := strings.Count(log.String(), "\n"); n != step.lines {
			t.Errorf("%s ahead: %d lines in the log, want %d:\n%s", step.ahead, n, step.lines, &log)
		}
	}
}

// slowTime is a hook that lets Redis' time take a while.
type slowTime struct{ by time.Duration }

func (s *slowTime) DialHook(next redis.DialHook) redis.DialHook { return next }

func (s *slowTime) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (s *slowTime) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		time.Sleep(s.by / 2)
		err := next(ctx, cmd)
		time.Sleep(s.by / 2)

		return err
	}
}

func TestAWrongClockShowsAcrossASlowNetwork(t *testing.T) {
	t.Parallel()

	rdb, err := redisdial.Dial(redistest.Start(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rdb.Close() })
	slow := &slowTime{by: 2 * measureWithin}
	rdb.AddHook(slow)
	c := newClock(rdb, slog.New(slog.DiscardHandler))
	const ahead = -600 * time.Second
	c.local = func() time.Time { return time.Now().Add(ahead) }
	c.look(t.Context())

	if off := (c.skew() - ahead).Abs(); off > 10*time.Second {
		t.Errorf("the skew is %s, want %s", c.skew(), ahead)
	}

	// A slow look that agrees with a quick one does not replace it.
	slow.by = 0
	before := c.here
	wait.Until(t, "a look is quick", func() bool { c.look(t.Context()); return c.here != before })

	slow.by, before = 2*measureWithin, c.here
	if c.look(t.Context()); c.here != before {
		t.Error("a slow look replaced a quick one that it agrees with")
	}
}

func TestNothingOfAJobIsBeforeWhatWasBeforeIt(t *testing.T) {
	t.Parallel()

	c, err := NewClient(redistest.Start(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Stop(context.Background()) })
	ctx, id := t.Context(), NewID()

	task, err := ConvertPDF.Task(Convert{Content: "x"})
	if err != nil {
		t.Fatal(err)
	}
	// Each process knows Redis' time a little worse than the one before it.
	behind := time.Duration(0)

	c.clock.local = func() time.Time {
		behind += 20 * time.Millisecond
		return time.Now().Add(-behind)
	}
	if err := c.Accept(ctx, Submission{ID: id, Kind: presswork.KindConversion, Task: task}); err != nil {
		t.Fatal(err)
	}

	run, err := c.records.begin(ctx, id, ConvertPDF.Name, "w")
	if err != nil {
		t.Fatal(err)
	}

	if err := c.records.tell(ctx, id, run.fence, c.records.progressed(presswork.StageRendering, 20, "")); err != nil {
		t.Fatal(err)
	}

	job, err := c.records.finish(
		ctx,
		id,
		ending{fence: run.fence, nonce: "n", status: presswork.Completed, artifact: &presswork.Artifact{ID: id}},
	)
	if err != nil {
		t.Fatal(err)
	}

	if job.StartedAt == nil || job.StartedAt.Before(job.CreatedAt) || job.FinishedAt == nil ||
		job.FinishedAt.Before(*job.StartedAt) {
		t.Errorf("created %s, started %s, finished %s", job.CreatedAt, job.StartedAt, job.FinishedAt)
	}

	events, err := c.records.events(ctx, id, 0)
	if err != nil || len(events) != 4 {
		t.Fatalf("%d events, want 4: %v", len(events), err)
	}

	for i, e := range events[1:] {
		if e.At.Before(events[i].At) {
			t.Errorf("event %d is of %s, the one before it of %s", e.Seq, e.At, events[i].At)
		}
	}
}

// TestACallIsTimedByRedis has an API whose clock is a day ahead make a call: its day in
// the ledger and its wait depend on it.
func TestACallIsTimedByRedis(t *testing.T) {
	t.Parallel()
	address := redistest.Start(t)

	c, err := NewClient(address, Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Stop(context.Background()) })

	c.clock.local = func() time.Time { return time.Now().Add(24 * time.Hour) }
	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the client knows Redis' time", func() bool { return time.Until(c.Now()).Abs() < time.Minute })

	s, err := NewServer(address, Options{Queues: []Queue{Infer}})
	if err != nil {
		t.Fatal(err)
	}
	runs := make(chan *stream.Run, 1)
	HandleCalls(s, func(_ context.Context, run *stream.Run) error {
		runs <- run
		return run.Finish(nil)
	})

	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Stop(context.Background()) })

	a, err := c.Call(t.Context(), stream.Call{Tier: stream.OnDemand})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()

	run := wait.Receive(t, "the call runs", runs)
	if at := run.Call.QueuedAt; time.Since(at).Abs() > wait.Patience || run.Waited > wait.Patience {
		t.Errorf("queued at %s, and waited for %s", at, run.Waited)
	}
}
