package tasks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// errUnfit: what was dequeued cannot be run, and has been set aside.
var errUnfit = errors.New("the dequeued task cannot be run")

// unfit returns why Asynq would not give this message to the handler of the task
// whose slot was taken for it, or nil. It is decoded by Asynq's own type.
func unfit(q Queue, id, message string) error {
	kind, err := protoregistry.GlobalTypes.FindMessageByName("asynq.TaskMessage")
	if err != nil {
		return err
	}
	m := kind.New()
	if err := proto.Unmarshal([]byte(message), m.Interface()); err != nil {
		return fmt.Errorf("its message cannot be decoded: %w", err)
	}
	get := func(field protoreflect.Name) protoreflect.Value {
		return m.Get(kind.Descriptor().Fields().ByName(field))
	}
	switch {
	case get("id").String() != id || get("queue").String() != string(q):
		return fmt.Errorf("its message is that of task %q of queue %q", get("id").String(), get("queue").String())
	case get("deadline").Int() != 0 || get("timeout").Int() < 0:
		// Asynq ends a task by its deadline before the handler begins.
		return errors.New("its message has a deadline, which no task of ours has")
	}
	return nil
}

// archiveScript: KEYS active, lease, archived, task; ARGV id, now in s.
var archiveScript = redis.NewScript(`
redis.call('LREM', KEYS[1], 0, ARGV[1])
redis.call('ZREM', KEYS[2], ARGV[1])
redis.call('ZADD', KEYS[3], ARGV[2], ARGV[1])
redis.call('HSET', KEYS[4], 'state', 'archived')
return 1
`)

// setAside takes a dequeued task that cannot be run off the active list. That of
// an open job is made anew from the job's record; any other is archived.
func (s *Server) setAside(q Queue, id string, why error) {
	ctx, cancel := context.WithTimeout(context.Background(), settleTimeout)
	defer cancel()
	job, t, err := s.openTask(ctx, q, id)
	switch {
	case err != nil:
	case job != nil:
		s.log.Error("the task of a job cannot be run; it is made anew from the job's record", "job_id", id, "queue", q, "err", why)
		err = removeScript.Run(ctx, s.rdb, []string{asynqActive(q), asynqLease(q), asynqTask(q, id)}, id).Err()
		if err == nil {
			err = s.outbox.enqueue(ctx, job.Owner, id, t)
		}
	default:
		s.log.Error("a task cannot be run; it is archived", "task_id", id, "queue", q, "err", why)
		err = archiveScript.Run(ctx, s.rdb, []string{asynqActive(q), asynqLease(q), asynqKey(q, "archived"), asynqTask(q, id)},
			id, time.Now().Unix()).Err()
	}
	if err != nil {
		s.log.Error("a task that cannot be run stays where it is until its lease ends", "task_id", id, "queue", q, "err", err)
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
