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

// The values that this package reads by key must agree with Asynq's inspector.
func TestKeysAgreeWithAsynqsInspector(t *testing.T) {
	t.Parallel()
	wait.ForDay()

	env := setup(t)
	for range 3 {
		env.enqueue(t)
	}

	archived, waiting := env.enqueue(t), env.enqueue(t)
	if err := env.inspector.ArchiveTask(string(render), archived); err != nil {
		t.Fatal(err)
	}

	if err := env.inspector.PauseQueue(string(render)); err != nil {
		t.Fatal(err)
	}

	for range 2 {
		if err := CountFailed(t.Context(), env.rdb, render, time.Now()); err != nil {
			t.Fatal(err)
		}
	}

	info, err := env.inspector.GetQueueInfo(string(render))
	if err != nil {
		t.Fatal(err)
	}

	if info.Failed != 2 || info.FailedTotal != 2 {
		t.Errorf("Asynq counts %d failures today and %d in total; want 2 and 2", info.Failed, info.FailedTotal)
	}

	stats, err := ReadStats(t.Context(), env.rdb, []Queue{render}, time.Now())
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

	difference := (got.Oldest - info.Latency).Abs()
	if got != want || got.Pending != 4 || got.Archived != 1 || !got.Paused || got.Oldest == 0 ||
		got.OldestOpen < got.Oldest-10*time.Millisecond ||
		difference > 10*time.Second {
		t.Errorf("got %+v; want the values of Asynq, %+v", got, info)
	}
	env.rdb.IncrBy(t.Context(), keyOf(render, "processed"), 7)

	info, err = env.inspector.GetQueueInfo(string(render))
	if err != nil {
		t.Fatal(err)
	}

	backlog, err := ReadBacklog(t.Context(), env.rdb, render, time.Now())

	difference = (backlog.Oldest - info.Latency).Abs()
	if err != nil || backlog.Waiting != 4 || backlog.Done != 7 || info.ProcessedTotal != 7 || backlog.Oldest == 0 ||
		difference > 10*time.Second {
		t.Errorf("got %+v, %v; want the values of Asynq, %+v", backlog, err, info)
	}

	for id, want := range map[string]string{archived: "archived", waiting: "pending"} {
		if got := TaskState(t.Context(), env.rdb, render, id).Val(); got != want || env.state(t, id) != want {
			t.Errorf("the task is %q, and %q according to Asynq; want %q", got, env.state(t, id), want)
		}
	}

	if n, err := Processes(t.Context(), env.rdb); err != nil || n != 0 {
		t.Errorf("got %d processes, %v; want none without a server", n, err)
	}
	env.serve(t, noop)
	env.serve(t, noop)
	wait.Until(t, "both servers are registered",
		func() bool { servers, err := env.inspector.Servers(); return err == nil && len(servers) == 2 })

	if n, err := Processes(t.Context(), env.rdb); err != nil || n != 1 {
		t.Errorf("got %d processes, %v; want one with two servers", n, err)
	}
	// Asynq registers a queue once per client. Reconcile registers it again, in case Redis was flushed.
	env.rdb.Del(t.Context(), queuesKey)
	env.enqueue(t)

	if _, err := Reconcile(t.Context(), env.rdb, render, nil); err != nil {
		t.Fatal(err)
	}

	if queues, err := env.inspector.Queues(); err != nil || !slices.Equal(queues, []string{string(render)}) {
		t.Errorf("got queues %v, %v; want render", queues, err)
	}
}

func TestUnfitMessagesOfAsynqAreRejected(t *testing.T) {
	t.Parallel()
	env := setup(t)
	message := func(id string) string { return env.rdb.HGet(t.Context(), taskKey(render, id), "msg").Val() }

	good, late := env.enqueue(t, asynq.Timeout(time.Minute)), env.enqueue(t, asynq.Deadline(time.Now().Add(time.Hour)))
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
				t.Errorf("got %v, want an error with %q", err, name)
			}
		})
	}
}

// The hook sends each command that ends a task again.
func TestASecondEndOfATaskIsNotFound(t *testing.T) {
	t.Parallel()
	env := setup(t)
	rdb := dial(t, env.address)
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
		asynq.Config{Queues: map[string]int{string(render): 1}, TaskCheckInterval: time.Millisecond, Logger: noLog{}},
	)
	env.enqueue(t)

	if err := srv.Start(asynq.HandlerFunc(noop)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Shutdown)

	if err := <-second; err == nil || !strings.Contains(err.Error(), "NOT FOUND") {
		t.Errorf("the second end: got %v, want NOT FOUND", err)
	}
}
