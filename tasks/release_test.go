package tasks_test

import (
	"context"
	"testing"

	"github.com/hibiken/asynq"

	"presswork/internal/test/wait"
	"presswork/tasks"
	"presswork/tasks/stream"
)

// A rolling upgrade can leave tasks of a kind that only the other release knows.
func TestATaskOfAnotherReleaseIsDroppedAfterItsCall(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	s := b.server(t, tasks.Options{Queues: []tasks.Queue{tasks.Infer}})
	tasks.HandleCalls(s, func(context.Context, *stream.Run) error { return nil })

	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	queue := asynq.NewClientFromRedisClient(b.rdb)
	forgotten, open, webhook := tasks.NewID(), tasks.NewID(), tasks.WebhookTask(tasks.NewID())

	if err := b.rdb.HSet(t.Context(), "pw:{"+open+"}:call", "by", "a caller").Err(); err != nil {
		t.Fatal(err)
	}

	for _, id := range []string{webhook, open, forgotten} {
		_, err := queue.EnqueueContext(t.Context(), asynq.NewTask("call:v0", nil),
			asynq.TaskID(id), asynq.Queue(string(tasks.Infer)), asynq.MaxRetry(9))
		if err != nil {
			t.Fatal(err)
		}
	}

	state := func(id string) string {
		return b.rdb.HGet(t.Context(), "asynq:{infer}:t:"+id, "state").Val()
	}
	wait.Until(t, "the forgotten task is dropped", func() bool { return state(forgotten) == "" })

	for name, id := range map[string]string{"open": open, "webhook": webhook} {
		wait.Until(t, name+" waits for a worker of its release", func() bool { return state(id) == "retry" })
	}
}
