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

// The test fails after an upgrade of Asynq: compare the list in doc.go with the new release first. It also checks that
// the tests in the list exist.
func TestDocDescribesThePinnedAsynq(t *testing.T) {
	t.Parallel()
	// read returns the text of all matching files.
	read := func(pattern string) string {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("listing %s: got %d files, error %v; want at least one file", pattern, len(names), err)
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
		t.Errorf("doc.go does not name the pinned version of Asynq, %q", version)
	}

	named := regexp.MustCompile(`\bTest\w+`).FindAllString(page, -1)
	if len(named) < 10 {
		t.Errorf("doc.go names %d tests, want at least 10", len(named))
	}

	for _, name := range named {
		if !strings.Contains(tests, "func "+name+"(") {
			t.Errorf("doc.go names %s, which does not exist", name)
		}
	}
}

// commandRecorder is a hook that records the commands of Asynq, one line for each form of a command.
type commandRecorder struct {
	amend *amender
	mu    sync.Mutex
	lines map[string]bool
}

// varying matches the parts of keys and members that differ from run to run.
var varying = regexp.MustCompile(`(:t:)[\w-]+|(processed:|failed:)[\d-]+|\{[^{}]+:\d+:[0-9a-f-]+\}`)

// record notes each command with its script, so that a change of Asynq's scripts is seen.
func (s *commandRecorder) record(ctx context.Context, cmd redis.Cmder, next redis.ProcessHook) error {
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
		if !strings.HasPrefix(keys[0], serversKey) { // that script has one argument per running task
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
		"dequeue":                        dequeue,
		"enqueue":                        enqueue,
		"end of a task":                  end && !deadline,
		"end of a task within its lease": end && deadline,
		"timed by Redis":                 strings.Contains(s.amend.addition(keys, argv), "'TIME'") || s.amend.extension(ctx, cmd) != nil,
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

func (s *commandRecorder) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()

	return strings.Join(slices.Sorted(maps.Keys(s.lines)), "\n") + "\n"
}

// The test uses every feature of Asynq that this project uses. It compares each form of script and heartbeat, and what
// this package recognises it as, with a golden file. A difference means that Asynq has changed something that this
// package changes, reads or replaces.
func TestCommandsOfThePinnedAsynqAreKnown(t *testing.T) {
	t.Parallel()
	env := setup(t)
	s := &commandRecorder{amend: &amender{}, lines: map[string]bool{}}
	rdb := dial(t, env.address)
	rdb.AddHook(hook(s.record))
	client := asynq.NewClientFromRedisClient(rdb)

	block := make(chan struct{})
	defer close(block)
	srv := asynq.NewServerFromRedisClient(rdb, asynq.Config{
		Queues: map[string]int{
			string(render): 1,
		},
		TaskCheckInterval:        time.Millisecond,
		Concurrency:              9,
		Logger:                   noLog{},
		DelayedTaskCheckInterval: 10 * time.Millisecond,
		JanitorInterval:          10 * time.Millisecond,
		ShutdownTimeout:          10 * time.Millisecond,
		RetryDelayFunc:           func(int, error, *asynq.Task) time.Duration { return 0 },
	})
	put := func(id string, opts ...asynq.Option) {
		_, err := client.EnqueueContext(t.Context(), asynq.NewTask(id, nil),
			append(opts, asynq.TaskID(id), asynq.Queue(string(render)))...)
		if err != nil {
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
		return env.state(t, "done")+env.state(t, "retry")+env.state(t, "later") == "" &&
			env.state(t, "archive") == "archived" &&
			env.state(t, "complete") == "completed"
	})
	// Asynq extends leases with its heartbeat, every five seconds.
	wait.Until(t, "a lease is extended",
		func() bool { return strings.Contains(s.text(), "zadd asynq:{render}:lease xx") })
	srv.Shutdown()
	golden.Check(t, "asynq.txt", []byte(s.text()))
}

// queueState returns the values of all keys of a queue as text, without times, owners and the name of the queue.
func queueState(t *testing.T, env *testEnv, q Queue) string {
	t.Helper()
	var out []string

	for _, key := range env.rdb.Keys(t.Context(), keyOf(q, "*")).Val() {
		var value any

		switch env.rdb.Type(t.Context(), key).Val() {
		case "hash":
			fields := env.rdb.HGetAll(t.Context(), key).Val()
			delete(fields, ownerField)

			if _, ok := fields["pending_since"]; ok {
				fields["pending_since"] = "a time"
			}
			value = fields
		case "list":
			value = env.rdb.LRange(t.Context(), key, 0, -1).Val()
		case "zset":
			members := env.rdb.ZRangeWithScores(t.Context(), key, 0, -1).Val()
			for i, m := range members {
				off := time.Until(time.Unix(int64(m.Score), 0)) - leaseLength
				if off < -leaseLength/2 || off > time.Second {
					t.Errorf("the lease of %v in %s differs by %s from %s", m.Member, q, off, leaseLength)
				}
				members[i].Score = 0
			}
			value = members
		default:
			continue // the counters of processed tasks
		}
		out = append(out, fmt.Sprintf("%s: %q", strings.ReplaceAll(key, string(q), "Q"), fmt.Sprint(value)))
	}
	slices.Sort(out)

	return strings.ReplaceAll(strings.Join(out, "\n"), string(q), "Q")
}

// The test enqueues and dequeues tasks with Asynq's scripts in one queue and with ours in another.
func TestOurScriptsLeaveTheSameStateAsAsynqs(t *testing.T) {
	t.Parallel()
	env := setup(t)
	const plain Queue = "plain6" // as long as "render", because messages contain the name
	ours := dial(t, env.address)
	ours.AddHook(Turns(ours))
	wantSameState := func(when string) {
		t.Helper()

		if a, b := queueState(t, env, plain), queueState(t, env, render); a != b || a == "" {
			t.Errorf("%s, the state of Asynq is\n%s\nand ours is\n%s", when, a, b)
		}
	}

	for _, id := range []string{"a", "b", "c"} {
		t.Run(id, func(t *testing.T) {
			for q, rdb := range map[Queue]redis.UniversalClient{plain: env.rdb, render: ours} {
				_, err := asynq.NewClientFromRedisClient(rdb).
					EnqueueContext(WithTurn(t.Context(), Turn{Owner: "ann"}),
						asynq.NewTask("t", nil), asynq.TaskID(id), asynq.Queue(string(q)))
				if err != nil {
					t.Fatal(err)
				}
			}
		})
	}

	if owner := env.rdb.HGet(t.Context(), taskKey(render, "a"), ownerField).Val(); owner != "ann" {
		t.Errorf("the owner of our task is %q, want ann", owner)
	}
	wantSameState("after the enqueueing")
	var running sync.WaitGroup
	running.Add(6)
	release := make(chan struct{})
	blocking := asynq.HandlerFunc(func(context.Context, *asynq.Task) error {
		running.Done()
		<-release

		return nil
	})

	srv := asynq.NewServerFromRedisClient(
		dial(t, env.address),
		asynq.Config{Queues: map[string]int{string(plain): 1}, Concurrency: 4, Logger: noLog{}},
	)
	if err := srv.Start(blocking); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Shutdown)
	env.serve(t, blocking)
	running.Wait()
	wantSameState("after the dequeue")

	for _, id := range []string{"a", "b", "c"} {
		t.Run(id, func(t *testing.T) {
			if first, second := endTask(t, ours, id), endTask(t, ours, id); !first || second {
				t.Errorf("endTask = %v, then %v; want true once", first, second)
			}
		})
	}
	close(release)

	for _, id := range []string{"a", "b", "c"} {
		env.waitUntilDone(t, id)
	}
	wait.Until(t, "Asynq's tasks have ended",
		func() bool { return env.rdb.LLen(t.Context(), activeKey(plain)).Val() == 0 })

	for _, q := range []Queue{plain, render} {
		var left []string

		for _, key := range env.rdb.Keys(t.Context(), keyOf(q, "*")).Val() {
			_, part := partOf(key)

			name, day, _ := strings.Cut(part, ":")

			kept := env.rdb.TTL(t.Context(), key).Val()
			if day != "" && (kept > countsTTL || kept < countsTTL-48*time.Hour) {
				t.Errorf("%s expires in %s, want about %s", key, kept, countsTTL)
			}
			left = append(left, name)
		}
		slices.Sort(left)

		total := env.rdb.Get(t.Context(), keyOf(q, "processed")).Val()
		if total != "3" || !slices.Equal(slices.Compact(left), []string{"processed"}) {
			t.Errorf("%s counts %s ended tasks and has the keys %v; want 3, and only counters", q, total, left)
		}
	}
}

// endTask ends a task with DoneLua. It reports whether the task existed.
func endTask(t *testing.T, rdb redis.Scripter, id string) bool {
	t.Helper()

	ended, err := redis.NewScript(DoneLua+"return done(ARGV[1], 1)").
		Run(t.Context(), rdb, DoneKeys(render, id, time.Now()), id).
		Bool()
	if err != nil {
		t.Fatal(err)
	}

	return ended
}
