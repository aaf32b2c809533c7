package tasks

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/hibiken/asynq"
	"github.com/oklog/ulid/v2"
	"github.com/redis/go-redis/v9"

	"presswork"
)

const (
	idempotencyTTL = 24 * time.Hour
	// fullnessAge is how old the known length of a queue may be when a
	// submission is admitted by it.
	fullnessAge = 100 * time.Millisecond
	// enqueueTimeout bounds the second half of a submission, which the caller's
	// leaving does not end.
	enqueueTimeout = 2 * time.Second
	// trimEvery is how many submissions pass between two trimmings of an owner's
	// list.
	trimEvery = 256
)

// Client is the queue as the API sees it (api.Queue). All its methods may be
// used concurrently.
type Client struct {
	rdb        redis.UniversalClient
	records    *records
	outbox     *outbox
	inspector  *asynq.Inspector
	relay      *relay
	calls      *callRelay
	maxPending int64
	log        *slog.Logger

	mu        sync.Mutex
	fullness  map[Queue]fullness
	submitted int
}

// fullness is how many tasks waited in a queue, and when.
type fullness struct {
	pending int64
	at      time.Time
}

// NewClient makes a client for a Redis address (see Dial). It does not connect.
func NewClient(address string, o Options) (*Client, error) {
	o, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	rdb, err := Dial(address, 0)
	if err != nil {
		return nil, err
	}
	rdb.AddHook(&volatileTickets{})
	rdb.AddHook(&lines{rdb: rdb})
	recs := &records{rdb: rdb, ttl: o.Retention + afterRetention}
	c := &Client{
		rdb:        rdb,
		records:    recs,
		outbox:     &outbox{rdb: rdb, asynq: asynq.NewClientFromRedisClient(rdb), webhookData: o.WebhookData, log: o.Log},
		inspector:  asynq.NewInspectorFromRedisClient(rdb),
		relay:      newRelay(recs, o.Log),
		calls:      newCallRelay(rdb, o.Log),
		maxPending: o.MaxPending,
		log:        o.Log,
		fullness:   map[Queue]fullness{},
	}
	c.calls.issue = c.issue
	return c, nil
}

// Start begins relaying events to watchers and frames to callers.
func (c *Client) Start(context.Context) error {
	c.relay.start()
	c.calls.start()
	return nil
}

// Stop ends every watch and every answer and closes the connections.
func (c *Client) Stop(context.Context) error {
	c.relay.stop()
	c.calls.stop()
	if err := c.rdb.Close(); err != nil && !errors.Is(err, redis.ErrClosed) {
		return err
	}
	return nil
}

// Submit accepts a job for good: the record, which holds the whole task, is
// written before the task goes on the queue. When only the second step fails
// the job is accepted all the same, and the sweeper of a running worker puts its
// task on the queue: about 20 seconds after the submission, or else at one of its
// later looks, which are half a minute apart.
//
// An error means that the job was not accepted. After QueueUnavailable it may
// still exist, when only the answer was lost: with an idempotency key a second
// submission finds it.
func (c *Client) Submit(ctx context.Context, s Submission) (rec Record, replayed bool, err error) {
	if err := s.check(); err != nil {
		return Record{}, false, err
	}
	if s.IdempotencyKey != "" {
		id, claimed, err := c.claim(ctx, s)
		if err != nil {
			return Record{}, false, err
		}
		if !claimed {
			earlier, err := c.records.read(ctx, id)
			if err != nil {
				return Record{}, false, err
			}
			if earlier != nil {
				return earlier.Record, true, nil
			}
			// The first submission died between claiming the key and writing the
			// record, or is about to write it: both make the same job.
			s.ID = id
		}
	}
	if err := c.admit(ctx, s.Task.Queue); err != nil {
		return Record{}, false, err
	}
	job, created, err := c.accept(ctx, s)
	if err != nil {
		return Record{}, false, err
	}
	if !created {
		return job.Record, true, nil
	}
	ectx, cancel := context.WithTimeout(context.WithoutCancel(ctx), enqueueTimeout)
	defer cancel()
	if err := c.outbox.enqueue(ectx, s.Owner, s.ID, s.Task); err != nil {
		c.log.Warn("an accepted job is not on the queue yet; the sweeper will put it there", "job_id", s.ID, "err", err)
	}
	return job.Record, false, nil
}

// Enqueue puts a task that belongs to no job on its queue, under an id of the
// caller's; one with that id that waits or runs already is success. The task is
// lost with the queue. Errors: QueueFull, QueueUnavailable.
func (c *Client) Enqueue(ctx context.Context, id string, t Task) error {
	if err := c.admit(ctx, t.Queue); err != nil {
		return err
	}
	return c.outbox.enqueue(ctx, plainOwner, id, t)
}

