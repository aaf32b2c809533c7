package tasks

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
	"golang.org/x/sync/errgroup"

	"presswork/internal/fault"
	"presswork/tasks/asynqext"
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

// openScript: KEYS ledger; ARGV id, first look in ms from now.
var openScript = redis.NewScript(serverTime + `
return redis.call('ZADD', KEYS[1], 'NX', millis() + ARGV[2], ARGV[1])
`)

// dueScript: KEYS ledger; ARGV how far ahead of now to look and when to look
// next, in ms, how many. It answers the due ids and postpones them, so that no
// two workers look at the same job.
var dueScript = redis.NewScript(serverTime + `
local now = millis() + ARGV[1]
local ids = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[3])
for _, id in ipairs(ids) do redis.call('ZADD', KEYS[1], 'XX', now + ARGV[2], id) end
return ids
`)

// sweep keeps two promises that no single process can keep by itself: every
// accepted job has a task until it is terminal and every terminal job its
// webhook (the ledger), and Asynq's lists hold no entry without a task. The
// sweeps run at the same time, so that none waits for another's store.
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
func (s *Server) storeWork(ctx context.Context, jobs []*stored, do func(context.Context, *stored)) {
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
func (s *Server) settleEnded(ctx context.Context, jobs ...*stored) {
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
	ids, err := dueScript.Run(ctx, s.rdb, []string{ledgerKey},
		ahead.Milliseconds(), ledgerAgain.Milliseconds(), ledgerBatch).StringSlice()
	if err != nil || len(ids) == 0 {
		return err
	}

	jobs, err := s.records.readAll(ctx, ids)
	if err != nil {
		return err
	}
	states, lives := make([]*redis.StringCmd, len(ids)), make([]*redis.DurationCmd, len(ids))

	_, err = s.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, j := range jobs {
			if j.job != nil && !j.job.Status.Terminal() {
				states[i] = asynqext.TaskState(ctx, p, j.job.queue, ids[i])
				lives[i] = p.PTTL(ctx, jobKey(ids[i]))
			}
		}

		return nil
	})
	if err != nil && !isAnswer(err) {
		return err
	}

	var ended []*stored

	for i, j := range jobs {
		err := j.err
		if err == nil && j.job != nil && j.job.Status.Terminal() {
			ended = append(ended, j.job)
			continue
		}

		if err == nil && lives[i] != nil && lives[i].Val() < s.records.ttl/2 {
			err = s.records.renew(ctx, j.job)
		}

		if err == nil {
			err = s.sweepJob(ctx, ids[i], j.job, states[i])
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
	e := failed("", "", why)
	e.nonce = NewID()

	job, err := s.records.finish(ctx, id, e)
	switch {
	case loss(err) != nil:
		return nil
	case err != nil:
		return err
	}
	s.settleEnded(ctx, job)

	return nil
}

// sweepJob does what an open job lacks; state is that of its task.
func (s *Server) sweepJob(ctx context.Context, id string, job *stored, state *redis.StringCmd) error {
	switch {
	case job == nil:
		// Never written, or expired.
		return s.rdb.ZRem(ctx, ledgerKey, id).Err()
	case errors.Is(state.Err(), redis.Nil):
		t, err := s.records.task(ctx, id)
		if err != nil || t.Kind == "" {
			return err
		}
		// Its submission may have ended at any point after the record, and so have
		// been answered with an error: what it makes is listed before it runs.
		_, err = s.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
			s.records.list(ctx, p, job.Owner, id)
			p.SAdd(ctx, ownersKey, job.Owner)

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
