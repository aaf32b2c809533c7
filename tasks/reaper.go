package tasks

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/tasks/asynqext"
)

// reapEvery is how often leases are looked at.
const reapEvery = time.Second

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
	held := map[Queue][]string{}
	for _, r := range s.active.all() {
		if r.ctx.Err() == nil {
			held[r.queue] = append(held[r.queue], r.task)
		}
	}
	if len(held) == 0 {
		return nil
	}
	_, err := s.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for q, ids := range held {
			asynqext.Renew(ctx, p, q, ids)
		}
		return nil
	})
	return err
}

func (s *Server) reapQueue(ctx context.Context, q Queue) error {
	// A webhook sends what is in Redis already: whatever its workers died of, it was
	// not that, and its receiver is to hear of the job.
	back, doomed, err := asynqext.Reap(ctx, s.rdb, q, webhookTask(""))
	if err != nil {
		return err
	}
	s.metrics.broken.WithLabelValues(reaped).Add(float64(back))
	s.metrics.broken.WithLabelValues(condemned).Add(float64(len(doomed)))
	for _, id := range doomed {
		s.log.Error("a task killed its worker too often", "task_id", id, "queue", q, "crashes", asynqext.CrashCap)
		_, err := s.outbox.end(ctx, s.records, id, failed("", "", presswork.Errorf(presswork.RenderFailed,
			"the worker died %d times on this document", asynqext.CrashCap)))
		if err != nil && loss(err) == nil {
			return fmt.Errorf("failing job %s: %w", id, err)
		}
		if err := asynqext.Remove(ctx, s.rdb, q, id); err != nil {
			return err
		}
	}
	return nil
}
