package tasks_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"presswork/internal/test/wait"
	"presswork/tasks"
	"presswork/tasks/stream"
)

// order serves calls one after the other and returns the bodies in that order.
func order(t *testing.T, b *bundle, n int) []string {
	t.Helper()
	served := make(chan string, n)
	b.serveCalls(t, tasks.Options{InferConcurrency: 1}, func(ctx context.Context, run *stream.Run) error {
		served <- string(run.Call.Body)
		return echo(ctx, run)
	})

	var got []string
	for range n {
		got = append(got, wait.Receive(t, "a call is served", served))
	}

	return got
}

func TestAFloodOfOneOwnerDelaysAnotherByOneCall(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})

	const flood = 200
	for range flood {
		b.call(t, stream.Call{Owner: "heavy", Body: []byte(`"heavy"`)})
	}

	for range 2 {
		b.call(t, stream.Call{Owner: "light", Body: []byte(`"light"`)})
	}

	got := order(t, b, flood+2)
	if at := slices.Index(got, `"light"`); at > 1 {
		t.Errorf("the light owner's first call is number %d", at+1)
	}

	if at := slices.Index(got[2:], `"light"`); at > 1 {
		t.Errorf("the light owner's second call is number %d", at+3)
	}
}

func TestUrgentTiersGoFirst(t *testing.T) {
	t.Parallel()

	b := setup(t, tasks.Options{})
	for _, tier := range []stream.Tier{stream.Flex, stream.OnDemand, stream.Flex, stream.Performance} {
		b.call(t, stream.Call{Tier: tier, Body: []byte(`"` + string(tier) + `"`)})
	}

	if got, want := order(
		t,
		b,
		4,
	), []string{
		`"performance"`,
		`"on_demand"`,
		`"flex"`,
		`"flex"`,
	}; !slices.Equal(
		got,
		want,
	) {
		t.Errorf("got %v", got)
	}
}

// TestACallThatIsLeftLeavesTheQueue has callers leave before a worker begins their calls.
func TestACallThatIsLeftLeavesTheQueue(t *testing.T) {
	t.Parallel()

	b := setup(t, tasks.Options{})
	for _, tier := range []stream.Tier{stream.Performance, stream.OnDemand, stream.Flex} {
		b.call(t, stream.Call{Owner: "ann", Tier: tier, Body: []byte("1")}).Close()
	}

	for _, key := range b.rdb.Keys(t.Context(), "*").Val() {
		if key != "asynq:queues" && !strings.Contains(key, ":ring") {
			t.Errorf("%s is left", key)
		}
	}

	stays := b.call(t, stream.Call{Owner: "ann", Body: []byte("2")})
	b.serveCalls(t, tasks.Options{}, echo)

	if got := whole(t, stays); got != "2" {
		t.Errorf("got %q", got)
	}
}

// TestALostTaskOfACallIsEnqueuedAgain deletes the task of a call that waits, as a failover
// may: what calls write does not reach a replica.
func TestALostTaskOfACallIsEnqueuedAgain(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	a := b.call(t, stream.Call{Owner: "ann", Body: []byte("1")})

	tasksOfCalls := b.rdb.Keys(t.Context(), tasks.AsynqTask(tasks.Infer, "*")).Val()
	if len(tasksOfCalls) != 1 || !strings.Contains(tasksOfCalls[0], a.ID) {
		t.Fatalf("the call has the tasks %q", tasksOfCalls)
	}
	b.rdb.Del(t.Context(), append(tasksOfCalls, tasks.AsynqPending(tasks.Infer))...)
	b.serveCalls(t, tasks.Options{}, echo)

	if got := whole(t, a); got != "1" {
		t.Errorf("got %q", got)
	}
}
