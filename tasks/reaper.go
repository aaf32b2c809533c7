package tasks

import (
	"context"
	"fmt"
	"time"

	"presswork/internal/fault"
	"presswork/tasks/asynqext"
	"presswork/tasks/record"
)

const (
	// reapEvery is the time between two checks of the leases.
	reapEvery = time.Second
	// renewTime is how long workers may take to renew their leases after Redis responds again. A worker needs one
	// check of its leases, and time-outs and retries if its connection broke in the outage.
	renewTime = 6 * time.Second
)

// reap puts the tasks of dead workers back on their queues. Every worker does so; the script is atomic, so they
// need no leader. If the worker was only slow, the record refuses its fence once another run has begun.
func (s *Server) reap(ctx context.Context, queues []Queue) {
	tick := time.NewTicker(reapEvery)
	defer tick.Stop()
	// doubtfulUntil holds a time for each queue. Until then an expired lease does not prove that its worker is dead,
	// because during an outage of Redis no worker can renew its leases.
	doubtfulUntil := map[Queue]time.Time{}

	for {
		leased, lost := asynqext.HasLeases(ctx, s.rdb, queues)
		for _, q := range queues {
			err := lost
			if leased {
				err = s.checkLeases(ctx, q, time.Now().Before(doubtfulUntil[q]))
			}

			if err != nil && ctx.Err() == nil {
				doubtfulUntil[q] = time.Now().Add(renewTime)
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

// checkLeases renews the leases of the tasks that run here. Asynq's heartbeat also does so, but late after the
// machine has slept. It also stops renewing a task that ran twice here, which would then be reaped while it runs.
//
// Then it puts the tasks of dead workers back, unless the leases are doubtful. While they are, it only checks whether
// Redis responds.
func (s *Server) checkLeases(ctx context.Context, q Queue, doubtful bool) error {
	var held []string

	for _, r := range s.active.allRuns() {
		if r.queue == q && r.ctx.Err() == nil {
			held = append(held, r.task)
		}
	}

	if len(held) > 0 || doubtful {
		if err := asynqext.Renew(ctx, s.rdb, q, held); err != nil || doubtful {
			return err
		}
	}

	return s.reapQueue(ctx, q)
}

// reapQueue returns the tasks of dead workers to the queue, and fails those that have killed too many.
func (s *Server) reapQueue(ctx context.Context, q Queue) error {
	// Delivering a webhook cannot kill a worker: it only sends data that is already in Redis. The task is
	// therefore put back however often its workers died.
	requeued, crashed, err := asynqext.Reap(ctx, s.rdb, q, webhookTask(""))
	if err != nil {
		return err
	}
	s.metrics.broken.WithLabelValues(reaped).Add(float64(requeued))
	s.metrics.broken.WithLabelValues(condemned).Add(float64(len(crashed)))

	for _, id := range crashed {
		s.log.Error("a task killed its worker too often", "task_id", id, "queue", q, "crashes", asynqext.CrashCap)

		if err := s.condemn(ctx, q, id); err != nil {
			return err
		}

		if err := asynqext.Remove(ctx, s.rdb, q, id); err != nil {
			return err
		}
	}

	return nil
}

// condemn ends the job or the call of a task that killed its worker too often.
func (s *Server) condemn(ctx context.Context, q Queue, id string) error {
	const reason = "the worker died %d times on this request; it is not tried again"
	if isCall(id) {
		return s.calls.Condemn(ctx, id, fmt.Sprintf(reason, asynqext.CrashCap))
	}

	err := s.failJob(ctx, id,
		fault.Errorf(fault.RenderFailed, "the worker died %d times on this document", asynqext.CrashCap))
	if err != nil {
		return fmt.Errorf("failing job %s: %w", id, err)
	}

	return nil
}

// setAside removes a dequeued task from the active list, because it cannot be run. If the task belongs to an open job,
// setAside queues a new task from the job's record. It archives any other task.
func (s *Server) setAside(q Queue, id string, why error) {
	ctx, cancel := context.WithTimeout(context.Background(), settleTimeout)
	defer cancel()

	if isCall(id) {
		if err := s.calls.Condemn(ctx, id, "the task of this request cannot be run; send it again"); err != nil {
			s.log.Warn("the caller of a task that cannot be run gets no error", "task_id", id, "queue", q, "err", err)
		}
	}

	job, t, err := s.openTask(ctx, q, id)
	switch {
	case err != nil:
	case job != nil:
		s.log.Error("the task of a job cannot be run; it is created again from the job's record", "job_id", id,
			"queue", q, "err", why)

		err = asynqext.Remove(ctx, s.rdb, q, id)
		if err == nil {
			err = s.outbox.enqueueJob(ctx, job.Owner, id, t)
		}
	default:
		s.log.Error("a task cannot be run; it is archived", "task_id", id, "queue", q, "err", why)
		err = asynqext.Archive(ctx, s.rdb, q, id)
	}

	if err != nil {
		s.log.Error("a task that cannot be run stays where it is until its lease ends", "task_id", id, "queue", q,
			"err", err)
	}
}

// openTask returns the open job whose task has this id on this queue, and the task in the job's record. The job is
// nil when it does not exist or has ended.
func (s *Server) openTask(ctx context.Context, q Queue, id string) (*record.Stored, Task, error) {
	job, err := s.records.Read(ctx, id)
	if err != nil || job == nil || job.Status.Terminal() || job.Queue != q {
		return nil, Task{}, err
	}

	t, err := s.records.Task(ctx, id)
	if err != nil || t.Kind == "" {
		return nil, Task{}, err
	}

	return job, t, nil
}
