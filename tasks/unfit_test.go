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

// Each of these would have kept the slot taken for it: Asynq gives none of them
// to the handler. There are more than slots.
func TestUnrunnableTasksAreArchived(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	ctx := t.Context()

	put := func(id, message string) {
		b.rdb.HSet(ctx, tasks.AsynqTask(tasks.Render, id), "msg", message, "state", "pending")
		b.rdb.LPush(ctx, tasks.AsynqPending(tasks.Render), id)
	}
	for i := range 4 {
		put(fmt.Sprintf("garbage-%d", i), "\xff\xff not a message")
		put(fmt.Sprintf("empty-%d", i), "")
	}
	client := asynq.NewClientFromRedisClient(b.rdb)

	late, err := client.EnqueueContext(
		ctx,
		asynq.NewTask(tasks.ConvertPDF.Name, nil),
		asynq.Queue("render"),
		asynq.TaskID("late"),
		asynq.Deadline(time.Now().Add(-time.Hour)),
	)
	if err != nil {
		t.Fatal(err)
	}
	put("another's", b.rdb.HGet(ctx, tasks.AsynqTask(tasks.Render, late.ID), "msg").Val())

	s := b.serve(t, tasks.Options{RenderSlots: 1}, complete)
	if rec := b.finished(t, b.submit(t, submission(t))); rec.Status != presswork.Completed {
		t.Errorf("%+v", rec)
	}

	if n := b.rdb.ZCard(ctx, tasks.AsynqKey(tasks.Render, "archived")).Val(); n != 10 {
		t.Errorf("%d of 10 tasks are archived", n)
	}

	if n := b.rdb.LLen(ctx, tasks.AsynqActive(tasks.Render)).Val(); n > 1 {
		t.Errorf("%d tasks are active", n)
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

	if rec := b.finished(t, id); rec.Status != presswork.Completed {
		t.Errorf("%+v", rec)
	}
}

func TestAServerThatNoLongerDequeuesSaysSo(t *testing.T) {
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
	const long = time.Hour
	wait.Until(t, "the queues have been looked at", func() bool { return s.LastLook(tasks.Render).After(started) })

	if err := s.ProgressAt(time.Now()); err != nil {
		t.Error(err)
	}

	if err := s.ProgressAt(time.Now().Add(long)); err == nil {
		t.Error("nothing is said of an hour without a dequeue")
	}
	// All slots are busy: that is no fault.
	var ids []string
	for range 3 {
		ids = append(ids, b.submit(t, submission(t)))
	}
	wait.Until(t, "all run", func() bool { return s.Running() == 3 })

	if err := s.ProgressAt(time.Now().Add(long)); err != nil {
		t.Error(err)
	}
	close(release)

	for _, id := range ids {
		b.finished(t, id)
	}
}
