package tasks

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/internal/fault"
	"presswork/tasks/asynqext"
	"presswork/tasks/record"
)

const (
	idempotencyTTL = 24 * time.Hour
	// enqueueTimeout bounds the queueing of an accepted job's task, which continues after the caller has left.
	enqueueTimeout = 2 * time.Second
)

// Reserve is the first half of Submit, for callers that store sources under the job's id before they submit
// it. It refuses the job when the queue is full, and binds the idempotency key to s.ID. When an earlier
// request with the same key died before it created its job, s.ID becomes the job id of that request. When the
// key has a job, Reserve returns the job, and there is nothing to submit. Reserve reads no field of s.Task but Queue.
//
// Errors: IdempotencyConflict, QueueFull, QueueUnavailable.
func (c *Client) Reserve(ctx context.Context, s *Submission) (rec Record, replayed bool, err error) {
	if !ValidID(s.ID) {
		return Record{}, false, fmt.Errorf("submission id %q is not from NewID", s.ID)
	}

	if s.IdempotencyKey != "" {
		id, claimed, err := c.claim(ctx, *s)
		if err != nil {
			return Record{}, false, err
		}

		if !claimed {
			earlier, err := c.replayed(ctx, id)
			if err != nil || earlier != nil {
				return recordOf(earlier), earlier != nil, err
			}
			s.ID = id
		}
	}

	if err := c.admit(ctx, s.Task.Queue, s.Owner); err != nil {
		return Record{}, false, err
	}
	s.reserved = true

	return Record{}, false, nil
}

// Submit accepts a job durably. It writes the record, which holds the whole task, before it queues the task. When
// only the second step fails, the job is accepted. The sweeper of a running worker then queues the task about 20
// seconds after the submission. Later checks follow every half minute.
//
// An error means that the job was not accepted. After QueueUnavailable it may still exist, because only the
// response was lost. A second submission with the same idempotency key finds it and completes the missing steps.
// Errors: IdempotencyConflict, QueueFull, QueueUnavailable.
func (c *Client) Submit(ctx context.Context, s Submission) (rec Record, replayed bool, err error) {
	if err := s.check(); err != nil {
		return Record{}, false, err
	}

	if s.ContentType == presswork.PDF.ContentType() {
		s.ContentType = "" // the default, to save memory in Redis
	}

	if !s.reserved {
		rec, replayed, err := c.Reserve(ctx, &s)
		if err != nil || replayed {
			return rec, replayed, err
		}
	}

	job, creation, err := c.accept(ctx, s)
	if err != nil {
		return Record{}, false, err
	}

	if creation != record.JobExisted {
		c.metrics.accepted.WithLabelValues(string(s.Kind)).Inc()
	}

	switch creation {
	case record.JobExisted:
		return job.Record, true, c.repair(ctx, job)
	case record.OnlyRecorded:
		c.enqueue(ctx, s.Owner, s.ID, s.Task)
	}

	return job.Record, false, nil
}

// enqueue queues the task of an accepted job, also when the caller has left. After a failure the sweeper queues it.
func (c *Client) enqueue(ctx context.Context, owner, id string, t Task) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), enqueueTimeout)
	defer cancel()

	if err := c.outbox.enqueueJob(ctx, owner, id, t); err != nil {
		c.log.Warn("the task of an accepted job could not be queued; the sweeper will queue it", "job_id", id,
			"err", err)
	}
}

// record returns the record of the submitted job.
func (s Submission) record() Record {
	return Record{
		Job:         presswork.Job{ID: s.ID, Kind: s.Kind, Theme: s.Theme},
		Owner:       s.Owner,
		Filename:    s.Filename,
		ContentType: s.ContentType,
		WebhookURL:  s.WebhookURL,
		RequestID:   s.RequestID,
		TraceParent: s.TraceParent,
	}
}

// check returns an error when the task is missing or has no retries.
func (s Submission) check() error {
	switch {
	case s.Task.Kind == "" || s.Task.Queue == "":
		return errors.New("submission has no task")
	case s.Task.Retries < 1:
		// Asynq would archive the task, instead of running it again, after its worker has died.
		return fmt.Errorf("task kind %s allows no retry", s.Task.Kind)
	}

	return nil
}

