package asynqext

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/redis/go-redis/v9"
)

// Stats is the state of one queue.
type Stats struct {
	Queue Queue
	// Pending counts the tasks that wait for a worker, and Active the running ones. Retry counts those that wait
	// for their next try, and Archived those that are not retried any more.
	Pending, Active, Retry, Archived int64
	// Oldest is how long the task at the head has waited; 0 when none waits.
	Oldest time.Duration
	// OldestOpen is the age of the oldest task that waits, runs or waits for a retry. The age is that of its id,
	// which begins with a time. Only the first thousand tasks of each kind are read.
	OldestOpen time.Duration
	// Paused is set when no worker takes tasks from the queue.
	Paused bool
	// Processed counts the runs that ended today (UTC, by the clock of Redis), Failed those of them that failed.
	Processed, Failed int64
}

// oldestScript answers the smallest ULID with which an id begins. In the ids of calls, a dot and more follow the ULID.
// KEYS: pending, active, retry.
var oldestScript = redis.NewScript(`
local least
local function compare(ids)
  for _, id in ipairs(ids) do
    if string.sub(id, 27, 27) == '.' then id = string.sub(id, 1, 26) end
    if #id == 26 and (not least or id < least) then least = id end
  end
end
compare(redis.call('LRANGE', KEYS[1], -100, -1))
compare(redis.call('LRANGE', KEYS[2], -1000, -1))
compare(redis.call('ZRANGE', KEYS[3], 0, 999))
return least or ''
`)

// statsReplies are the replies of Redis about one queue.
type statsReplies struct {
	pending, active, retry, archived *redis.IntCmd
	head                             *redis.StringCmd // the id of the task at the head of the queue
	since                            *redis.StringCmd // when that task was queued, in ns
	paused                           *redis.IntCmd
	processed, failed                *redis.StringCmd
	oldest                           *redis.Cmd // the reply of oldestScript
}

// stats decodes the replies. Counters and times that are absent are 0.
func (r statsReplies) stats(q Queue, now time.Time) Stats {
	s := Stats{
		Queue: q, Pending: r.pending.Val(), Active: r.active.Val(), Retry: r.retry.Val(), Archived: r.archived.Val(),
		Paused: r.paused.Val() > 0,
	}
	s.Processed, _ = r.processed.Int64()
	s.Failed, _ = r.failed.Int64()

	if text, _ := r.oldest.Text(); text != "" {
		if id, err := ulid.ParseStrict(text); err == nil {
			s.OldestOpen = max(0, now.Sub(ulid.Time(id.Time())))
		}
	}

	if ns, err := strconv.ParseInt(r.since.Val(), 10, 64); err == nil {
		s.Oldest = max(0, now.Sub(time.Unix(0, ns)))
	}

	return s
}

// ReadStats returns how full the queues are at the time now, in two round trips.
func ReadStats(ctx context.Context, rdb redis.Cmdable, queues []Queue, now time.Time) ([]Stats, error) {
	all := make([]statsReplies, len(queues))

	_, err := rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, q := range queues {
			all[i] = statsReplies{
				pending: p.LLen(ctx, pendingKey(q)), active: p.LLen(ctx, activeKey(q)),
				retry: p.ZCard(ctx, keyOf(q, "retry")), archived: p.ZCard(ctx, keyOf(q, "archived")),
				head: p.LIndex(ctx, pendingKey(q), -1), paused: p.Exists(ctx, pausedKey(q)),
				processed: p.Get(ctx, countKey(q, "processed", now)), failed: p.Get(ctx, countKey(q, "failed", now)),
				// Send the whole script: it is short, and the server may not know its digest.
				oldest: oldestScript.Eval(ctx, p, []string{pendingKey(q), activeKey(q), keyOf(q, "retry")}),
			}
		}

		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, err
	}

	_, err = rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, q := range queues {
			all[i].since = p.HGet(ctx, taskKey(q, all[i].head.Val()), "pending_since")
		}

		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, err
	}

	out := make([]Stats, len(all))
	for i, replies := range all {
		out[i] = replies.stats(queues[i], now)
	}

	return out, nil
}

// countKey returns the key of one of Asynq's daily counters.
func countKey(q Queue, what string, day time.Time) string {
	return keyOf(q, what+":"+day.UTC().Format(time.DateOnly))
}

