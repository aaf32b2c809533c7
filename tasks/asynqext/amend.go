package asynqext

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// Amend returns a go-redis hook that changes what Asynq sends in four ways:
//   - Times that several machines compare (leases, retries, live servers) are those of
//     Redis instead of the sender, whose clock may be wrong.
//   - A script that ends a run also removes its task from the owner's running tasks.
//   - A script that moves due tasks is sent only if tasks wait for their time.
//   - The scripts on some queues begin with the given lines. These keep the writes of the
//     script out of the append-only file, where a task is useless without its call.
//
// Asynq sends the digest of a script first, and the whole script when Redis does not know it. The hook answers in
// place of Redis until it has seen the whole script, and then sends its own form.
func Amend(lines string, queues ...Queue) redis.Hook {
	return hook((&amender{queues: queues, lines: lines}).process)
}

// amender is the hook of Amend.
type amender struct {
	// queues are those whose scripts begin with lines.
	queues []Queue
	lines  string
	// ownDigests maps the added lines followed by Asynq's digest to the digest of our script.
	ownDigests sync.Map
	// delays maps a task and its retry time to the delay that Asynq computed. If Redis refuses the retry, Asynq sends
	// it again. The clock may have been changed in between.
	delays sync.Map
}

// process sends a script with the additional lines, or another command in its place. Asynq reads the reply from
// cmd, so every way out sets the value or the error of cmd.
func (a *amender) process(ctx context.Context, cmd redis.Cmder, next redis.ProcessHook) error {
	if own := a.extension(ctx, cmd); own != nil {
		err := next(ctx, own)
		cmd.SetErr(err)

		return err
	}
	keys, argv := scriptOf(cmd)
	lines := a.addition(keys, argv)

	result, ok := cmd.(*redis.Cmd)
	if lines == "" || !ok {
		return next(ctx, cmd)
	}

	if isMove(keys, argv) {
		// Asynq runs this script often, and there is rarely a task to move.
		exists := redis.NewIntCmd(ctx, "exists", keys[0])
		if err := next(ctx, exists); err != nil || exists.Val() == 0 {
			result.SetVal(int64(0))
			cmd.SetErr(err)

			return err
		}
	}
	// Do not change the command itself: it may be sent again.
	args := slices.Clone(cmd.Args())

	script, _ := args[1].(string) // the whole script for eval, its digest for evalsha
	if cmd.Name() == "eval" {
		args[1] = lines + script
		a.ownDigests.Store(lines+digest(script), digest(lines+script))
	} else if own, known := a.ownDigests.Load(lines + script); known {
		args[1] = own
	} else {
		cmd.SetErr(noScript{})
		return noScript{}
	}

	retry := [2]any{} // no key of delays
	if isRetry(keys) {
		retry = [2]any{keys[0], argv[2]}
		// Keep the first delay: a repeat has the same time but is sent later.
		delay, _ := a.delays.LoadOrStore(retry, fromNow(argv[2]))
		args = append(args, delay)
	}
	own := redis.NewCmd(ctx, args...)

	err := next(ctx, own)
	if err == nil || !IsOutage(err) {
		a.delays.Delete(retry)
	}
	result.SetVal(own.Val())
	cmd.SetErr(err)

	return err
}

