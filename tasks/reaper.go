package tasks

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork"
)

const (
	// reapEvery is how often leases are looked at.
	reapEvery = time.Second
	// leaseLeft is what a lease has left when its worker has missed its renewals:
	// it is taken for dead 12 s after the last. Asynq itself waits 90 to 150 s.
	leaseLeft = 18 * time.Second
	// leaseLength is what Asynq gives.
	leaseLength = 30 * time.Second
	// crashCap is how many workers a task may take with it.
	crashCap = 3
)

// reapScript: KEYS active, lease, pending; ARGV how many seconds a lease may
// have left, task key prefix, crash cap. It puts the tasks of dead workers back at
// the head of the queue, drops entries whose task is gone, and answers the ids
// of tasks that have crashed too often; those it leaves in place.
var reapScript = redis.NewScript(serverTime + `
local condemned = {}
for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', clock[1] + ARGV[1], 'LIMIT', 0, 100)) do
  local task = ARGV[2] .. id
  if redis.call('EXISTS', task) == 0 then
    redis.call('LREM', KEYS[1], 0, id)
    redis.call('ZREM', KEYS[2], id)
  elseif redis.call('HINCRBY', task, 'x_crashes', 1) < tonumber(ARGV[3]) then
    redis.call('LREM', KEYS[1], 0, id)
    redis.call('ZREM', KEYS[2], id)
    redis.call('RPUSH', KEYS[3], id)
    redis.call('HSET', task, 'state', 'pending', 'pending_since', nanos())
  else
    condemned[#condemned + 1] = id
  end
end
return condemned
`)

// removeScript: KEYS active, lease, task; ARGV id.
var removeScript = redis.NewScript(`
redis.call('LREM', KEYS[1], 0, ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('DEL', KEYS[3])
return 1
`)

// reap gives the tasks of dead workers to living ones. Every worker does so;
// the script is atomic, so they need no leader. A worker that was only slow
// finds its fence taken.
func (s *Server) reap(ctx context.Context, queues []Queue) {
	tick := time.NewTicker(reapEvery)
	defer tick.Stop()
	for {
		if err := s.holdLeases(ctx); err != nil && ctx.Err() == nil {
			s.log.Warn("the leases of running tasks could not be renewed", "err", err)
		}
		for _, q := range queues {
			if err := s.reapQueue(ctx, q); err != nil && ctx.Err() == nil {
				s.log.Warn("leases could not be checked", "queue", q, "err", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// holdLeases renews the leases of what runs here. Asynq's heartbeat does so too,
// but late after the machine slept, and no more for a task of which two runs
// were here: it would be reaped under a run that lives.
func (s *Server) holdLeases(ctx context.Context) error {
	held := map[Queue][]any{}
	for _, r := range s.active.all() {
		if r.ctx.Err() == nil {
			held[r.queue] = append(held[r.queue], leaseLength.Seconds(), r.task)
		}
	}
	if len(held) == 0 {
		return nil
	}
	_, err := s.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for q, leases := range held {
			p.Eval(ctx, extendScript, []string{asynqLease(q)}, append([]any{"1"}, leases...)...)
		}
		return nil
	})
	return err
}

func (s *Server) reapQueue(ctx context.Context, q Queue) error {
	condemned, err := reapScript.Run(ctx, s.rdb, []string{asynqActive(q), asynqLease(q), asynqPending(q)},
		leaseLeft.Seconds(), asynqTaskPrefix(q), crashCap).StringSlice()
	if err != nil {
		return err
	}
	for _, id := range condemned {
		s.log.Error("a task killed its worker too often", "task_id", id, "queue", q, "crashes", crashCap)
		_, err := s.outbox.end(ctx, s.records, id, failed("", "", presswork.Errorf(presswork.RenderFailed,
			"the worker died %d times on this document", crashCap)))
		if err != nil && loss(err) == nil {
			return fmt.Errorf("failing job %s: %w", id, err)
		}
		if err := removeScript.Run(ctx, s.rdb, []string{asynqActive(q), asynqLease(q), asynqTask(q, id)}, id).Err(); err != nil {
			return err
		}
	}
	return nil
}
