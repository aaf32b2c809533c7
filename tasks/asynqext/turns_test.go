package asynqext

import (
	"testing"

	"github.com/hibiken/asynq"

	"presswork/internal/test/redistest"
)

func TestAHeldTaskWaitsForItsKey(t *testing.T) {
	t.Parallel()
	rdb := dial(t, redistest.Start(t))
	rdb.AddHook(Turns(rdb))
	ctx := t.Context()
	held := new(Held)
	_, err := asynq.NewClientFromRedisClient(rdb).EnqueueContext(held.Hold(WithOwner(ctx, "ann")), asynq.NewTask("k", nil), asynq.TaskID("id"), asynq.Queue("render"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name          string
		answer, waits int64
	}{{"held", -1, 0}, {"its key there", 1, 1}, {"a second time", 0, 1}} {
		if c.name == "its key there" {
			rdb.Set(ctx, "key", "x", 0)
		}
		if n, err := held.Enqueue(ctx, rdb, "key", true).Int64(); err != nil || n != c.answer {
			t.Errorf("%s: answered %d (%v), want %d", c.name, n, err, c.answer)
		}
		if n := rdb.LLen(ctx, "asynq:{render}:pending").Val(); n != c.waits {
			t.Errorf("%s: %d tasks wait, want %d", c.name, n, c.waits)
		}
	}
}
