package asynqext

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"presswork/internal/test/golden"
	"presswork/internal/test/wait"
)

// TestThePageIsAboutThePinnedAsynq fails when Asynq is upgraded: read the list in
// doc.go against the new release first. It also holds that the tests exist which
// the list names.
func TestThePageIsAboutThePinnedAsynq(t *testing.T) {
	t.Parallel()
	read := func(pattern string) string {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		var all strings.Builder

		for _, name := range names {
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(b)
		}

		return all.String()
	}
	page, tests := read("doc.go"), read("*_test.go")+read("../*_test.go")

	version := regexp.MustCompile(`(?m)^\s*github\.com/hibiken/asynq (v\S+)`).FindStringSubmatch(read("../../go.mod"))
	if version == nil || !strings.Contains(page, "Asynq "+version[1]+".") {
		t.Errorf("doc.go is not about the pinned version of Asynq, %q", version)
	}

	named := regexp.MustCompile(`\bTest\w+`).FindAllString(page, -1)
	if len(named) < 10 {
		t.Errorf("doc.go names %d tests only", len(named))
	}

	for _, name := range named {
		if !strings.Contains(tests, "func "+name+"(") {
			t.Errorf("doc.go names %s, which does not exist", name)
		}
	}
}

// sent is what Asynq has sent to Redis, one line for each form of a command.
type sent struct {
	amend *amended
	mu    sync.Mutex
	lines map[string]bool
}

// varying are the parts of keys and members that differ from run to run.
var varying = regexp.MustCompile(`(:t:)[\w-]+|(processed:|failed:)[\d-]+|\{[^{}]+:\d+:[0-9a-f-]+\}`)

func (s *sent) note(ctx context.Context, cmd redis.Cmder, next redis.ProcessHook) error {
	keys, argv := scriptOf(cmd)
	var words []string

	switch {
	case keys != nil:
		script, _ := cmd.Args()[1].(string)
		if cmd.Name() == "eval" {
			script = digest(script)
		}
		words = append(words, script)

		words = append(words, keys...)
		if !strings.HasPrefix(keys[0], serversKey) { // whose arguments are the running tasks
			words = append(words, fmt.Sprintf("and %d arguments", len(argv)))
		}
	case slices.Contains([]string{"zadd", "sadd"}, cmd.Name()):
		words = append(words, cmd.Name(), fmt.Sprint(cmd.Args()[1]))
		if cmd.Args()[2] == "xx" {
			words = append(words, "xx")
		}
	default:
		return next(ctx, cmd)
	}
	_, dequeue := dequeueOf(cmd)
	_, enqueue := enqueueOf(cmd)
	_, end := completedTask(cmd)

	_, deadline := ctx.Deadline()
	for name, is := range map[string]bool{
		"dequeue": dequeue, "enqueue": enqueue,
		"end of a task": end && !deadline, "end of a task within its lease": end && deadline,
		"timed by Redis": strings.Contains(s.amend.addition(keys, argv), "'TIME'") || s.amend.extension(ctx, cmd) != nil,
	} {
		if is {
			words = append(words, "= "+name)
		}
	}

	i := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "= ") })
	if i >= 0 {
		slices.Sort(words[i:])
	}
	s.mu.Lock()
	s.lines[varying.ReplaceAllString(strings.Join(words, " "), "$1$2…")] = true
	s.mu.Unlock()

	return next(ctx, cmd)
}

func (s *sent) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()

	return strings.Join(slices.Sorted(maps.Keys(s.lines)), "\n") + "\n"
}

// TestCommandsOfThePinnedAsynqAreKnown makes Asynq do everything that this project uses. It compares each form of
// script and heartbeat with those that doc.go describes and with what this package takes it for. When it fails,
// Asynq has changed something that this package changes, reads or replaces.
func TestCommandsOfThePinnedAsynqAreKnown(t *testing.T) {
	t.Parallel()
	w := setup(t)
	s := &sent{amend: &amended{}, lines: map[string]bool{}}
	rdb := dial(t, w.address)
	rdb.AddHook(hook(s.note))
	client := asynq.NewClientFromRedisClient(rdb)

	block := make(chan struct{})
	defer close(block)
	srv := asynq.NewServerFromRedisClient(rdb, asynq.Config{
		Queues: map[string]int{
			string(render): 1,
		},
		TaskCheckInterval:        time.Millisecond,
		Concurrency:              9,
		Logger:                   silent{},
		DelayedTaskCheckInterval: 10 * time.Millisecond,
		JanitorInterval:          10 * time.Millisecond,
		ShutdownTimeout:          10 * time.Millisecond,
		RetryDelayFunc:           func(int, error, *asynq.Task) time.Duration { return 0 },
	})
	put := func(id string, opts ...asynq.Option) {
		if _, err := client.EnqueueContext(
			t.Context(),
			asynq.NewTask(id, nil),
			append(opts, asynq.TaskID(id), asynq.Queue(string(render)))...); err != nil {
			t.Fatal(err)
		}
	}
	put("done")
	put("complete", asynq.Retention(time.Hour))
	put("retry")
	put("archive")
	put("requeue")
	put("later", asynq.ProcessIn(time.Millisecond))
	blocked := make(chan struct{})

	err := srv.Start(asynq.HandlerFunc(func(ctx context.Context, task *asynq.Task) error {
		switch tried, _ := asynq.GetRetryCount(ctx); {
		case task.Type() == "retry" && tried == 0:
			return errors.New("again")
		case task.Type() == "archive":
			return asynq.SkipRetry
		case task.Type() == "requeue":
			close(blocked)
			<-block
		}

		return nil
	}))
	if err != nil {
		t.Fatal(err)
	}
	<-blocked
	wait.Until(t, "all others have ended", func() bool {
		return w.state(t, "done")+w.state(t, "retry")+w.state(t, "later") == "" &&
			w.state(t, "archive") == "archived" &&
			w.state(t, "complete") == "completed"
	})
	// Asynq extends leases with its heartbeat, every five seconds.
	wait.Until(
		t,
		"a lease is extended",
		func() bool { return strings.Contains(s.text(), "zadd asynq:{render}:lease xx") },
	)
	srv.Shutdown()
	golden.Check(t, "asynq.txt", []byte(s.text()))
}

