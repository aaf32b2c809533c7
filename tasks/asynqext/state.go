package asynqext

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// Stats is the state of one queue.
type Stats struct {
	Queue Queue
	// Pending tasks wait for a worker, Active ones run, Retry ones wait for their
	// next try, Archived ones have none left.
	Pending, Active, Retry, Archived int64
	// Oldest is how long the task at the head has waited; 0 when none waits.
	Oldest time.Duration
}

// ReadStats returns how full the queues are at the time now, in two round trips.
func ReadStats(ctx context.Context, rdb redis.Cmdable, queues []Queue, now time.Time) ([]Stats, error) {
	type answers struct {
		pending, active, retry, archived *redis.IntCmd
		head                             *redis.StringCmd
		since                            *redis.StringCmd
	}
	all := make([]answers, len(queues))
	_, err := rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, q := range queues {
			all[i] = answers{
				pending: p.LLen(ctx, pendingKey(q)), active: p.LLen(ctx, activeKey(q)),
				retry: p.ZCard(ctx, keyOf(q, "retry")), archived: p.ZCard(ctx, keyOf(q, "archived")),
				head: p.LIndex(ctx, pendingKey(q), -1),
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
	for i, a := range all {
		out[i] = Stats{
			Queue: queues[i], Pending: a.pending.Val(), Active: a.active.Val(), Retry: a.retry.Val(), Archived: a.archived.Val(),
		}
		if ns, err := strconv.ParseInt(a.since.Val(), 10, 64); err == nil {
			out[i].Oldest = max(0, now.Sub(time.Unix(0, ns)))
		}
	}
	return out, nil
}

// Pending returns how many tasks wait in a queue.
func Pending(ctx context.Context, rdb redis.Cmdable, q Queue) (int64, error) {
	return rdb.LLen(ctx, pendingKey(q)).Result()
}

// TaskState returns the command that reads the state of a task: "pending",
// "active", "scheduled", "retry", "archived" or "completed"; redis.Nil when there
// is no such task. It may be part of a pipeline.
func TaskState(ctx context.Context, rdb redis.Cmdable, q Queue, id string) *redis.StringCmd {
	return rdb.HGet(ctx, taskKey(q, id), "state")
}

// livingScript answers the members that have not ended. KEYS: a sorted set by
// when each ends.
var livingScript = redis.NewScript(`return redis.call('ZRANGEBYSCORE', KEYS[1], redis.call('TIME')[1], '+inf')`)

// Processes counts the processes with a server that lives: those with a heartbeat
// in the last ten seconds.
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
