package tasks_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/hibiken/asynq"

	"presswork"
	"presswork/internal/test/wait"
	"presswork/tasks"
)

// Asynq gives none of these tasks to the handler, so each could keep its slot forever. There are more of them than slots.
func TestUnrunnableTasksAreArchived(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	ctx := t.Context()

	// put adds a waiting task with this message.
	put := func(id, message string) {
		b.rdb.HSet(ctx, tasks.AsynqTask(tasks.Render, id), "msg", message, "state", "pending")
		b.rdb.LPush(ctx, tasks.AsynqPending(tasks.Render), id)
	}
	for i := range 4 {
		put(fmt.Sprintf("garbage-%d", i), "\xff\xff not a message")
		put(fmt.Sprintf("empty-%d", i), "")
	}
	client := asynq.NewClientFromRedisClient(b.rdb)

	late, err := client.EnqueueContext(ctx, asynq.NewTask(tasks.ConvertPDF.Name, nil), asynq.Queue("render"),
		asynq.TaskID("late"), asynq.Deadline(time.Now().Add(-time.Hour)))
	if err != nil {
		t.Fatal(err)
	}
	put("another's", b.rdb.HGet(ctx, tasks.AsynqTask(tasks.Render, late.ID), "msg").Val())

	s := b.serve(t, tasks.Options{RenderSlots: 1}, complete)
	b.waitForStatus(t, b.submit(t, submission(t)), presswork.Completed)

	if n := b.rdb.ZCard(ctx, tasks.AsynqKey(tasks.Render, "archived")).Val(); n != 10 {
		t.Errorf("%d tasks are archived, want 10", n)
	}

	if n := b.rdb.LLen(ctx, tasks.AsynqActive(tasks.Render)).Val(); n > 1 {
		t.Errorf("%d tasks are active, want at most one", n)
	}

	if err := s.Progress(ctx); err != nil {
		t.Error(err)
	}
}

func TestUnreadableTaskOfAnOpenJobIsReplaced(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	id := b.submit(t, submission(t))
	b.rdb.HSet(t.Context(), tasks.AsynqTask(tasks.Render, id), "msg", "\xff")
	b.serve(t, tasks.Options{}, complete)

	b.waitForStatus(t, id, presswork.Completed)
}

func TestProgressFailsWhenTheServerStopsDequeuing(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	s := b.server(t, tasks.Options{RenderSlots: 1})
	release := make(chan struct{})
	tasks.Handle(s, tasks.ConvertPDF, func(ctx context.Context, run *tasks.Run, c tasks.Convert) error {
		<-release
		return complete(ctx, run, c)
	})

	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	started := time.Now()
	wait.Until(t, "the queue has been polled", func() bool { return s.LastPoll(tasks.Render).After(started) })

	if err := s.ProgressAt(time.Now()); err != nil {
		t.Error(err)
	}

	if err := s.ProgressAt(time.Now().Add(time.Hour)); err == nil {
		t.Error("Progress after an hour without a dequeue: got nil, want an error")
	}
	// A server with all slots busy does not dequeue, and is healthy.
	var ids []string
	for range 3 {
		ids = append(ids, b.submit(t, submission(t)))
	}
	wait.Until(t, "all run", func() bool { return s.Running() == 3 })

	if err := s.ProgressAt(time.Now().Add(time.Hour)); err != nil {
		t.Error(err)
	}
	close(release)

	for _, id := range ids {
		b.waitForEnd(t, id)
	}
}
