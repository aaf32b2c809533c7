package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/internal/fault"
)

// Read returns the job, or nil when there is none. Errors: QueueUnavailable, a record that cannot be
// decoded.
func (r *Records) Read(ctx context.Context, id string) (*Stored, error) {
	jobs, err := r.ReadAll(ctx, []string{id})
	if err != nil {
		return nil, err
	}

	return jobs[0].Job, jobs[0].Err
}

// Find is Read for an id from a client. Errors: those of Read; NotFound for a job that does not exist, and for an id
// that is not from NewID.
func (r *Records) Find(ctx context.Context, id string) (*Stored, error) {
	if !ValidID(id) {
		return nil, NotFound(id)
	}

	job, err := r.Read(ctx, id)
	if err == nil && job == nil {
		err = NotFound(id)
	}

	return job, err
}

// NotFound returns the public error for a job that does not exist. It quotes the id, which may come from a client.
func NotFound(id string) error {
	return fault.Errorf(fault.NotFound, "there is no job %q", id)
}

// Lookup is one job of many that were read. Job is nil when the job does not exist; Err is set when
// its record cannot be read.
type Lookup struct {
	Job *Stored
	Err error
}

// ReadAll reads many jobs in one round trip. The error of one record is in its Lookup, so that it
// does not hide the others. Errors: QueueUnavailable.
func (r *Records) ReadAll(ctx context.Context, ids []string) ([]Lookup, error) {
	hashes, packed := make([]*redis.SliceCmd, len(ids)), make([]*redis.StringCmd, len(ids))
	// Read the hash first. If the record is packed between the two commands, one of them still finds it.
	_, err := r.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, id := range ids {
			hashes[i] = p.HMGet(ctx, JobKey(id), recordFields()...)
			packed[i] = p.Get(ctx, PackedKey(id))
		}

		return nil
	})
	if err != nil && !IsReply(err) {
		return nil, Unavailable(err)
	}

	out := make([]Lookup, len(ids))
	for i, hash := range hashes {
		out[i] = readOne(hash, packed[i])
	}

	return out, nil
}

// readOne decodes one job from the answers about its hash and its packed record.
func readOne(hash *redis.SliceCmd, packed *redis.StringCmd) (l Lookup) {
	if err := hash.Err(); err != nil {
		return Lookup{Err: Unavailable(err)}
	}

	fields, err := fieldsOf(hash.Val())
	if err == nil && fields[fieldID] == "" {
		switch blob, packedErr := packed.Bytes(); {
		case packedErr == nil:
			fields, _, err = Unpack(blob, false)
		case !errors.Is(packedErr, redis.Nil):
			err = Unavailable(packedErr)
		}
	}

	if err != nil {
		return Lookup{Err: err}
	}
	l.Job, l.Err = decodeRecord(fields)

	return l
}

// Events returns the job's events after a sequence number, oldest first. Errors: QueueUnavailable, an event that
// cannot be decoded.
func (r *Records) Events(ctx context.Context, id string, after int64) ([]presswork.Event, error) {
	var log *redis.StringSliceCmd
	var packed *redis.StringCmd
	// Read the log first: a job that is packed between the reads is in one of the two. A transaction would not do,
	// because a full Redis refuses even transactions that only read.
	_, err := r.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		log = p.LRange(ctx, LogKey(id), 0, -1)
		packed = p.Get(ctx, PackedKey(id))

		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, Unavailable(err)
	}

	all := log.Val()
	if blob, err := packed.Bytes(); err == nil {
		if _, all, err = Unpack(blob, true); err != nil {
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

// Task returns the job's task. Its Kind is "" when Redis no longer has the payload, because the job has ended.
func (r *Records) Task(ctx context.Context, id string) (Task, error) {
	var fields *redis.SliceCmd
	var payload *redis.StringCmd

	_, err := r.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		fields = p.HMGet(ctx, JobKey(id), fieldTask, fieldQueue, fieldRetries, fieldTimeout)
		payload = p.Get(ctx, PayloadKey(id))

		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return Task{}, Unavailable(err)
	}

	if payload.Err() != nil {
		return Task{}, nil
	}

	var texts [4]string // in the order of the HMGET
	for i := range texts {
		text, ok := fields.Val()[i].(string)
		if !ok {
			return Task{}, nil
		}
		texts[i] = text
	}
	retries, retriesErr := strconv.Atoi(texts[2])

	timeout, timeoutErr := strconv.ParseInt(texts[3], 10, 64)
	if err := errors.Join(retriesErr, timeoutErr); err != nil {
		return Task{}, fmt.Errorf("task of job %s: %w", id, err)
	}

	return Task{
		Kind: texts[0], Queue: Queue(texts[1]), Retries: retries,
		Timeout: time.Duration(timeout) * time.Millisecond, Payload: []byte(payload.Val()),
	}, nil
}

// Holder is the status of a job with the fence of its latest run. Only that run may change an open job.
type Holder struct {
	Status presswork.Status
	// Fence is the fence of the latest run.
	Fence string
}

// Holders returns the holder of each job in one round trip; the zero Holder for a job that does not
// exist.
func (r *Records) Holders(ctx context.Context, ids []string) ([]Holder, error) {
	cmds := make([]*redis.SliceCmd, len(ids))

	_, err := r.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, id := range ids {
			cmds[i] = p.HMGet(ctx, JobKey(id), fieldStatus, fieldFence)
		}

		return nil
	})
	if err != nil {
		return nil, Unavailable(err)
	}

	out := make([]Holder, len(ids))

	for i, cmd := range cmds {
		status, _ := cmd.Val()[0].(string)
		out[i].Status = presswork.Status(status)
		out[i].Fence, _ = cmd.Val()[1].(string)
	}

	return out, nil
}

// Seqs returns the sequence number of each job in one round trip; 0 for a job that does not exist
// or is packed.
func (r *Records) Seqs(ctx context.Context, ids []string) ([]int64, error) {
	cmds := make([]*redis.StringCmd, len(ids))

	_, err := r.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, id := range ids {
			cmds[i] = p.HGet(ctx, JobKey(id), fieldSeq)
		}

		return nil
	})
	if err != nil && !errors.Is(err, redis.Nil) {
		return nil, Unavailable(err)
	}

	out := make([]int64, len(ids))
	for i, cmd := range cmds {
		out[i], _ = cmd.Int64()
	}

	return out, nil
}