// addition returns the lines to put before Asynq's script with these keys and arguments, "" for none. Scripts of
// Asynq's Inspector have the same keys but other arguments.
func (a *amender) addition(keys []string, argv []any) string {
	if len(keys) == 0 {
		return ""
	}
	q, part := partOf(keys[0])

	lines := ""
	if slices.Contains(a.queues, q) {
		lines = a.lines
	}

	second := ""
	if len(argv) > 1 {
		second, _ = argv[1].(string)
	}

	if id, ended := endedTask(keys, argv); ended && id != "" {
		lines += stopsRunning(q)
	}

	switch {
	case len(keys) >= 4 && part == "pending" && keys[3] == leaseKey(q):
		// A dequeue: the end of the lease.
		return lines + "ARGV[1] = redis.call('TIME')[1] + " + strconv.Itoa(int(leaseLength.Seconds())) + "\n"
	case len(keys) == 1 && part == "lease":
		// The search for expired leases: Asynq waits 30 s after their end.
		return lines + "ARGV[1] = redis.call('TIME')[1] - 30\n"
	case len(keys) == 1 && part == "completed" && second == taskPrefix(q):
		// The deletion of completed tasks whose retention has ended.
		return lines + "ARGV[1] = redis.call('TIME')[1]\n"
	case isMove(keys, argv):
		return lines + serverTime + "ARGV[1], ARGV[3] = clock[1], nanos()\n"
	case len(keys) == 2 && keys[1] == pendingKey(q) && keys[0] == taskKey(q, second):
		// An enqueue.
		return lines + serverTime + "ARGV[3] = nanos()\n"
	case isRetry(keys):
		return lines + "ARGV[3] = redis.call('TIME')[1] + ARGV[#ARGV]\n"
	}

	return lines
}

// stopsRunning returns lines that remove the task from its owner's running tasks. The task is the first argument
// of the script, which ends a run.
func stopsRunning(q Queue) string {
	return `
do
  local owner = redis.call('HGET', '` + taskPrefix(q) + `' .. ARGV[1], '` + ownerField + `')
  if owner then redis.call('ZREM', '` + runningKey(q) + `', owner .. '\0' .. ARGV[1]) end
end
`
}

// isMove reports whether a script with these keys and arguments moves due tasks to the pending list.
func isMove(keys []string, argv []any) bool {
	if len(keys) != 2 || len(argv) < 2 {
		return false
	}
	q, part := partOf(keys[0])

	return (part == "retry" || part == "scheduled") && keys[1] == pendingKey(q) && argv[1] == taskPrefix(q)
}

// isRetry reports whether the keys are those of the script that postpones a task. That script and the script that
// archives a task have eight keys, and the fourth one differs.
func isRetry(keys []string) bool {
	if len(keys) != 8 {
		return false
	}
	_, part := partOf(keys[3])

	return part == "retry"
}

// extendScript sets the end of leases or heartbeats relative to the time of Redis. KEYS: a sorted set. ARGV: "1"
// to add no member, then pairs of seconds and member.
const extendScript = `
local now = redis.call('TIME')[1]
for i = 2, #ARGV, 2 do
  if ARGV[1] == '1' then redis.call('ZADD', KEYS[1], 'XX', now + ARGV[i], ARGV[i + 1])
  else redis.call('ZADD', KEYS[1], now + ARGV[i], ARGV[i + 1]) end
end
return 1
`

// extension returns the command to send instead of Asynq's heartbeat, which sets the end of leases, servers and
// workers. It returns nil for any other command.
func (a *amender) extension(ctx context.Context, cmd redis.Cmder) *redis.Cmd {
	if cmd.Name() != "zadd" {
		return nil
	}
	args := cmd.Args()
	key, _ := args[1].(string)

	q, part := partOf(key)
	if part != "lease" && key != serversKey && key != workersKey {
		return nil
	}

	addNone, members := "0", args[2:]
	if members[0] == "xx" {
		addNone, members = "1", members[1:]
	}

	own := []any{"eval", extendScript, 1, key, addNone}
	if slices.Contains(a.queues, q) {
		own[1] = a.lines + extendScript
	}

	for i := 0; i+1 < len(members); i += 2 {
		own = append(own, fromNow(members[i]), members[i+1])
	}

	return redis.NewCmd(ctx, own...)
}

// fromNow returns how many seconds the Unix time at is ahead. Asynq has just computed it from this machine's clock.
func fromNow(at any) int64 {
	now := time.Now().Unix()

	switch at := at.(type) {
	case int64:
		return at - now
	case float64:
		return int64(at) - now
	}

	return 0
}
