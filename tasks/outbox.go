package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/tasks/asynqext"
	"presswork/tasks/clock"
	"presswork/tasks/record"
)

const (
	// timeoutMargin is added to Asynq's time-out, so that the handler's own deadline ends it first.
	timeoutMargin = 30 * time.Second
	// retryHeadroom is added to the retries of a kind. Asynq archives a task at its MaxRetry, also for tries
	// that do not count. Server.process applies the real limit.
	retryHeadroom = 25
	// webhookIDTTL is how long Asynq keeps the id of a delivered webhook's task. While it does, settling the
	// job again queues no second webhook.
	webhookIDTTL = time.Hour
)

// plainOwner is the owner of calls that no key pays for: those of Client.Ask.
const plainOwner = "presswork:plain"

// outbox puts tasks on the queue, and settles jobs that have ended. Client and Server have one each, with the same
// code, so that either can complete the work of the other.
type outbox struct {
	rdb         redis.UniversalClient
	records     *record.Records
	clock       *clock.Clock
	asynq       *asynq.Client
	webhookData func(Record) any
	// discard and discardSources are Options.Discard and Options.DiscardSources.
	discard        func(context.Context, Record) error
	discardSources func(ctx context.Context, jobID string) error
	// deadTTL is how long dead letters are kept.
	deadTTL time.Duration
	log     *slog.Logger
}

// newOutbox returns an outbox with the options of its client or server.
func newOutbox(rdb redis.UniversalClient, recs *record.Records, now *clock.Clock, o Options) *outbox {
	return &outbox{
		rdb:            rdb,
		records:        recs,
		clock:          now,
		asynq:          asynq.NewClientFromRedisClient(rdb),
		webhookData:    o.WebhookData,
		discard:        o.Discard,
		discardSources: o.DiscardSources,
		deadTTL:        o.Records,
		log:            o.Log,
	}
}

// enqueue puts a task on its queue with this turn. It succeeds when the queue already has a task with this id, so
// it may be repeated. Errors: QueueUnavailable.
func (o *outbox) enqueue(ctx context.Context, turn asynqext.Turn, id string, t Task, opts ...asynq.Option) error {
	ctx = asynqext.WithTurn(ctx, turn)
	opts = append(opts, asynq.TaskID(id), asynq.Queue(string(t.Queue)),
		asynq.MaxRetry(t.Retries+retryHeadroom), asynq.Timeout(max(t.Timeout, time.Second)+timeoutMargin))

	_, err := o.asynq.EnqueueContext(ctx, asynq.NewTask(t.Kind, t.Payload), opts...)
	if err != nil && !errors.Is(err, asynq.ErrTaskIDConflict) {
		return record.Unavailable(err)
	}

	return nil
}

// enqueueJob queues the task of a job. The payload stays in the job's record.
func (o *outbox) enqueueJob(ctx context.Context, owner, id string, t Task) error {
	t.Kind, t.Payload = record.TaskPrefix+t.Kind, nil
	return o.enqueue(ctx, asynqext.Turn{Owner: owner}, id, t)
}

// holdTask prepares the task of a job without queueing it. The caller queues the held task in a script with
// other commands.
func (o *outbox) holdTask(ctx context.Context, owner, id string, t Task) (*asynqext.Held, error) {
	held := new(asynqext.Held)
	return held, o.enqueueJob(held.Hold(ctx), owner, id, t)
}

// settle does the remaining work after a job's end. It queues the webhook and deletes objects that the job must
// not have: its artifact, or the sources of a cancelled job. Then it removes the job from the ledger. The sweeper
// repeats it until all is done.
func (o *outbox) settle(ctx context.Context, r *record.Stored) error {
	if r.Settled {
		return nil
	}

	if r.WebhookURL != "" {
		if err := o.enqueueWebhook(ctx, r, webhookTask(r.ID)); err != nil {
			return err
		}
	}

	if err := o.deleteObjects(ctx, r); err != nil {
		return err
	}

	if r.Status == presswork.Cancelled {
		if err := o.discardSources(ctx, r.ID); err != nil {
			return fmt.Errorf("the sources of job %s could not be deleted: %w", r.ID, err)
		}
	}

	if r.Status == presswork.Failed {
		if err := o.settleFailed(ctx, r); err != nil {
			return err
		}
	}

	return o.records.MarkSettled(ctx, r.ID)
}

// enqueueWebhook queues the webhook of a job as a task with this id. It does nothing if Asynq still has the id, which
// Asynq keeps for webhookIDTTL after the delivery.
func (o *outbox) enqueueWebhook(ctx context.Context, r *record.Stored, task string) error {
	body, err := o.webhookBody(r)
	if err != nil {
		return err
	}

	t, err := DeliverWebhook.Task(Webhook{
		MessageID: messagePrefix + r.ID, URL: r.WebhookURL, Body: string(body), CreatedAt: o.clock.Now(),
	})
	if err != nil {
		return err
	}

	return o.enqueue(ctx, asynqext.Turn{Owner: r.Owner}, task, t, asynq.Retention(webhookIDTTL))
}

// settleFailed makes a failed job a dead letter. If the caller caused the failure, a retry would fail in the same way,
// so settleFailed deletes the job's task and sources instead.
func (o *outbox) settleFailed(ctx context.Context, r *record.Stored) error {
	if causeOf(&r.Record) != ByCaller {
		return o.addDeadLetter(ctx, r.ID)
	}

	if err := o.discardSources(ctx, r.ID); err != nil {
		return fmt.Errorf("the sources of job %s could not be deleted: %w", r.ID, err)
	}

	if err := o.rdb.Del(ctx, record.PayloadKey(r.ID)).Err(); err != nil {
		return record.Unavailable(err)
	}

	return nil
}

// deleteObjects deletes the objects that runs may have stored for a job that ended without an artifact.
func (o *outbox) deleteObjects(ctx context.Context, r *record.Stored) error {
	if r == nil || r.Attempts == 0 || r.Status != presswork.Failed && r.Status != presswork.Cancelled {
		return nil
	}

	if err := o.discard(ctx, r.Record); err != nil {
		return fmt.Errorf("the objects of job %s could not be deleted: %w", r.ID, err)
	}

	return nil
}

// settleSoon settles a job and logs a failure: the sweeper repeats it.
func (o *outbox) settleSoon(ctx context.Context, r *record.Stored) {
	if err := o.settle(ctx, r); err != nil {
		o.log.Warn("settling a finished job failed; the sweeper will repeat it", "job_id", r.ID, "err", err)
	}
}

// webhookBody returns the body of the webhook about the end of a job.
func (o *outbox) webhookBody(r *record.Stored) ([]byte, error) {
	b, err := json.Marshal(struct {
		Type      string    `json:"type"`
		Timestamp time.Time `json:"timestamp"`
		Data      any       `json:"data"`
	}{"job." + string(r.Status), r.EndedAt(), o.webhookData(r.Record)})
	if err != nil {
		return nil, fmt.Errorf("webhook body of job %s: %w", r.ID, err)
	}

	return b, nil
}

// endJob writes a terminal state on behalf of no run, and settles the job. Errors: those of record.Records.Finish.
func (o *outbox) endJob(ctx context.Context, id string, e record.Ending) (*record.Stored, error) {
	e.Nonce = NewID()

	rec, err := o.records.Finish(ctx, id, e)
	if err != nil {
		return rec, err
	}

	ctx, cancel := context.WithTimeout(ctx, settleTimeout)
	defer cancel()
	o.settleSoon(ctx, rec)

	return rec, nil
}
