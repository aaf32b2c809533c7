package tasks

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"presswork/internal/fault"
	"presswork/tasks/asynqext"
	"presswork/tasks/record"
)

const (
	// ledgerEvery is the time between two reads of due ledger entries.
	ledgerEvery = 5 * time.Second
	// ledgerBatch is the largest number of entries that one sweep checks.
	ledgerBatch = 1000
	// storeAtOnce is the number of jobs for which a sweep calls the store at the same time.
	storeAtOnce = 16
	// ghostsEvery is the time between two comparisons of the active lists with the leases.
	ghostsEvery = 30 * time.Second
)

// sweep repairs what a crashed process leaves unfinished, until ctx ends. It goes through the ledger: an open job
// without a task gets a task, and an ended job gets its webhook. It packs the records of jobs that ended some time ago.
// In the lists of Asynq it removes entries without a task. The sweeps run in parallel, so that none waits for the
// store of another.
func (s *Server) sweep(ctx context.Context, queues []Queue) {
	s.background.Go(func() {
		every(ctx, ledgerEvery, func() {
			if err := s.sweepLedger(ctx, 0); err != nil && ctx.Err() == nil {
				s.log.Warn("the ledger of open jobs could not be swept", "err", err)
			}
		})
	})
	s.background.Go(func() {
		every(ctx, ledgerEvery, func() {
			if err := s.pack(ctx, 0); err != nil && ctx.Err() == nil {
				s.log.Warn("the records of ended jobs could not be packed", "err", err)
			}
		})
	})
	// suspects are the tasks of each queue that the last comparison found active without a lease.
	suspects := map[Queue][]string{}
	every(ctx, ghostsEvery, func() {
		for _, q := range queues {
			found, err := asynqext.Reconcile(ctx, s.rdb, q, suspects[q])
			if err != nil && ctx.Err() == nil {
				s.log.Warn("a queue could not be swept", "queue", q, "err", err)
			}
			suspects[q] = found
		}
	})
}

// every calls do once per interval until ctx ends.
func every(ctx context.Context, interval time.Duration, do func()) {
	tick := time.NewTicker(interval)
	defer tick.Stop()

	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			do()
		}
	}
}

// storeWork calls do for each job, storeAtOnce of them at a time. Each call has its own deadline, because it waits
// for the store.
func (s *Server) storeWork(ctx context.Context, jobs []*record.Stored, do func(context.Context, *record.Stored)) {
	var group errgroup.Group
	group.SetLimit(storeAtOnce)

	for _, job := range jobs {
		if ctx.Err() != nil {
			break
		}
		group.Go(func() error {
			ctx, cancel := context.WithTimeout(ctx, settleTimeout)
			defer cancel()
			do(ctx, job)

			return nil
		})
	}
	_ = group.Wait() // do returns no error
}

// settleEnded settles jobs in the background. While the jobs of an earlier call are being settled it does nothing: the
// sweeper finds them again.
func (s *Server) settleEnded(ctx context.Context, jobs ...*record.Stored) {
	if len(jobs) == 0 || !s.settling.TryLock() {
		return
	}
	s.background.Go(func() {
		defer s.settling.Unlock()
		s.storeWork(ctx, jobs, s.outbox.settleSoon)
	})
}

// sweepLedger checks the open jobs that are due by now plus ahead, and renews their records. When a job cannot be
// repaired, the error is logged and a later sweep tries again.
func (s *Server) sweepLedger(ctx context.Context, ahead time.Duration) error {
	ids, err := s.records.Due(ctx, record.LedgerKey, ahead, ledgerBatch)
	if err != nil || len(ids) == 0 {
		return err
	}

	jobs, err := s.records.ReadAll(ctx, ids)
	if err != nil {
		return err
	}
	states, ttls := make([]*redis.StringCmd, len(ids)), make([]*redis.DurationCmd, len(ids))

	_, err = s.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, j := range jobs {
			if j.Job != nil && !j.Job.Status.Terminal() {
				states[i] = asynqext.TaskState(ctx, p, j.Job.Queue, ids[i])
				ttls[i] = p.PTTL(ctx, record.JobKey(ids[i]))
			}
		}

		return nil
	})
	if err != nil && !record.IsReply(err) {
		return err
	}

	var ended []*record.Stored

	for i, j := range jobs {
		err := j.Err
		if err == nil && j.Job != nil && j.Job.Status.Terminal() {
			ended = append(ended, j.Job)
			continue
		}

		if err == nil && ttls[i] != nil && ttls[i].Val() < s.records.TTL()/2 {
			err = s.records.Renew(ctx, j.Job)
		}

		if err == nil {
			err = s.sweepJob(ctx, ids[i], j.Job, states[i])
		}

		if err == nil {
			continue
		}
		// During an outage of Redis every other job would also fail, each after its own time-outs. If Redis
		// answers, only this job is wrong.
		if pingErr := s.rdb.Ping(ctx).Err(); pingErr != nil {
			return pingErr
		}
		s.log.Error("an open job could not be swept", "job_id", ids[i], "err", err)
	}
	s.settleEnded(ctx, ended...)

	return nil
}

