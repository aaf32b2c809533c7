package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/internal/fault"
	"presswork/tasks/asynqext"
	"presswork/tasks/clock"
)

const (
	// firstLook is when the sweeper first looks at a new job: long after a
	// submission has put the task on the queue, or died.
	firstLook = 15 * time.Second
	// timeoutMargin lets a handler end by its own deadline before Asynq gives
	// up on it.
	timeoutMargin = 30 * time.Second
	// retryHeadroom keeps Asynq from archiving: it does so at its own limit even
	// for a try that does not count. Ours is in process.
	retryHeadroom = 25
	// webhookMemory is how long a delivered webhook's task id stays taken, so
	// that a second settling of its job adds no second one.
	webhookMemory = time.Hour
)

// plainOwner is the owner of calls that no key pays for: those of Client.Ask.
const plainOwner = "presswork:plain"

// outbox puts tasks on the queue, and keeps the ledger of jobs that are not
// settled.
type outbox struct {
	rdb         redis.UniversalClient
	clock       *clock.Clock
	asynq       *asynq.Client
	webhookData func(Record) any
	discard     func(context.Context, Record) error
	sources     func(context.Context, string) error
	// kept is how long dead letters are.
	kept time.Duration
	log  *slog.Logger
}

func newOutbox(rdb redis.UniversalClient, now *clock.Clock, o Options) *outbox {
	return &outbox{
		rdb: rdb, clock: now, asynq: asynq.NewClientFromRedisClient(rdb),
		webhookData: o.WebhookData, discard: o.Discard, sources: o.DiscardSources, kept: o.Records, log: o.Log,
	}
}

// enqueue puts a task on its queue; it succeeds when the task is there already.
func (o *outbox) enqueue(ctx context.Context, place asynqext.Place, id string, t Task, opts ...asynq.Option) error {
	ctx = asynqext.WithPlace(ctx, place)
	opts = append(opts, asynq.TaskID(id), asynq.Queue(string(t.Queue)),
		asynq.MaxRetry(t.Retries+retryHeadroom), asynq.Timeout(max(t.Timeout, time.Second)+timeoutMargin))

	_, err := o.asynq.EnqueueContext(ctx, asynq.NewTask(t.Kind, t.Payload), opts...)
	if err != nil && !errors.Is(err, asynq.ErrTaskIDConflict) {
		return unavailable(err)
	}

	return nil
}

// ofJob is what the names of tasks begin with whose payload is in the record of
// their job, so that Redis holds it once. A worker that does not know the form
// leaves the task to one that does.
const ofJob = "job:"

// IsJob reports whether the payload of a task of this type is at PayloadKey.
func IsJob(kind string) bool { return strings.HasPrefix(kind, ofJob) }

// enqueueJob is enqueue for the task of a job.
func (o *outbox) enqueueJob(ctx context.Context, owner, id string, t Task) error {
	t.Kind, t.Payload = ofJob+t.Kind, nil
	return o.enqueue(ctx, asynqext.Place{Owner: owner}, id, t)
}

// hold prepares what enqueueJob does, to go with other commands.
func (o *outbox) hold(ctx context.Context, owner, id string, t Task) (*asynqext.Held, error) {
	held := new(asynqext.Held)
	return held, o.enqueueJob(held.Hold(ctx), owner, id, t)
}

// settle does what remains after a job's end: its webhook goes on the queue, an
// artifact that it shall not have and the sources of a cancelled job are deleted, then the job leaves the ledger.
// Until all is done the sweeper repeats it.
func (o *outbox) settle(ctx context.Context, r *stored) error {
	if r.settled {
		return nil
	}

	if r.WebhookURL != "" {
		body, err := o.webhookBody(r)
		if err != nil {
			return err
		}

		t, err := DeliverWebhook.Task(Webhook{
			MessageID: "msg_" + r.ID, URL: r.WebhookURL, Body: string(body), CreatedAt: o.clock.Now(),
		})
		if err != nil {
			return err
		}

		if err := o.enqueue(
			ctx,
			asynqext.Place{Owner: r.Owner},
			webhookTask(r.ID),
			t,
			asynq.Retention(webhookMemory),
		); err != nil {
			return err
		}
	}

	if err := o.clear(ctx, r); err != nil {
		return err
	}

	if r.Status == presswork.Cancelled {
		if err := o.sources(ctx, r.ID); err != nil {
			return fmt.Errorf("the sources of job %s could not be deleted: %w", r.ID, err)
		}
	}

	if r.Status == presswork.Failed {
		if err := o.bury(ctx, r.ID); err != nil {
			return err
		}
	}

	_, err := o.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		p.ZRem(ctx, ledgerKey, r.ID)
		p.ZAdd(ctx, settledKey, redis.Z{Score: float64(o.clock.Now().Add(packAfter).UnixMilli()), Member: r.ID})

		return nil
	})
	if err != nil {
		return unavailable(err)
	}

	return nil
}

// clear deletes what runs may have stored for a job that ended without an
// artifact.
func (o *outbox) clear(ctx context.Context, r *stored) error {
	if r == nil || r.Attempts == 0 || r.Status != presswork.Failed && r.Status != presswork.Cancelled {
		return nil
	}

	if err := o.discard(ctx, r.Record); err != nil {
		return fmt.Errorf("what job %s has stored could not be deleted: %w", r.ID, err)
	}

	return nil
}

// settleSoon is settle where a failure need not stop the caller.
func (o *outbox) settleSoon(ctx context.Context, r *stored) {
	if err := o.settle(ctx, r); err != nil {
		o.log.Warn("settling a finished job failed; the sweeper will repeat it", "job_id", r.ID, "err", err)
	}
}

func (o *outbox) webhookBody(r *stored) ([]byte, error) {
	at := r.updated
	if r.FinishedAt != nil {
		at = *r.FinishedAt
	}

	b, err := json.Marshal(struct {
		Type      string    `json:"type"`
		Timestamp time.Time `json:"timestamp"`
		Data      any       `json:"data"`
	}{"job." + string(r.Status), at, o.webhookData(r.Record)})
	if err != nil {
		return nil, fmt.Errorf("webhook body of job %s: %w", r.ID, err)
	}

	return b, nil
}

// end writes a terminal state that no run wrote, and settles the job.
func (o *outbox) end(ctx context.Context, recs *records, id string, e ending) (*stored, error) {
	e.nonce = NewID()

	rec, err := recs.finish(ctx, id, e)
	if err != nil {
		return rec, err
	}

	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	o.settleSoon(ctx, rec)

	return rec, nil
}

// failed is the end of a job that went wrong.
func failed(fence, nonce string, e *fault.Error) ending {
	return ending{fence: fence, nonce: nonce, status: presswork.Failed, message: e.Message, err: e}
}