// countScript increments a counter. KEYS: the counter of the day, the counter of all time. ARGV: how long the
// counter of the day is kept, in s.
var countScript = redis.NewScript(`
if redis.call('INCR', KEYS[1]) == 1 then redis.call('EXPIRE', KEYS[1], ARGV[1]) end
redis.call('INCR', KEYS[2])
return 1
`)

// countsTTL is how long Asynq keeps the counters of a day.
const countsTTL = 90 * 24 * time.Hour

// CountFailed counts a failed run whose task is done. Asynq itself counts only failures that it retries.
func CountFailed(ctx context.Context, rdb redis.Scripter, q Queue, now time.Time) error {
	return countScript.Run(ctx, rdb, []string{countKey(q, "failed", now), keyOf(q, "failed")}, int(countsTTL.Seconds())).
		Err()
}

// Backlog holds the length of a queue and its progress.
type Backlog struct {
	// Waiting is the number of waiting tasks. Done is the number of tries that have ended since the queue was
	// created.
	Waiting, Done int64
	// Oldest is how long the task at the head has waited; 0 when none waits.
	Oldest time.Duration
}

// ReadBacklog returns the backlog of a queue at the time now.
func ReadBacklog(ctx context.Context, rdb redis.Cmdable, q Queue, now time.Time) (Backlog, error) {
	var waiting *redis.IntCmd
	var done, head *redis.StringCmd

	_, err := rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		waiting = p.LLen(ctx, pendingKey(q))
		done = p.Get(ctx, keyOf(q, "processed"))
		head = p.LIndex(ctx, pendingKey(q), -1)

		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return Backlog{}, err
	}
	b := Backlog{Waiting: waiting.Val()}
	b.Done, _ = done.Int64() // absent before the first try: 0
	b.Oldest, err = waitTime(ctx, rdb, q, head.Val(), now)

	return b, err
}

// ReadOwnerBacklog returns how many tasks of an owner wait in a queue, and how long the owner's next task has waited.
func ReadOwnerBacklog(
	ctx context.Context, rdb redis.Cmdable, q Queue, owner string, now time.Time,
) (waiting int64, oldest time.Duration, err error) {
	var count *redis.IntCmd
	var head *redis.StringSliceCmd

	_, err = rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		count, head = p.ZCard(ctx, waitlistPrefix(q)+owner), p.ZRange(ctx, waitlistPrefix(q)+owner, 0, 0)
		return nil
	})
	if err != nil || len(head.Val()) == 0 {
		return 0, 0, err
	}
	oldest, err = waitTime(ctx, rdb, q, head.Val()[0], now)

	return count.Val(), oldest, err
}

// waitTime returns how long a task has waited; 0 when it does not wait.
func waitTime(ctx context.Context, rdb redis.Cmdable, q Queue, id string, now time.Time) (time.Duration, error) {
	if id == "" {
		return 0, nil
	}

	ns, err := rdb.HGet(ctx, taskKey(q, id), "pending_since").Int64()
	if errors.Is(err, redis.Nil) {
		return 0, nil
	}

	return max(0, now.Sub(time.Unix(0, ns))), err
}

// TaskState returns the command that reads the state of a task: "pending", "active", "scheduled", "retry",
// "archived" or "completed"; redis.Nil when there is no such task. It may be part of a pipeline.
func TaskState(ctx context.Context, rdb redis.Cmdable, q Queue, id string) *redis.StringCmd {
	return rdb.HGet(ctx, taskKey(q, id), "state")
}

// livingScript answers the members that have not expired. KEYS: a sorted set by expiry, in s.
var livingScript = redis.NewScript(`return redis.call('ZRANGEBYSCORE', KEYS[1], redis.call('TIME')[1], '+inf')`)

// Processes returns the number of processes with a heartbeat in the last ten seconds.
func Processes(ctx context.Context, rdb redis.Scripter) (int, error) {
	members, err := livingScript.Run(ctx, rdb, []string{serversKey}).StringSlice()
	if err != nil {
		return 0, err
	}
	// A process has one member per queue: asynq:servers:{host:pid:server id}.
	processes := map[string]struct{}{}
	for _, m := range members {
		processes[m[:max(0, strings.LastIndexByte(m, ':'))]] = struct{}{}
	}

	return len(processes), nil
}