// failJob ends a job that has no run as failed. A job that has already ended stays as it is.
func (s *Server) failJob(ctx context.Context, id string, why *fault.Error) error {
	job, err := s.records.Finish(ctx, id, record.Failed(NewID(), why))
	switch {
	case record.LostCause(err) != nil:
		return nil
	case err != nil:
		return err
	}
	s.settleEnded(ctx, job)

	return nil
}

// sweepJob completes the missing steps of a job: its task if it is open, its settling if it has ended. state is
// the state of its task.
func (s *Server) sweepJob(ctx context.Context, id string, job *record.Stored, state *redis.StringCmd) error {
	switch {
	case job == nil:
		// The record was never written, or has expired.
		return s.rdb.ZRem(ctx, record.LedgerKey, id).Err()
	case errors.Is(state.Err(), redis.Nil):
		t, err := s.records.Task(ctx, id)
		if err != nil || t.Kind == "" {
			return err
		}
		// The submission died or failed after it had written the record, perhaps before it added the job to its
		// owner's list. Add the job before it runs.
		_, err = s.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
			s.records.AddToOwnerList(ctx, p, job.Owner, id)
			return nil
		})
		if err != nil {
			return err
		}
		s.log.Warn("an accepted job had no task; it is put on the queue again", "job_id", id, "queue", t.Queue)
		s.metrics.requeued.Inc()

		return s.outbox.enqueueJob(ctx, job.Owner, id, t)
	case state.Val() == "archived":
		return s.failJob(ctx, id, fault.Errorf(fault.Internal, "the job was set aside by an operator"))
	}

	return state.Err()
}

// packBatch is how many jobs are packed at a time.
const packBatch = 100

// pack packs the records of the ended jobs that are due by now plus ahead, packBatch at a time. Tests pass a
// positive ahead.
func (s *Server) pack(ctx context.Context, ahead time.Duration) error {
	for {
		ids, err := s.records.Due(ctx, record.SettledKey, ahead, packBatch)
		if err != nil || len(ids) == 0 {
			return err
		}

		if err := s.packAll(ctx, ids); err != nil {
			return err
		}

		if len(ids) < packBatch {
			return nil
		}
	}
}

// packAll packs the records of ended jobs. Before that it deletes their late objects, which it finds by the
// records.
func (s *Server) packAll(ctx context.Context, ids []string) error {
	ended, err := s.records.ReadUnpacked(ctx, ids)
	if err != nil {
		return err
	}
	s.deleteLateObjects(ctx, ids, ended.Jobs())

	return s.records.Pack(ctx, ended, func(id string, err error) {
		s.log.Error("the record of an ended job cannot be packed; it stays as it is", "job_id", id, "err", err)
	})
}

// deleteLateObjects deletes objects that the store received for a job after the first deletion. A store may complete a
// request whose sender has given up or died.
func (s *Server) deleteLateObjects(ctx context.Context, ids []string, jobs []record.Lookup) {
	const message = "late artifacts of an ended job could not be deleted"
	var ended []*record.Stored

	for i, j := range jobs {
		if j.Err != nil {
			s.log.Warn(message, "job_id", ids[i], "err", j.Err)
		}

		if j.Job != nil {
			ended = append(ended, j.Job)
		}
	}
	s.storeWork(ctx, ended, func(ctx context.Context, job *record.Stored) {
		if err := s.outbox.deleteObjects(ctx, job); err != nil {
			s.log.Warn(message, "job_id", job.ID, "err", err)
		}
	})
}
