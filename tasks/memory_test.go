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
	"presswork/tasks/redisdial"
)

// figure reads a number that Redis reports of itself.
func (b *bundle) figure(t testing.TB, section, name string) float64 {
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

// fill puts ballast into Redis until it holds a share of its maxmemory.
func (b *bundle) fill(t *testing.T, share float64) {
	t.Helper()

	limit := b.figure(t, "memory", "maxmemory:")
	for b.figure(t, "memory", "used_memory:") < share*limit {
		if err := b.rdb.RPush(t.Context(), "ballast", strings.Repeat("x", 20<<10)).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func (b *bundle) setMemory(t *testing.T, limit string) {
	t.Helper()

	if err := b.rdb.ConfigSet(t.Context(), "maxmemory", limit).Err(); err != nil {
		t.Fatal(err)
	}
}

func (b *bundle) submitOne(t *testing.T) (string, error) {
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

func (b *bundle) waitFor(t *testing.T, id string, want presswork.Status) {
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
		id, err := b.submitOne(t)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	b.fill(t, 0.96)

	var err error
	wait.Until(t, "a submission to an almost full Redis is refused", func() bool {
		_, err = b.submitOne(t)
		return fault.CodeOf(err) == fault.QueueUnavailable
	})

	if !strings.Contains(err.Error(), "almost full") {
		t.Errorf("refused with %v", err)
	}

	if err := b.client.Health(t.Context()); err != nil {
		t.Errorf("Health of a Redis that accepts writes: %v", err)
	}
	b.serve(t, tasks.Options{}, func(ctx context.Context, run *tasks.Run, _ tasks.Convert) error {
		return run.Complete(ctx, presswork.Artifact{ID: run.ID}, false)
	})

	for _, id := range ids {
		b.waitFor(t, id, presswork.Completed)
	}
}

func TestAJobContinuesWhenRedisHasMemoryAgain(t *testing.T) {
	t.Parallel()
	b := setupOn(t, redistest.StartSmall(t, "24mb"), tasks.Options{})
	log := &firstLine{words: "a run failed; the job is retried", seen: make(chan struct{})}
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

	id, err := b.submitOne(t)
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	b.setMemory(t, "1mb") // less than it has

	if err := b.client.Health(t.Context()); fault.CodeOf(err) != fault.QueueUnavailable {
		t.Errorf("the health of a full Redis: %v", err)
	}
	close(full)
	<-refused

	if rec, err := b.client.Job(t.Context(), id); err != nil || rec.Status != presswork.Processing {
		t.Errorf("in a full Redis the job is %s, %v", rec.Status, err)
	}

	w, err := b.client.Watch(t.Context(), id, 0)
	if err != nil {
		t.Fatalf("in a full Redis the events: %v", err)
	}
	defer w.Close()
	<-log.seen
	// Now Asynq writes that the task will be retried, and Redis refuses that as well.
	refusals := func() float64 { return b.figure(t, "errorstats", "errorstat_OOM:count=") }
	already := refusals()
	wait.Until(t, "Redis refuses ten more writes", func() bool { return refusals() >= already+10 })
	b.setMemory(t, "24mb")
	b.waitFor(t, id, presswork.Completed)

	if n := <-crashes; n != "" {
		t.Errorf("the task was left to the reaper, which took its worker for dead %s times", n)
	}
}

func TestHeldReportsSurviveAFullRedis(t *testing.T) {
	t.Parallel()
	b := setupOn(t, redistest.StartSmall(t, "24mb"), tasks.Options{})
	b.serve(t, tasks.Options{}, func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
		if err := run.Warn(fault.Warning{Code: fault.ImageFailed, Message: "held"}); err != nil {
			return err
		}
		b.setMemory(t, "1mb")

		if err := run.Progress(
			ctx,
			presswork.StageRendering,
			20,
			"a step that cannot be written",
		); fault.CodeOf(
			err,
		) != fault.QueueUnavailable {
			t.Errorf("a step in a full Redis: %v", err)
		}
		b.setMemory(t, "24mb")

		return complete(ctx, run, c)
	})

	id, err := b.submitOne(t)
	if err != nil {
		t.Fatal(err)
	}

	if rec := b.finished(t, id); len(rec.Warnings) != 1 || rec.Warnings[0].Message != "held" {
		t.Errorf("the job ended with the warnings %v", rec.Warnings)
	}
}

// firstLine is a log that says when it has some words.
type firstLine struct {
	words string
	seen  chan struct{}
	once  sync.Once
}

func (f *firstLine) Write(line []byte) (int, error) {
	if strings.Contains(string(line), f.words) {
		f.once.Do(func() { close(f.seen) })
	}

	return len(line), nil
}

func TestARedisThatEvictsIsNamed(t *testing.T) {
	t.Parallel()

	b := setup(t, tasks.Options{})
	if err := tasks.CheckEviction(t.Context(), b.rdb); err != nil {
		t.Error(err)
	}

	for _, policy := range []string{"allkeys-lru", "volatile-ttl"} {
		if err := b.rdb.ConfigSet(t.Context(), "maxmemory-policy", policy).Err(); err != nil {
			t.Fatal(err)
		}

		if err := tasks.CheckEviction(t.Context(), b.rdb); err == nil || !strings.Contains(err.Error(), policy) {
			t.Errorf("%s: %v", policy, err)
		}
	}
}

func TestReachTellsAnOutageFromARefusal(t *testing.T) {
	t.Parallel()

	b := setup(t, tasks.Options{})
	if final, err := tasks.Reach(t.Context(), b.rdb); err != nil || final {
		t.Errorf("%v, final %v", err, final)
	}

	if err := b.rdb.ConfigSet(t.Context(), "requirepass", "hush").Err(); err != nil {
		t.Fatal(err)
	}

	for address, want := range map[string]bool{b.address: true, b.address + ".none": false} {
		rdb, err := redisdial.Dial(address, 0)
		if err != nil {
			t.Fatal(err)
		}

		if final, err := tasks.Reach(t.Context(), rdb); err == nil || final != want {
			t.Errorf("%s: %v, final %v", address, err, final)
		}
		rdb.Close()
	}
}
