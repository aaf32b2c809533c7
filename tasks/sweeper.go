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
	// ledgerEvery is how often due ledger entries are looked at, ledgerBatch how
	// many at a time, and ledgerAgain when each is looked at next.
	ledgerEvery = 5 * time.Second
	ledgerBatch = 1000
	ledgerAgain = 30 * time.Second
	// storeAtOnce is for how many jobs a sweep asks the store at a time.
	storeAtOnce = 16
	// ghostsEvery is how often the active lists are compared with the leases.
	ghostsEvery = 30 * time.Second
)

// sweep keeps two promises that no single process can keep. Every accepted job has a task until it is terminal,
// and every terminal job its webhook (the ledger). The lists of Asynq have no entry without a task. The sweeps run
// in parallel, so that none waits for a store.
func (s *Server) sweep(ctx context.Context, queues []Queue) {
	s.keepers.Go(func() {
		every(ctx, ledgerEvery, func() {
			if err := s.sweepLedger(ctx, 0); err != nil && ctx.Err() == nil {
				s.log.Warn("the ledger of open jobs could not be swept", "err", err)
			}
		})
	})
	s.keepers.Go(func() {
		every(ctx, ledgerEvery, func() {
			if err := s.pack(ctx, 0); err != nil && ctx.Err() == nil {
				s.log.Warn("the records of ended jobs could not be packed", "err", err)
			}
		})
	})
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

// every calls do at each interval until ctx ends.
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

// storeWork calls do for each job, for some at a time and each with a deadline of its own, because it waits for the
// store.
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

// settleEnded settles jobs while its caller goes on. While the jobs of an earlier call are being settled it does
// nothing: the sweeper finds them again.
func (s *Server) settleEnded(ctx context.Context, jobs ...*record.Stored) {
	if len(jobs) == 0 || !s.settling.TryLock() {
		return
	}
	s.keepers.Go(func() {
		defer s.settling.Unlock()
		s.storeWork(ctx, jobs, s.outbox.settleSoon)
	})
}

// sweepLedger looks at the open jobs that are due by then, counted from now, and renews their records. A
// job that it can do nothing for is logged and looked at again with the next
// batch it is due in.
func (s *Server) sweepLedger(ctx context.Context, ahead time.Duration) error {
	ids, err := s.records.Due(ctx, record.LedgerKey, ahead, ledgerBatch)
	if err != nil || len(ids) == 0 {
		return err
	}

	jobs, err := s.records.ReadAll(ctx, ids)
	if err != nil {
		return err
	}
	states, lives := make([]*redis.StringCmd, len(ids)), make([]*redis.DurationCmd, len(ids))

	_, err = s.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, j := range jobs {
			if j.Job != nil && !j.Job.Status.Terminal() {
				states[i] = asynqext.TaskState(ctx, p, j.Job.Queue, ids[i])
				lives[i] = p.PTTL(ctx, record.JobKey(ids[i]))
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

		if err == nil && lives[i] != nil && lives[i].Val() < s.records.TTL()/2 {
			err = s.records.Renew(ctx, j.Job)
		}

		if err == nil {
			err = s.sweepJob(ctx, ids[i], j.Job, states[i])
		}

		if err == nil {
			continue
		}
		// Without Redis all the others would fail as well, each after its own
		// time-outs; else it is this job alone that is wrong.
		if perr := s.rdb.Ping(ctx).Err(); perr != nil {
			return perr
		}
		s.log.Error("an open job could not be swept", "job_id", ids[i], "err", err)
	}
	s.settleEnded(ctx, ended...)

	return nil
}

// fail ends a job that has no run as failed. One that has ended already stays as it is.
func (s *Server) fail(ctx context.Context, id string, why *fault.Error) error {
	job, err := s.records.Finish(ctx, id, record.Failed(NewID(), why))
	switch {
	case record.Lost(err) != nil:
		return nil
	case err != nil:
		return err
	}
	s.settleEnded(ctx, job)

	return nil
}

// sweepJob does what an open job lacks; state is that of its task.
func (s *Server) sweepJob(ctx context.Context, id string, job *record.Stored, state *redis.StringCmd) error {
	switch {
	case job == nil:
		// Never written, or expired.
		return s.rdb.ZRem(ctx, record.LedgerKey, id).Err()
	case errors.Is(state.Err(), redis.Nil):
		t, err := s.records.Task(ctx, id)
		if err != nil || t.Kind == "" {
			return err
		}
		// Its submission may have ended at any point after the record, also with an error for the client. The
		// record is listed before the job runs.
		_, err = s.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
			s.records.Enlist(ctx, p, job.Owner, id)
			return nil
		})
		if err != nil {
			return err
		}
		s.log.Warn("an accepted job had no task; it is put on the queue again", "job_id", id, "queue", t.Queue)
		s.metrics.requeued.Inc()

		return s.outbox.enqueueJob(ctx, job.Owner, id, t)
	case state.Val() == "archived":
		return s.fail(ctx, id, fault.Errorf(fault.Internal, "the job was set aside by an operator"))
	}

	return state.Err()
}

// packBatch is how many jobs are packed at a time.
const packBatch = 100

// pack packs the records of the ended jobs that are due by now plus ahead.
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

func (s *Server) packAll(ctx context.Context, ids []string) error {
	ended, err := s.records.ReadUnpacked(ctx, ids)
	if err != nil {
		return err
	}
	s.clearLate(ctx, ids, ended.Jobs())

	return s.records.Pack(ctx, ended, func(id string, err error) {
		s.log.Error("the record of an ended job cannot be packed; it stays as it is", "job_id", id, "err", err)
	})
}

// clearLate deletes objects that the store received for a job after the first deletion. A store may complete a
// request whose sender has given up or died.
func (s *Server) clearLate(ctx context.Context, ids []string, jobs []record.Lookup) {
	const unclear = "late artifacts of an ended job could not be deleted"
	var ended []*record.Stored

	for i, j := range jobs {
		if j.Err != nil {
			s.log.Warn(unclear, "job_id", ids[i], "err", j.Err)
		}

		if j.Job != nil {
			ended = append(ended, j.Job)
		}
	}
	s.storeWork(ctx, ended, func(ctx context.Context, job *record.Stored) {
		if err := s.outbox.clear(ctx, job); err != nil {
			s.log.Warn(unclear, "job_id", job.ID, "err", err)
		}
	})
}
