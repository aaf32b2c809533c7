package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/tasks/asynqext"
)

// read returns the job, or nil when there is none.
func (r *records) read(ctx context.Context, id string) (*stored, error) {
	jobs, err := r.readAll(ctx, []string{id})
	if err != nil {
		return nil, err
	}

	return jobs[0].job, jobs[0].err
}

// lookup is one job of many that were read: nil when it is gone, and an error
// when its record is there and cannot be read.
type lookup struct {
	job *stored
	err error
}

// readAll reads many in one round trip. What is wrong with one record is returned in
// its place, so that it does not hide the others.
func (r *records) readAll(ctx context.Context, ids []string) ([]lookup, error) {
	cmds, packed := make([]*redis.SliceCmd, len(ids)), make([]*redis.StringCmd, len(ids))
	// The hash first: a record that is packed between the two is found.
	_, err := r.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, id := range ids {
			cmds[i] = p.HMGet(ctx, jobKey(id), recordFields()...)
			packed[i] = p.Get(ctx, packedKey(id))
		}

		return nil
	})
	if err != nil && !isAnswer(err) {
		return nil, unavailable(err)
	}

	out := make([]lookup, len(ids))
	for i, cmd := range cmds {
		out[i] = readOne(cmd, packed[i])
	}

	return out, nil
}

func readOne(cmd *redis.SliceCmd, packed *redis.StringCmd) (l lookup) {
	if err := cmd.Err(); err != nil {
		return lookup{err: unavailable(err)}
	}

	fields, err := fieldsOf(cmd.Val())
	if err == nil && fields[fieldID] == "" {
		switch blob, perr := packed.Bytes(); {
		case perr == nil:
			fields, _, err = unpack(blob, false)
		case !errors.Is(perr, redis.Nil):
			err = unavailable(perr)
		}
	}

	if err != nil {
		return lookup{err: err}
	}
	l.job, l.err = decodeRecord(fields)

	return l
}

// isAnswer reports whether an error is the server's word on one command of a
// pipeline; the others have answers of their own then.
func isAnswer(err error) bool {
	_, ok := errors.AsType[redis.Error](err)
	return ok && !asynqext.IsOutage(err)
}

// events returns the log after seq, oldest first.
func (r *records) events(ctx context.Context, id string, after int64) ([]presswork.Event, error) {
	var log *redis.StringSliceCmd
	var packed *redis.StringCmd
	// In this order: what is packed meanwhile is in the one or in the other. A full
	// Redis refuses transactions, also those that only read.
	_, err := r.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		log = p.LRange(ctx, logKey(id), 0, -1)
		packed = p.Get(ctx, packedKey(id))

		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, unavailable(err)
	}

	all := log.Val()
	if blob, err := packed.Bytes(); err == nil {
		if _, all, err = unpack(blob, true); err != nil {
			return nil, fmt.Errorf("events of job %s: %w", id, err)
		}
	}
	var out []presswork.Event

	for _, text := range all {
		var e presswork.Event
		if err := json.Unmarshal([]byte(text), &e); err != nil {
			return nil, fmt.Errorf("an event of job %s: %w", id, err)
		}

		if e.Seq > after {
			out = append(out, e)
		}
	}

	return out, nil
}

// task reads back what the job's task was; its Kind is "" when the job is
// terminal, since the payload is dropped then.
func (r *records) task(ctx context.Context, id string) (Task, error) {
	var fields *redis.SliceCmd
	var payload *redis.StringCmd

	_, err := r.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		fields = p.HMGet(ctx, jobKey(id), "task", fieldQueue, "retries", "timeout")
		payload = p.Get(ctx, PayloadKey(id))

		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return Task{}, unavailable(err)
	}

	if payload.Err() != nil {
		return Task{}, nil
	}
	v := append(fields.Val(), payload.Val())

	var text [5]string
	for i := range text {
		s, ok := v[i].(string)
		if !ok {
			return Task{}, nil
		}
		text[i] = s
	}
	retries, err1 := strconv.Atoi(text[2])

	timeout, err2 := strconv.ParseInt(text[3], 10, 64)
	if err := errors.Join(err1, err2); err != nil {
		return Task{}, fmt.Errorf("task of job %s: %w", id, err)
	}

	return Task{
		Kind: text[0], Queue: Queue(text[1]), Retries: retries,
		Timeout: time.Duration(timeout) * time.Millisecond, Payload: []byte(text[4]),
	}, nil
}
