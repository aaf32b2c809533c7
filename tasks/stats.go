package tasks

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork/tasks/stream"
)

// QueueStats is the state of one queue.
type QueueStats struct {
	Queue                            Queue
	Pending, Active, Retry, Archived int64
	// Oldest is how long the task at the head has waited; 0 when none waits.
	Oldest time.Duration
}

// Stats tells how full the queues are, in two round trips.
func (c *Client) Stats(ctx context.Context) ([]QueueStats, error) {
	type answers struct {
		pending, active, retry, archived *redis.IntCmd
		head                             *redis.StringCmd
		since                            *redis.StringCmd
	}
	all := make([]answers, len(Queues()))
	_, err := c.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, q := range Queues() {
			all[i] = answers{
				pending: p.LLen(ctx, asynqPending(q)), active: p.LLen(ctx, asynqActive(q)),
				retry: p.ZCard(ctx, asynqKey(q, "retry")), archived: p.ZCard(ctx, asynqKey(q, "archived")),
				head: p.LIndex(ctx, asynqPending(q), -1),
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, unavailable(err)
	}
	_, err = c.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, q := range Queues() {
			all[i].since = p.HGet(ctx, asynqTask(q, all[i].head.Val()), "pending_since")
		}
		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, unavailable(err)
	}
	out := make([]QueueStats, len(all))
	for i, a := range all {
		out[i] = QueueStats{
			Queue: Queues()[i], Pending: a.pending.Val(), Active: a.active.Val(), Retry: a.retry.Val(), Archived: a.archived.Val(),
		}
		if ns, err := strconv.ParseInt(a.since.Val(), 10, 64); err == nil {
			out[i].Oldest = max(0, c.clock.exact().Sub(time.Unix(0, ns)))
		}
	}
	return out, nil
}

// healthScript writes, so that a Redis that is full, read-only or cannot write
// its file shows; what it writes need not last.
var healthScript = redis.NewScript(stream.Volatile + `return redis.call('SET', KEYS[1], '1', 'PX', 10000)`)

// Health returns nil when the queue takes writes.
func (c *Client) Health(ctx context.Context) error {
	if err := healthScript.Run(ctx, c.rdb, []string{healthKey}).Err(); err != nil {
		return unavailable(err)
	}
	return nil
}

// livingScript answers the members that have not ended. KEYS: a sorted set by
// when each ends.
var livingScript = redis.NewScript(`return redis.call('ZRANGEBYSCORE', KEYS[1], redis.call('TIME')[1], '+inf')`)

// Workers counts the worker processes that are alive: those with a heartbeat in
// the last ten seconds.
func (c *Client) Workers(ctx context.Context) (int, error) {
	members, err := livingScript.Run(ctx, c.rdb, []string{asynqServers}).StringSlice()
	if err != nil {
		return 0, unavailable(err)
	}
	// A process has one member per queue: asynq:servers:{host:pid:server id}.
	processes := map[string]struct{}{}
	for _, m := range members {
		processes[m[:max(0, strings.LastIndexByte(m, ':'))]] = struct{}{}
	}
	return len(processes), nil
}

// Secret returns 32 random bytes, made at the first use of the name and the
// same on every node from then on.
func (c *Client) Secret(ctx context.Context, name string) ([]byte, error) {
	fresh := make([]byte, 32)
	rand.Read(fresh)
	var agreed *redis.StringCmd
	_, err := c.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.SetNX(ctx, secretKey(name), fresh, 0)
		agreed = p.Get(ctx, secretKey(name))
		return nil
	})
	if err != nil {
		return nil, unavailable(err)
	}
	secret, err := agreed.Bytes()
	if err == nil && len(secret) != len(fresh) {
		err = fmt.Errorf("secret %q in Redis has %d bytes instead of %d", name, len(secret), len(fresh))
	}
	return secret, err
}
