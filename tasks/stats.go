package tasks

import (
	"context"
	"crypto/rand"
	"fmt"

	"github.com/redis/go-redis/v9"

	"presswork/tasks/asynqext"
	"presswork/tasks/stream"
)

// QueueStats is the state of one queue.
type QueueStats = asynqext.Stats

// Stats returns how full the queues are, in two round trips.
func (c *Client) Stats(ctx context.Context) ([]QueueStats, error) {
	stats, err := asynqext.ReadStats(ctx, c.rdb, Queues(), c.clock.Exact())
	if err != nil {
		return nil, unavailable(err)
	}

	return stats, nil
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

// Workers counts the worker processes that are alive: those with a heartbeat in
// the last ten seconds.
func (c *Client) Workers(ctx context.Context) (int, error) {
	n, err := asynqext.Processes(ctx, c.rdb)
	if err != nil {
		return 0, unavailable(err)
	}

	return n, nil
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
