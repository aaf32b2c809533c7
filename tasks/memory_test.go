package tasks_test

import (
	"context"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
	"presswork/tasks"
)

// redisInfo returns the number after name in a section of Redis' INFO.
func (b *bundle) redisInfo(t testing.TB, section, name string) float64 {
	t.Helper()

	info, err := b.rdb.Info(t.Context(), section).Result()
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(info, "\r\n"+name)
	value, _, _ := strings.Cut(rest, "\r\n")

	n, err := strconv.ParseFloat(value, 64)
	if err != nil {
		t.Fatal(err)
	}

	return n
}

// fillMemory writes to Redis until a share of its maxmemory is used.
func (b *bundle) fillMemory(t *testing.T, share float64) {
	t.Helper()

	limit := b.redisInfo(t, "memory", "maxmemory:")
	for b.redisInfo(t, "memory", "used_memory:") < share*limit {
		if err := b.rdb.RPush(t.Context(), "ballast", strings.Repeat("x", 20<<10)).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func (b *bundle) setMaxMemory(t *testing.T, limit string) {
	t.Helper()

	if err := b.rdb.ConfigSet(t.Context(), "maxmemory", limit).Err(); err != nil {
		t.Fatal(err)
	}
}

// trySubmit submits a small conversion. Unlike submit, it returns the error.
func (b *bundle) trySubmit(t *testing.T) (string, error) {
	t.Helper()

	task, err := tasks.ConvertPDF.Task(tasks.Convert{Content: "# x", Theme: "light"})
	if err != nil {
		t.Fatal(err)
	}
	id := tasks.NewID()
	_, _, err = b.client.Submit(
		t.Context(),
		tasks.Submission{ID: id, Kind: presswork.KindConversion, Theme: "light", Task: task},
	)

	return id, err
}

// waitForStatus waits until the job has this status. It fails the test if the job ends with another one.
func (b *bundle) waitForStatus(t testing.TB, id string, want presswork.Status) {
	t.Helper()

	wait.Until(t, "job "+id+" is "+string(want), func() bool {
		rec, err := b.client.Job(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}

		if rec.Status != want && rec.Status.Terminal() {
			t.Fatalf("job %s is %s: %+v; want %s", id, rec.Status, rec.Error, want)
		}

		return rec.Status == want
	})
}

func TestSubmissionsLeaveMemoryToAcceptedJobs(t *testing.T) {
	t.Parallel()
	b := setupOn(t, redistest.StartSmall(t, "24mb"), tasks.Options{})
	var ids []string

	for range 20 {
		id, err := b.trySubmit(t)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	b.fillMemory(t, 0.96)

	var err error
	wait.Until(t, "a submission to an almost full Redis is refused", func() bool {
		_, err = b.trySubmit(t)
		return fault.CodeOf(err) == fault.QueueUnavailable
	})

	if !strings.Contains(err.Error(), "almost full") {
		t.Errorf("got %v, want \"almost full\"", err)
	}

	if err := b.client.Health(t.Context()); err != nil {
		t.Errorf("Health of a Redis that accepts writes: got %v, want nil", err)
	}
	b.serve(t, tasks.Options{}, func(ctx context.Context, run *tasks.Run, _ tasks.Convert) error {
		return run.Complete(ctx, presswork.Artifact{ID: run.ID}, false)
	})

	for _, id := range ids {
		b.waitForStatus(t, id, presswork.Completed)
	}
}

func TestAJobContinuesWhenRedisHasMemoryAgain(t *testing.T) {
	t.Parallel()
	b := setupOn(t, redistest.StartSmall(t, "24mb"), tasks.Options{})
	log := &logWatcher{text: "a run failed; the job is retried", seen: make(chan struct{})}
	crashes := make(chan string, 1)
	begun, full, refused := make(chan struct{}), make(chan struct{}), make(chan struct{})
	b.serve(
		t,
		tasks.Options{Log: slog.New(slog.NewTextHandler(log, nil))},
		func(ctx context.Context, run *tasks.Run, _ tasks.Convert) error {
			if run.Attempt == 1 {
				close(begun)
				<-full
				err := run.Progress(ctx, presswork.StageRendering, 20, "a step that cannot be written")
				close(refused)

				return err
			}
			crashes <- b.rdb.HGet(ctx, tasks.AsynqTask(tasks.Render, run.ID), "x_crashes").Val()

			return run.Complete(ctx, presswork.Artifact{ID: run.ID}, false)
		},
	)

	id, err := b.trySubmit(t)
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	b.setMaxMemory(t, "1mb") // less than is used, so Redis refuses writes

	if err := b.client.Health(t.Context()); fault.CodeOf(err) != fault.QueueUnavailable {
		t.Errorf("Health of a full Redis: got %v, want %s", err, fault.QueueUnavailable)
	}
	close(full)
	<-refused

	if rec, err := b.client.Job(t.Context(), id); err != nil || rec.Status != presswork.Processing {
		t.Errorf("in a full Redis: the job is %s, %v; want processing", rec.Status, err)
	}

	w, err := b.client.Watch(t.Context(), id, 0)
	if err != nil {
		t.Fatalf("Watch with a full Redis: %v", err)
	}
	defer w.Close()
	<-log.seen
	// Now Asynq tries to write the retry, which Redis refuses as well.
	refusals := func() float64 { return b.redisInfo(t, "errorstats", "errorstat_OOM:count=") }
	before := refusals()
	wait.Until(t, "Redis refuses ten more writes", func() bool { return refusals() >= before+10 })
	b.setMaxMemory(t, "24mb")
	b.waitForStatus(t, id, presswork.Completed)

	if n := <-crashes; n != "" {
		t.Errorf("the reaper counted %s crashes, want none: Asynq writes the retry itself", n)
	}
}

func TestHeldReportsSurviveAFullRedis(t *testing.T) {
	t.Parallel()
	b := setupOn(t, redistest.StartSmall(t, "24mb"), tasks.Options{})
	b.serve(t, tasks.Options{}, func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
		if err := run.Warn(fault.Warning{Code: fault.ImageFailed, Message: "held"}); err != nil {
			return err
		}
		b.setMaxMemory(t, "1mb")

		err := run.Progress(ctx, presswork.StageRendering, 20, "a step that cannot be written")
		if fault.CodeOf(err) != fault.QueueUnavailable {
			t.Errorf("Progress with a full Redis: got %v, want %s", err, fault.QueueUnavailable)
		}
		b.setMaxMemory(t, "24mb")

		return complete(ctx, run, c)
	})

	id, err := b.trySubmit(t)
	if err != nil {
		t.Fatal(err)
	}

	if rec := b.waitForEnd(t, id); len(rec.Warnings) != 1 || rec.Warnings[0].Message != "held" {
		t.Errorf("got warnings %v, want the one that was held", rec.Warnings)
	}
}

// logWatcher is a log that closes seen when it gets a line with text.
type logWatcher struct {
	text string
	seen chan struct{}
	once sync.Once
}

func (w *logWatcher) Write(line []byte) (int, error) {
	if strings.Contains(string(line), w.text) {
		w.once.Do(func() { close(w.seen) })
	}

	return len(line), nil
}