// dump returns all that Redis holds of a queue, without its name and with times
// and owners left out.
func dump(t *testing.T, w *world, q Queue) string {
	t.Helper()
	var out []string

	for _, key := range w.rdb.Keys(t.Context(), keyOf(q, "*")).Val() {
		var value any

		switch w.rdb.Type(t.Context(), key).Val() {
		case "hash":
			fields := w.rdb.HGetAll(t.Context(), key).Val()
			delete(fields, ownerField)

			if _, ok := fields["pending_since"]; ok {
				fields["pending_since"] = "a time"
			}
			value = fields
		case "list":
			value = w.rdb.LRange(t.Context(), key, 0, -1).Val()
		case "zset":
			members := w.rdb.ZRangeWithScores(t.Context(), key, 0, -1).Val()
			for i, m := range members {
				if off := time.Until(
					time.Unix(int64(m.Score), 0),
				) - leaseLength; off < -leaseLength/2 ||
					off > time.Second {
					t.Errorf("the lease of %v in %s differs by %s from %s", m.Member, q, off, leaseLength)
				}
				members[i].Score = 0
			}
			value = members
		default:
			continue // the counters of what was processed
		}
		out = append(out, fmt.Sprintf("%s: %q", strings.ReplaceAll(key, string(q), "Q"), fmt.Sprint(value)))
	}
	slices.Sort(out)

	return strings.ReplaceAll(strings.Join(out, "\n"), string(q), "Q")
}

// TestScriptsLeaveTheStateOfAsynqs enqueues and dequeues tasks by Asynq's scripts in
// one queue and by ours in another: Redis must hold the same of both.
func TestScriptsLeaveTheStateOfAsynqs(t *testing.T) {
	t.Parallel()
	w := setup(t)
	const plain Queue = "plain6" // as long as the other, for messages hold their queue's name
	ours := dial(t, w.address)
	ours.AddHook(Turns(ours))
	same := func(when string) {
		t.Helper()

		if a, b := dump(t, w, plain), dump(t, w, render); a != b || a == "" {
			t.Errorf("%s, Asynq left:\n%s\nand we left:\n%s", when, a, b)
		}
	}

	for _, id := range []string{"a", "b", "c"} {
		t.Run(id, func(t *testing.T) {
			for q, rdb := range map[Queue]redis.UniversalClient{plain: w.rdb, render: ours} {
				_, err := asynq.NewClientFromRedisClient(rdb).
					EnqueueContext(WithTurn(t.Context(), Turn{Owner: "ann"}),
						asynq.NewTask("t", nil), asynq.TaskID(id), asynq.Queue(string(q)))
				if err != nil {
					t.Fatal(err)
				}
			}
		})
	}

	if owner := w.rdb.HGet(t.Context(), taskKey(render, "a"), ownerField).Val(); owner != "ann" {
		t.Errorf("the owner of our task is %q", owner)
	}
	same("after the enqueueing")
	var running sync.WaitGroup
	running.Add(6)
	release := make(chan struct{})
	held := asynq.HandlerFunc(func(context.Context, *asynq.Task) error {
		running.Done()
		<-release

		return nil
	})

	srv := asynq.NewServerFromRedisClient(
		dial(t, w.address),
		asynq.Config{Queues: map[string]int{string(plain): 1}, Concurrency: 4, Logger: silent{}},
	)
	if err := srv.Start(held); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Shutdown)
	w.serve(t, held)
	running.Wait()
	same("after the dequeue")

	for _, id := range []string{"a", "b", "c"} {
		t.Run(id, func(t *testing.T) {
			if !done(t, ours, id) || done(t, ours, id) {
				t.Errorf("task %s is not taken from its queue, or twice", id)
			}
		})
	}
	close(release)

	for _, id := range []string{"a", "b", "c"} {
		w.handled(t, id)
	}
	wait.Until(
		t,
		"Asynq's tasks have ended",
		func() bool { return w.rdb.LLen(t.Context(), activeKey(plain)).Val() == 0 },
	)

	for _, q := range []Queue{plain, render} {
		var left []string

		for _, key := range w.rdb.Keys(t.Context(), keyOf(q, "*")).Val() {
			_, part := partOf(key)

			name, day, _ := strings.Cut(part, ":")
			if kept := w.rdb.TTL(t.Context(), key).
				Val(); day != "" &&
				(kept > countsKept || kept < countsKept-48*time.Hour) {
				t.Errorf("%s is kept for %s", key, kept)
			}
			left = append(left, name)
		}
		slices.Sort(left)

		if total := w.rdb.Get(t.Context(), keyOf(q, "processed")).
			Val(); total != "3" ||
			!slices.Equal(slices.Compact(left), []string{"processed"}) {
			t.Errorf("after the end of three tasks %s has counted %s and has %v", q, total, left)
		}
	}
}

// done ends a task by DoneLua.
func done(t *testing.T, rdb redis.Scripter, id string) bool {
	t.Helper()

	ended, err := redis.NewScript(DoneLua+"return done(ARGV[1], 1)").
		Run(t.Context(), rdb, DoneKeys(render, id, time.Now()), id).
		Bool()
	if err != nil {
		t.Fatal(err)
	}

	return ended
}
