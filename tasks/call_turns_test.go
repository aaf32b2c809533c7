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

// servedBodies serves n calls one after the other and returns their bodies in the order of service.
func servedBodies(t *testing.T, b *bundle, n int) []string {
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

	got := servedBodies(t, b, flood+2)
	if at := slices.Index(got, `"light"`); at > 1 {
		t.Errorf("the light owner's first call is number %d, want 1 or 2", at+1)
	}

	if at := slices.Index(got[2:], `"light"`); at > 1 {
		t.Errorf("the light owner's second call is number %d, want at most 4", at+3)
	}
}

func TestUrgentTiersGoFirst(t *testing.T) {
	t.Parallel()

	b := setup(t, tasks.Options{})
	for _, tier := range []stream.Tier{stream.Flex, stream.OnDemand, stream.Flex, stream.Performance} {
		b.call(t, stream.Call{Tier: tier, Body: []byte(`"` + string(tier) + `"`)})
	}

	got, want := servedBodies(t, b, 4), []string{
		`"performance"`,
		`"on_demand"`,
		`"flex"`,
		`"flex"`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The callers leave before a worker begins their calls.
func TestACallWhoseCallerLeavesIsRemovedFromTheQueue(t *testing.T) {
	t.Parallel()

	b := setup(t, tasks.Options{})
	for _, tier := range []stream.Tier{stream.Performance, stream.OnDemand, stream.Flex} {
		b.call(t, stream.Call{Owner: "ann", Tier: tier, Body: []byte("1")}).Close()
	}

	for _, key := range b.rdb.Keys(t.Context(), "*").Val() {
		if key != "asynq:queues" && !strings.Contains(key, ":ring") {
			t.Errorf("the key %s remains", key)
		}
	}

	kept := b.call(t, stream.Call{Owner: "ann", Body: []byte("2")})
	b.serveCalls(t, tasks.Options{}, echo)

	wantAnswer(t, kept, "2")
}

// Calls are not replicated, so a failover may lose the task of a waiting call.
func TestALostTaskOfACallIsEnqueuedAgain(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	a := b.call(t, stream.Call{Owner: "ann", Body: []byte("1")})

	taskKeys := b.rdb.Keys(t.Context(), tasks.AsynqTask(tasks.Infer, "*")).Val()
	if len(taskKeys) != 1 || !strings.Contains(taskKeys[0], a.ID) {
		t.Fatalf("got the tasks %q, want one of call %s", taskKeys, a.ID)
	}
	b.rdb.Del(t.Context(), append(taskKeys, tasks.AsynqPending(tasks.Infer))...)
	b.serveCalls(t, tasks.Options{}, echo)

	wantAnswer(t, a, "1")
}
