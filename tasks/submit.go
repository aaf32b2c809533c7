package tasks

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"
	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/internal/fault"
)

const (
	idempotencyTTL = 24 * time.Hour
	// enqueueTimeout bounds the second half of a submission, which the caller's
	// leaving does not end.
	enqueueTimeout = 2 * time.Second
	// openInList is how long a job may be open and still be in its owner's list for as long as its record lives.
	openInList = 7 * 24 * time.Hour
	// trimEvery is how many submissions pass between two trimmings of an owner's
	// list.
	trimEvery = 256
)

// Reserve is the first half of Submit, for callers that store something under
// the job's id before they submit it. It refuses what a full queue would refuse
// and binds the idempotency key: s.ID becomes the id that the job will have,
// which is an earlier request's when that one died before it had made the job.
// When the key has a job already, that job is returned and there is nothing to
// submit. Of s.Task only the queue is read.
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

// Submit accepts a job for good: the record, which holds the whole task, is
// written before the task goes on the queue. When only the second step fails
// the job is accepted all the same, and the sweeper of a running worker puts its
// task on the queue: about 20 seconds after the submission, or else at one of its
// later looks, which are half a minute apart.
//
// An error means that the job was not accepted. After QueueUnavailable it may
// still exist, when only the answer was lost: with an idempotency key a second
// submission finds it, and puts right what the first left undone.
func (c *Client) Submit(ctx context.Context, s Submission) (rec Record, replayed bool, err error) {
	if err := s.check(); err != nil {
		return Record{}, false, err
	}

	if s.ContentType == presswork.PDF.ContentType() {
		s.ContentType = "" // most are, and a record takes memory
	}

	if !s.reserved {
		rec, replayed, err := c.Reserve(ctx, &s)
		if err != nil || replayed {
			return rec, replayed, err
		}
	}

	job, made, err := c.accept(ctx, s)
	if err != nil {
		return Record{}, false, err
	}

	if made != earlier {
		c.metrics.accepted.WithLabelValues(string(s.Kind)).Inc()
	}

	switch made {
	case earlier:
		return job.Record, true, c.repair(ctx, job)
	case recorded:
		c.enqueue(ctx, s.Owner, s.ID, s.Task)
	}

	return job.Record, false, nil
}

// acceptance is how far a submission has come.
type acceptance int

const (
	earlier  acceptance = iota // the job was there
	recorded                   // it has a record
	queued                     // and its task is on the queue
)

// enqueue puts the task of an accepted job on its queue. A failure is the
// sweeper's to mend.
func (c *Client) enqueue(ctx context.Context, owner, id string, t Task) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), enqueueTimeout)
	defer cancel()

	if err := c.outbox.enqueueJob(ctx, owner, id, t); err != nil {
		c.log.Warn("an accepted job is not on the queue yet; the sweeper will put it there", "job_id", id, "err", err)
	}
}

func (s Submission) check() error {
	switch {
	case s.Task.Kind == "" || s.Task.Queue == "":
		return errors.New("submission has no task")
	case s.Task.Retries < 1:
		// Asynq archives a crashed task that has no retry left.
		return fmt.Errorf("task kind %s allows no retry", s.Task.Kind)
	}

	return nil
}

// claim binds the idempotency key to the job's id, or returns the id that an
// earlier submission bound it to.
func (c *Client) claim(ctx context.Context, s Submission) (id string, claimed bool, err error) {
	key := idempotencyKey(s.Owner, s.IdempotencyKey)
	var fresh *redis.BoolCmd
	var bound *redis.StringCmd

	_, err = c.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		fresh = p.SetNX(ctx, key, s.ID+" "+s.Fingerprint, idempotencyTTL)
		bound = p.Get(ctx, key)

		return nil
	})
	if err != nil {
		return "", false, unavailable(err)
	}
	id, err = boundID(bound.Val(), s.Fingerprint, s.Alike)

	return id, fresh.Val(), err
}

// boundID reads what an idempotency key is bound to, for a request with any of some fingerprints.
func boundID(value string, fingerprints ...string) (string, error) {
	id, first, _ := strings.Cut(value, " ")
	if !slices.Contains(fingerprints, first) {
		return "", fault.Errorf(fault.IdempotencyConflict,
			"this Idempotency-Key was used for another request within the last 24 hours; use a new key")
	}

	return id, nil
}

// Replay looks an idempotency key up before the work of a submission is done.
// Errors: IdempotencyConflict, QueueUnavailable.
func (c *Client) Replay(ctx context.Context, owner, key, fingerprint string) (rec Record, found bool, err error) {
	value, err := c.rdb.Get(ctx, idempotencyKey(owner, key)).Result()
	if errors.Is(err, redis.Nil) {
		return Record{}, false, nil
	}

	if err != nil {
		return Record{}, false, unavailable(err)
	}

	id, err := boundID(value, fingerprint)
	if err != nil {
		return Record{}, false, err
	}
	job, err := c.replayed(ctx, id)

	return recordOf(job), job != nil && err == nil, err
}

// replayed returns the job that an idempotency key is bound to, with everything
// that accepting it takes; nil when it was never written.
func (c *Client) replayed(ctx context.Context, id string) (*stored, error) {
	job, err := c.records.read(ctx, id)
	if err != nil || job == nil {
		return nil, err
	}

	return job, c.repair(ctx, job)
}