// claim binds the idempotency key to the job's id, or returns the id that an earlier submission has bound. Errors:
// IdempotencyConflict, QueueUnavailable.
func (c *Client) claim(ctx context.Context, s Submission) (id string, claimed bool, err error) {
	key := idempotencyKey(s.Owner, s.IdempotencyKey)

	value, claimed, err := c.setOnce(ctx, key, s.ID+" "+s.Fingerprint, idempotencyTTL)
	if err != nil {
		return "", false, err
	}

	id, err = boundID(value, s.Fingerprint, s.AltFingerprint)

	return id, claimed, err
}

// setOnce sets key to value unless the key has a value. It returns the value that the key has then, and whether this
// call has set it. Concurrent calls of all nodes agree on one value. ttl is the life of a new value; 0 means forever.
// Errors: QueueUnavailable.
func (c *Client) setOnce(
	ctx context.Context, key string, value any, ttl time.Duration,
) (stored string, set bool, err error) {
	var setNX *redis.BoolCmd
	var get *redis.StringCmd

	_, err = c.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		setNX, get = p.SetNX(ctx, key, value, ttl), p.Get(ctx, key)
		return nil
	})
	if err != nil {
		return "", false, record.Unavailable(err)
	}

	return get.Val(), setNX.Val(), nil
}

// boundID returns the job id in the value of an idempotency key, which is "id fingerprint". Errors:
// IdempotencyConflict when the fingerprint is none of fingerprints.
func boundID(value string, fingerprints ...string) (string, error) {
	id, bound, _ := strings.Cut(value, " ")
	if !slices.Contains(fingerprints, bound) {
		return "", fault.Errorf(fault.IdempotencyConflict,
			"this Idempotency-Key was used for another request within the last 24 hours; use a new key")
	}

	return id, nil
}

// Replay returns the job of an idempotency key, so that a repeated request need not be prepared. Errors:
// IdempotencyConflict, QueueUnavailable.
func (c *Client) Replay(ctx context.Context, owner, key, fingerprint string) (rec Record, found bool, err error) {
	value, err := c.rdb.Get(ctx, idempotencyKey(owner, key)).Result()
	if errors.Is(err, redis.Nil) {
		return Record{}, false, nil
	}

	if err != nil {
		return Record{}, false, record.Unavailable(err)
	}

	id, err := boundID(value, fingerprint)
	if err != nil {
		return Record{}, false, err
	}
	job, err := c.replayed(ctx, id)

	return recordOf(job), job != nil && err == nil, err
}

// replayed returns the job that an idempotency key is bound to, and completes its submission if that was cut short. It
// returns nil when the job was never written.
func (c *Client) replayed(ctx context.Context, id string) (*record.Stored, error) {
	job, err := c.records.Read(ctx, id)
	if err != nil || job == nil {
		return nil, err
	}

	return job, c.repair(ctx, job)
}

// recordOf returns the record of a job; the zero Record for nil.
func recordOf(job *record.Stored) Record {
	if job == nil {
		return Record{}
	}

	return job.Record
}

// repair completes the submission of an existing job: its entries in the ledger and in the owner's list, and
// its task.
func (c *Client) repair(ctx context.Context, job *record.Stored) error {
	if job.Status.Terminal() {
		return nil
	}

	_, err := c.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		c.records.OpenLedger(ctx, p, job.ID)
		c.records.AddToOwnerList(ctx, p, job.Owner, job.ID)

		return nil
	})
	if err != nil {
		return record.Unavailable(err)
	}

	t, err := c.records.Task(ctx, job.ID)
	if err != nil || t.Kind == "" {
		return err
	}
	c.enqueue(ctx, job.Owner, job.ID, t)

	return nil
}

// accept writes the record of a submission and, for a job that is certainly new, also its task.
func (c *Client) accept(ctx context.Context, s Submission) (*record.Stored, record.Creation, error) {
	var hold func(context.Context) (*asynqext.Held, error)
	if s.IdempotencyKey == "" { // with a key an earlier submission may have created the job
		hold = func(ctx context.Context) (*asynqext.Held, error) {
			return c.outbox.holdTask(ctx, s.Owner, s.ID, s.Task)
		}
	}

	return c.records.Create(ctx, s.record(), s.Task, hold)
}
