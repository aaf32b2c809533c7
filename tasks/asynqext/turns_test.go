package asynqext

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"presswork/internal/test/redistest"
)

func TestAHeldTaskIsEnqueuedByItsScript(t *testing.T) {
	t.Parallel()
	rdb := dial(t, redistest.Start(t))
	rdb.AddHook(Turns(rdb))
	ctx := t.Context()
	held := new(Held)

	_, err := asynq.NewClientFromRedisClient(rdb).
		EnqueueContext(held.Hold(WithTurn(ctx, Turn{Owner: "ann"})),
			asynq.NewTask("k", nil), asynq.TaskID("id"), asynq.Queue("render"))
	if err != nil {
		t.Fatal(err)
	}

	if n := rdb.Exists(ctx, "asynq:{render}:pending", "asynq:{render}:t:id").Val(); n != 0 {
		t.Error("the held task is on its queue")
	}

	keys, argv := held.Args()

	script := serverTime + EnqueueLua + "enqueue(1, unpack(ARGV))"
	if err := rdb.Eval(ctx, script, keys, argv...).Err(); err != nil && !errors.Is(err, redis.Nil) {
		t.Fatal(err)
	}

	if n := rdb.LLen(ctx, "asynq:{render}:pending").Val(); n != 1 {
		t.Errorf("%d tasks are on the queue, want 1", n)
	}
}

// The reply to the dequeue is lost, and the task is reaped before the dequeue is repeated.
func TestARepeatedDequeueUndoesItsCountedCrash(t *testing.T) {
	t.Parallel()
	env := setup(t)
	ctx := t.Context()
	script := redis.NewScript("local begin\n" + dequeueLua)
	// take dequeues a task and returns its id. A repeated dequeue has the same nonce.
	take := func(nonce string) string {
		t.Helper()
		keys := []string{
			pendingKey(render), pausedKey(render), activeKey(render), leaseKey(render), ringKey(render),
			runningKey(render), takenKey(render, "p"),
		}

		reply, err := script.Run(ctx, env.rdb, keys,
			time.Now().Add(leaseLength).Unix(), taskPrefix(render), waitlistPrefix(render), nonce).
			Slice()
		if err != nil {
			t.Fatal(err)
		}

		return reply[0].(string)
	}
	crashes := func(id string) string { return env.rdb.HGet(ctx, taskKey(render, id), "x_crashes").Val() }

	id := env.enqueue(t)

	first, repeated := take("one"), take("one")
	if first != id || repeated != id || env.rdb.LLen(ctx, activeKey(render)).Val() != 1 {
		t.Fatalf("got tasks %s and %s, want %s twice", first, repeated, id)
	}
	env.rdb.ZAdd(ctx, leaseKey(render), redis.Z{Score: 1, Member: id})

	if reaped, _, err := Reap(ctx, env.rdb, render, "-"); err != nil || reaped != 1 || crashes(id) != "1" {
		t.Fatalf("got %d reaped tasks and %q crashes (%v), want one of each", reaped, crashes(id), err)
	}

	if got := take("one"); got != id || crashes(id) != "0" {
		t.Errorf("took %s with %s crashes, want %s with none", got, crashes(id), id)
	}
	env.rdb.ZAdd(ctx, leaseKey(render), redis.Z{Score: 1, Member: id})

	if _, _, err := Reap(ctx, env.rdb, render, "-"); err != nil {
		t.Fatal(err)
	}

	if got := take("two"); got != id || crashes(id) != "1" {
		t.Errorf("after a reply that arrived: took %s with %s crashes, want %s with 1", got, crashes(id), id)
	}
}

func TestReconcileCorrectsWhichTasksRun(t *testing.T) {
	t.Parallel()
	env := setup(t)
	ctx := t.Context()
	env.rdb.HSet(ctx, taskKey(render, "a"), "state", "active", ownerField, "ann", "msg", "m")
	env.rdb.LPush(ctx, activeKey(render), "a")
	env.rdb.ZAdd(ctx, leaseKey(render), redis.Z{Score: float64(time.Now().Add(leaseLength).Unix()), Member: "a"})
	env.rdb.ZAdd(ctx, runningKey(render), redis.Z{Member: "bob\x00gone"})

	if _, err := Reconcile(ctx, env.rdb, render, nil); err != nil {
		t.Fatal(err)
	}

	if got := env.rdb.ZRange(ctx, runningKey(render), 0, -1).Val(); !slices.Equal(got, []string{"ann\x00a"}) {
		t.Errorf("the running tasks are %q, want a of ann", got)
	}
}