func recordOf(job *stored) Record {
	if job == nil {
		return Record{}
	}

	return job.Record
}

// repair gives an existing job what its submission may have left undone: the
// entry in the ledger, the place in the owner's list, the task.
func (c *Client) repair(ctx context.Context, job *stored) error {
	if job.Status.Terminal() {
		return nil
	}

	_, err := c.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		c.openLedger(ctx, p, job.ID)
		c.records.list(ctx, p, job.Owner, job.ID)
		p.SAdd(ctx, ownersKey, job.Owner)

		return nil
	})
	if err != nil {
		return unavailable(err)
	}

	t, err := c.records.task(ctx, job.ID)
	if err != nil || t.Kind == "" {
		return err
	}
	c.enqueue(ctx, job.Owner, job.ID, t)

	return nil
}

// accept writes the ledger entry, the record and the owner's list in this order,
// so that no record is ever unknown to the sweeper, and puts the task of a job that
// is certainly new on the queue. One Redis takes all of it in one round trip. The
// shards of a cluster get their parts of a pipeline at the same time, so there
// ledger and task have round trips of their own.
func (c *Client) accept(ctx context.Context, s Submission) (job *stored, made acceptance, err error) {
	at := c.clock.Now()
	trim, isNew := c.trimDue(), c.ownerIsNew(s.Owner)
	args := c.records.createArgs(s, at, isNew)
	keys := keysOf(s.ID)

	_, cluster := c.rdb.(*redis.ClusterClient)
	switch {
	case cluster:
		if err := c.openLedger(ctx, c.rdb, s.ID).Err(); err != nil {
			return nil, earlier, unavailable(err)
		}
	default:
		keys = append(keys, ledgerKey, ownerKey(s.Owner))
		if s.IdempotencyKey != "" {
			break // the job may be there already
		}

		task, err := c.outbox.hold(ctx, s.Owner, s.ID, s.Task)
		if err != nil {
			return nil, earlier, err
		}
		taskKeys, argv := task.Args()
		keys, args = append(keys, taskKeys...), append(args, argv...)
	}

	var create *redis.Cmd
	list := new(redis.IntCmd)
	write := func(run func(*redis.Script, context.Context, redis.Scripter, []string, ...any) *redis.Cmd) error {
		_, err := c.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
			create = run(createScript, ctx, p, keys, args...)
			if cluster {
				list = p.ZAdd(ctx, ownerKey(s.Owner), redis.Z{Member: s.ID})
			}

			if isNew {
				p.SAdd(ctx, ownersKey, s.Owner)
			}

			if isNew && cluster {
				p.Expire(ctx, ownerKey(s.Owner), c.records.listTTL())
			}

			if trim {
				p.ZRemRangeByLex(ctx, ownerKey(s.Owner), "-", "("+firstID(at.Add(-c.records.ttl-openInList)))
			}

			return nil
		})

		return err
	}

	err = write((*redis.Script).EvalSha)
	if redis.HasErrorPrefix(create.Err(), "NOSCRIPT") {
		// It is sent whole rather than loaded, which a cluster would want from
		// all its shards.
		err = write((*redis.Script).Eval)
	}

	if err != nil {
		c.forgetOwner(s.Owner)
	}
	// The other commands are repeated with a later submission.
	if err := cmp.Or(create.Err(), list.Err()); err != nil {
		return nil, earlier, unavailable(err)
	}

	switch n, _ := create.Int(); n {
	case 1:
		return newRecord(s, at), recorded, nil
	case 2:
		return newRecord(s, at), queued, nil
	}

	job, err = c.records.read(ctx, s.ID)
	if err == nil && job == nil {
		err = unavailable(errGone)
	}

	return job, earlier, err
}

// openLedger puts a job into the ledger, if it is not there. The script goes whole: it
// is short, and a digest that Redis does not know would leave the record alone.
func (c *Client) openLedger(ctx context.Context, r redis.Scripter, id string) *redis.Cmd {
	return openScript.Eval(ctx, r, []string{ledgerKey}, id, firstLook.Milliseconds())
}

// ownerAgain is how often submissions add their owner to the set of all owners and renew the owner's
// list: much more often than the list expires.
const ownerAgain = time.Hour

// ownerIsNew reports whether that is due: at the owner's first submission here, and again after ownerAgain.
func (c *Client) ownerIsNew(owner string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()

	if c.submitted%trimEvery == 1 {
		clear(c.owners)
	}

	told, known := c.owners[owner]
	if known && time.Since(told) < min(ownerAgain, c.records.ttl/2) {
		return false
	}
	c.owners[owner] = time.Now()

	return true
}

// forgetOwner makes ownerIsNew report true again.
func (c *Client) forgetOwner(owner string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.owners, owner)
}

func (c *Client) trimDue() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.submitted++

	return c.submitted%trimEvery == 1
}

// firstID is the smallest job id of a moment.
func firstID(t time.Time) string {
	var id ulid.ULID
	if err := id.SetTime(ulid.Timestamp(t)); err != nil {
		return ""
	}

	return id.String()
}
