package asynqext

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"presswork/internal/test/wait"
)

// TestKeysAgreeWithAsynqsInspector compares what is read by key with what Asynq's
// inspector says.
func TestKeysAgreeWithAsynqsInspector(t *testing.T) {
	t.Parallel()
	wait.ForDay()

	w := setup(t)
	for range 3 {
		w.enqueue(t)
	}

	archived, waiting := w.enqueue(t), w.enqueue(t)
	if err := w.inspector.ArchiveTask(string(render), archived); err != nil {
		t.Fatal(err)
	}

	if err := w.inspector.PauseQueue(string(render)); err != nil {
		t.Fatal(err)
	}

	for range 2 {
		if err := CountFailed(t.Context(), w.rdb, render, time.Now()); err != nil {
			t.Fatal(err)
		}
	}

	info, err := w.inspector.GetQueueInfo(string(render))
	if err != nil {
		t.Fatal(err)
	}

	if info.Failed != 2 || info.FailedTotal != 2 {
		t.Errorf("Asynq counts %d failures, %d in all; want 2", info.Failed, info.FailedTotal)
	}

	stats, err := ReadStats(t.Context(), w.rdb, []Queue{render}, time.Now())
	if err != nil {
		t.Fatal(err)
	}

	got, want := stats[0], Stats{
		Queue:      render,
		Pending:    int64(info.Pending),
		Active:     int64(info.Active),
		Retry:      int64(info.Retry),
		Archived:   int64(info.Archived),
		Oldest:     stats[0].Oldest,
		OldestOpen: stats[0].OldestOpen,
		Paused:     info.Paused,
		Processed:  int64(info.Processed),
		Failed:     int64(info.Failed),
	}
	if off := (got.Oldest - info.Latency).Abs(); got != want || got.Pending != 4 || got.Archived != 1 || !got.Paused ||
		got.Oldest == 0 ||
		got.OldestOpen < got.Oldest-10*time.Millisecond ||
		off > 10*time.Second {
		t.Errorf("read %+v, Asynq says %+v", got, info)
	}
	w.rdb.IncrBy(t.Context(), keyOf(render, "processed"), 7)

	info, err = w.inspector.GetQueueInfo(string(render))
	if err != nil {
		t.Fatal(err)
	}

	line, err := ReadBacklog(t.Context(), w.rdb, render, time.Now())
	if off := (line.Oldest - info.Latency).Abs(); err != nil || line.Waiting != 4 || line.Done != 7 ||
		info.ProcessedTotal != 7 ||
		line.Oldest == 0 ||
		off > 10*time.Second {
		t.Errorf("%+v, %v; Asynq says %+v", line, err, info)
	}

	for id, want := range map[string]string{archived: "archived", waiting: "pending"} {
		if got := TaskState(t.Context(), w.rdb, render, id).Val(); got != want || w.state(t, id) != want {
			t.Errorf("a task is %q, and %q by Asynq; want %q", got, w.state(t, id), want)
		}
	}

	if n, err := Processes(t.Context(), w.rdb); err != nil || n != 0 {
		t.Errorf("%d processes without a server, %v", n, err)
	}
	w.serve(t, nothing)
	w.serve(t, nothing)
	wait.Until(
		t,
		"both servers are known",
		func() bool { servers, err := w.inspector.Servers(); return err == nil && len(servers) == 2 },
	)

	if n, err := Processes(t.Context(), w.rdb); err != nil || n != 1 {
		t.Errorf("%d processes with two servers of one, %v", n, err)
	}
	// Asynq makes a queue known once, so that a flushed Redis would hide it.
	w.rdb.Del(t.Context(), queuesKey)
	w.enqueue(t)

	if _, err := Reconcile(t.Context(), w.rdb, render, nil); err != nil {
		t.Fatal(err)
	}

	if queues, err := w.inspector.Queues(); err != nil || !slices.Equal(queues, []string{string(render)}) {
		t.Errorf("Asynq knows the queues %v, %v", queues, err)
	}
}

// TestAsynqsMessagesAreRead reads messages as Asynq writes them.
func TestAsynqsMessagesAreRead(t *testing.T) {
	t.Parallel()
	w := setup(t)
	message := func(id string) string { return w.rdb.HGet(t.Context(), taskKey(render, id), "msg").Val() }

	good, late := w.enqueue(t, asynq.Timeout(time.Minute)), w.enqueue(t, asynq.Deadline(time.Now().Add(time.Hour)))
	if err := whyUnfit(render, good, message(good)); err != nil {
		t.Error(err)
	}

	for name, err := range map[string]error{
		"has a deadline": whyUnfit(render, late, message(late)),
		"that of task":   whyUnfit(render, "another", message(good)),
		"of queue":       whyUnfit("text", good, message(good)),
		"be decoded":     whyUnfit(render, good, "\xff\xff"),
	} {
		t.Run(name, func(t *testing.T) {
			if err == nil || !strings.Contains(err.Error(), name) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

// TestASecondEndOfATaskIsNotFound sends what ends tasks twice.
func TestASecondEndOfATaskIsNotFound(t *testing.T) {
	t.Parallel()
	w := setup(t)
	rdb := dial(t, w.address)
	second := make(chan error, 1)
	rdb.AddHook(hook(func(ctx context.Context, cmd redis.Cmder, next redis.ProcessHook) error {
		err := next(ctx, cmd)
		if _, ok := completedTask(cmd); ok && err == nil {
			second <- rdb.Do(ctx, cmd.Args()...).Err()
		}

		return err
	}))
	srv := asynq.NewServerFromRedisClient(
		rdb,
		asynq.Config{Queues: map[string]int{string(render): 1}, TaskCheckInterval: time.Millisecond, Logger: silent{}},
	)
	w.enqueue(t)

	if err := srv.Start(asynq.HandlerFunc(nothing)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Shutdown)

	if err := <-second; err == nil || !strings.Contains(err.Error(), "NOT FOUND") {
		t.Errorf("a second end is answered by %v", err)
	}
}
