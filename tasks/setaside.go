package tasks

import (
	"context"

	"presswork/tasks/asynqext"
)

// setAside takes a dequeued task that cannot be run off the active list. That of
// an open job is made anew from the job's record; any other is archived.
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
		s.log.Error(
			"the task of a job cannot be run; it is made anew from the job's record",
			"job_id",
			id,
			"queue",
			q,
			"err",
			why,
		)

		err = asynqext.Remove(ctx, s.rdb, q, id)
		if err == nil {
			err = s.outbox.enqueueJob(ctx, job.Owner, id, t)
		}
	default:
		s.log.Error("a task cannot be run; it is archived", "task_id", id, "queue", q, "err", why)
		err = asynqext.Archive(ctx, s.rdb, q, id)
	}

	if err != nil {
		s.log.Error(
			"a task that cannot be run stays where it is until its lease ends",
			"task_id",
			id,
			"queue",
			q,
			"err",
			err,
		)
	}
}

// openTask returns the job that is not terminal and whose task has this id on
// this queue, and the task as its record has it; nil when there is none.
func (s *Server) openTask(ctx context.Context, q Queue, id string) (*stored, Task, error) {
	job, err := s.records.read(ctx, id)
	if err != nil || job == nil || job.Status.Terminal() || job.queue != q {
		return nil, Task{}, err
	}

	t, err := s.records.task(ctx, id)
	if err != nil || t.Kind == "" {
		return nil, Task{}, err
	}

	return job, t, nil
}