func (s Submission) check() error {
	switch {
	case !ValidID(s.ID):
		return fmt.Errorf("submission id %q is not from NewID", s.ID)
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
	id, err = boundID(bound.Val(), s.Fingerprint)
	return id, fresh.Val(), err
}

// boundID reads what an idempotency key is bound to.
func boundID(value, fingerprint string) (string, error) {
	id, first, _ := strings.Cut(value, " ")
	if first != fingerprint {
		return "", presswork.Errorf(presswork.IdempotencyConflict,
			"this Idempotency-Key was used for another request within the last 24 hours; use a new key")
	}
	return id, nil
}

// Replay looks an idempotency key up before the work of a submission is done.
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
	job, err := c.records.read(ctx, id)
	if err != nil || job == nil {
		return Record{}, false, err
	}
	return job.Record, true, nil
}

// admit refuses a submission to a full queue, by a length that is at most
// fullnessAge old.
func (c *Client) admit(ctx context.Context, q Queue) error {
	if c.maxPending < 0 {
		return nil
	}
	c.mu.Lock()
	known := c.fullness[q]
	stale := time.Since(known.at) > fullnessAge
	if stale {
		// The others go on with the old figure while this one asks.
		c.fullness[q] = fullness{known.pending, time.Now()}
	}
	c.mu.Unlock()
	if stale {
		n, err := c.rdb.LLen(ctx, asynqPending(q)).Result()
		if err != nil {
			return unavailable(err)
		}
		known.pending = n
		c.mu.Lock()
		c.fullness[q] = fullness{n, time.Now()}
		c.mu.Unlock()
	}
	if known.pending >= c.maxPending {
		return presswork.Errorf(presswork.QueueFull, "%d jobs are waiting already; try again later", known.pending)
	}
	return nil
}

// accept writes the ledger entry, the record and the owner's list in one round
// trip and in this order, so that no record is ever unknown to the sweeper and
// no listed id without a record. created is false when the record existed.
func (c *Client) accept(ctx context.Context, s Submission) (job *stored, created bool, err error) {
	at := now()
	args := c.records.createArgs(s, at)
	trim := c.trimDue()
	var create *redis.Cmd
	write := func(p redis.Pipeliner) error {
		p.ZAdd(ctx, ledgerKey, redis.Z{Score: float64(at.Add(firstLook).UnixMilli()), Member: s.ID})
		create = createScript.EvalSha(ctx, p, []string{jobKey(s.ID), logKey(s.ID)}, args...)
		p.ZAdd(ctx, ownerKey(s.Owner), redis.Z{Member: s.ID})
		// Outlives the record of this job, even when the job ends at its very last.
		p.Expire(ctx, ownerKey(s.Owner), 2*c.records.ttl)
		if trim {
			p.ZRemRangeByLex(ctx, ownerKey(s.Owner), "-", "("+firstID(at.Add(-c.records.ttl)))
		}
		return nil
	}
	_, err = c.rdb.Pipelined(ctx, write)
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		if err = createScript.Load(ctx, c.rdb).Err(); err == nil {
			_, err = c.rdb.Pipelined(ctx, write)
		}
	}
	if err != nil {
		return nil, false, unavailable(err)
	}
	if n, _ := create.Int(); n == 1 {
		return newRecord(s, at), true, nil
	}
	job, err = c.records.read(ctx, s.ID)
	if err == nil && job == nil {
		err = unavailable(errGone)
	}
	return job, false, err
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

// Job returns a job, with its queue position.
func (c *Client) Job(ctx context.Context, id string) (Record, error) {
	job, err := c.find(ctx, id)
	if err != nil {
		return Record{}, err
	}
	if err := c.place(ctx, []*stored{job}); err != nil {
		return Record{}, err
	}
	return job.Record, nil
}

func (c *Client) find(ctx context.Context, id string) (*stored, error) {
	if !ValidID(id) {
		return nil, notFound(id)
	}
	job, err := c.records.read(ctx, id)
	if err == nil && job == nil {
		err = notFound(id)
	}
	return job, err
}

func notFound(id string) error {
	return presswork.Errorf(presswork.NotFound, "there is no job %q", id)
}

// Cancel ends a job that is not terminal. A worker that runs it learns of it
// within a second, and can no longer complete it from this moment on.
func (c *Client) Cancel(ctx context.Context, id string) (Record, error) {
	if !ValidID(id) {
		return Record{}, notFound(id)
	}
	job, err := c.outbox.end(ctx, c.records, id, ending{status: presswork.Cancelled, message: "cancelled by request"})
	if errors.Is(err, errGone) {
		return Record{}, notFound(id)
	}
	if ended, ok := errors.AsType[endedError](err); ok {
		return job.Record, presswork.Errorf(presswork.JobFinished, "the job is %s already", ended.status)
	}
	if err != nil {
		return Record{}, err
	}
	// Best effort: a worker that takes the task anyway finds the job cancelled.
	if err := c.inspector.DeleteTask(string(job.queue), id); err != nil {
		c.log.Debug("the task of a cancelled job stays on the queue", "job_id", id, "err", err)
	}
	return job.Record, nil
}
