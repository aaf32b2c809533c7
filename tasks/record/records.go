package record

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/internal/fault"
	"presswork/tasks/asynqext"
	"presswork/tasks/clock"
)

// Reasons why a run may no longer update its job. The run's context ends with one of them as its
// cause.
var (
	// ErrCancelled is returned when the job was cancelled.
	ErrCancelled = errors.New("the job was cancelled")
	// ErrSuperseded is returned when another run of the job has begun, or when the job has ended
	// or does not exist.
	ErrSuperseded = errors.New("a later run has taken over the job")
	// ErrGone is returned when the job has no record.
	ErrGone = errors.New("the job does not exist")
)

// EndedError is returned when the job has ended already.
type EndedError struct{ Status presswork.Status }

func (e EndedError) Error() string { return "the job is " + string(e.Status) }

// refusalError returns the error for a refusal of a script; nil for "".
func refusalError(reason string) error {
	switch reason {
	case "":
		return nil
	case "gone":
		return ErrGone
	case "superseded":
		return ErrSuperseded
	}

	return EndedError{presswork.Status(reason)}
}

// LostCause returns why a run may no longer update its job, ErrCancelled or ErrSuperseded; nil when err is another
// error. A job that ended otherwise, or that does not exist, counts as superseded: the run has no more effect.
func LostCause(err error) error {
	if ended, ok := errors.AsType[EndedError](err); ok && ended.Status == presswork.Cancelled {
		return ErrCancelled
	}

	if _, ok := errors.AsType[EndedError](err); ok || errors.Is(err, ErrGone) || errors.Is(err, ErrSuperseded) {
		return ErrSuperseded
	}

	return nil
}

// Unavailable returns the public error for an outage of Redis.
func Unavailable(err error) error {
	return fault.Errorf(fault.QueueUnavailable, "the queue is not available; try again shortly").WithCause(err)
}

// IsReply reports whether err is the server's reply to one command of a pipeline. In that case the other
// commands have their own replies.
func IsReply(err error) bool {
	_, ok := errors.AsType[redis.Error](err)
	return ok && !asynqext.IsOutage(err)
}

// Records reads and changes the job records of a Redis. It is safe for concurrent use.
type Records struct {
	rdb   redis.UniversalClient
	clock *clock.Clock
	ttl   time.Duration                          // of ended jobs
	ended func(presswork.Kind, presswork.Status) // called when a job ends

	// mu guards the fields below.
	mu sync.Mutex
	// submitted counts the submissions of this process.
	submitted int
	// owners maps an owner to the time when renewalDue last reported true for it.
	owners map[string]time.Time
}

// New returns the records of the Redis at rdb. c tells the time of that Redis. ttl is how long a record is kept
// after its job's end; Renew renews the record of an open job. ended is called after each end that Finish writes.
func New(
	rdb redis.UniversalClient,
	c *clock.Clock,
	ttl time.Duration,
	ended func(presswork.Kind, presswork.Status),
) *Records {
	return &Records{rdb: rdb, clock: c, ttl: ttl, ended: ended, owners: map[string]time.Time{}}
}

// TTL returns how long a record is kept after its job's end.
func (r *Records) TTL() time.Duration { return r.ttl }

// Now returns the time of Redis in milliseconds.
func (r *Records) Now() time.Time { return r.clock.Now() }

// SubscribeEvents subscribes to the events of all jobs. ctx bounds only the first attempt: go-redis
// reconnects by itself. A message is "id seq event", with the event as JSON.
func (r *Records) SubscribeEvents(ctx context.Context) *redis.PubSub {
	return r.rdb.Subscribe(ctx, EventsChannel)
}

// AddToOwnerList adds commands that put a job into its owner's list, renew the list, and remember the
// owner.
func (r *Records) AddToOwnerList(ctx context.Context, p redis.Pipeliner, owner, id string) {
	r.renewOwnerList(ctx, p, owner, id)
	p.SAdd(ctx, OwnersKey, owner)
}

// renewOwnerList adds commands that put a job into its owner's list and renew the list.
func (r *Records) renewOwnerList(ctx context.Context, p redis.Pipeliner, owner, id string) {
	p.ZAdd(ctx, OwnerKey(owner), redis.Z{Member: id})
	p.Expire(ctx, OwnerKey(owner), r.listTTL())
}

// listTTL is the life of an owner's list. It is longer than that of the records in the list, even if a job ends
// just before the list expires.
func (r *Records) listTTL() time.Duration { return 2 * r.ttl }

// Renew keeps the record of an open job for another ttl, and the job in its owner's list.
func (r *Records) Renew(ctx context.Context, job *Stored) error {
	_, err := r.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, key := range keysOf(job.ID) {
			p.PExpire(ctx, key, r.ttl)
		}
		r.renewOwnerList(ctx, p, job.Owner, job.ID)

		return nil
	})
	if err != nil {
		return Unavailable(err)
	}

	return nil
}
