package record

import (
	"cmp"
	"context"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/internal/fault"
	"presswork/tasks/asynqext"
)

const (
	// openInList is added to the life of a record when an owner's list is trimmed. A job that was open for at most
	// this time is therefore listed until its record expires.
	openInList = 7 * 24 * time.Hour
	// trimEvery is the number of submissions between two trims of an owner's list.
	trimEvery = 256
	// renewOwnerEvery is how often submissions add their owner to the set of owners and renew the
	// owner's list. It is much shorter than the life of the list.
	renewOwnerEvery = time.Hour
	// waitingMessage is the message of the first event.
	waitingMessage = "waiting for a worker"
)

// Creation is how much of a submission Create has written.
type Creation int

// The results of Create.
const (
	// JobExisted means that the job existed.
	JobExisted Creation = iota
	// OnlyRecorded means that the job has a record; its task is not on the queue.
	OnlyRecorded
	// Queued means that the job's task is also on its queue.
	Queued
)

// newStored returns the record of a submission as createScript writes it. Create returns it for a new job, so that
// no second read is needed.
func newStored(rec Record, q Queue, at time.Time) *Stored {
	return &Stored{
		Queue: q, message: waitingMessage, updated: at,
		Record: Record{
			Owner:       rec.Owner,
			Filename:    rec.Filename,
			ContentType: rec.ContentType,
			WebhookURL:  rec.WebhookURL,
			RequestID:   rec.RequestID,
			TraceParent: rec.TraceParent,
			Job: presswork.Job{
				ID: rec.ID, Kind: rec.Kind, Status: presswork.Queued, Stage: presswork.StageQueued, Seq: 1,
				Theme: rec.Theme, CreatedAt: at, Warnings: []fault.Warning{},
			},
		},
	}
}

// createFixed is the number of createScript's arguments before the field-value pairs. The last of them is twice the
// number of pairs.
const createFixed = 8

// createArgs returns the arguments of createScript: the record with the whole task, so that the
// sweeper can queue a lost task again. The nonce in them belongs to one submission.
func (r *Records) createArgs(rec Record, t Task, at time.Time, renewList bool) []any {
	listTTL := time.Duration(0)
	if renewList {
		listTTL = r.listTTL()
	}

	args := make([]any, 0, 32)
	args = append(args, stamp(at), waitingMessage, NewID(), rec.ID, firstSweep.Milliseconds(), t.Payload,
		listTTL.Milliseconds(), 0,
		fieldKind, string(rec.Kind), fieldTheme, rec.Theme)

	args = append(args, t.fields()...)

	for _, pair := range [][2]string{
		{fieldOwner, rec.Owner},
		{fieldFilename, rec.Filename},
		{fieldType, rec.ContentType},
		{fieldWebhook, rec.WebhookURL},
		{fieldRequestID, rec.RequestID},
		{fieldTraceParent, rec.TraceParent},
	} {
		if pair[1] != "" {
			args = append(args, pair[0], pair[1])
		}
	}
	args[createFixed-1] = len(args) - createFixed

	return args
}

// fields returns the fields of a task in the record of its job, without the payload.
func (t Task) fields() []any {
	return []any{
		fieldTask, t.Kind, fieldQueue, string(t.Queue), fieldRetries, t.Retries, fieldTimeout, t.Timeout.Milliseconds(),
	}
}

// Create writes the ledger entry, the record and the owner's list, in this order. The sweeper therefore knows every
// record. rec has the values of the submission, t is the job's task. If hold is set, Create also queues the task
// that hold prepares. For a job that exists, Create returns it unchanged with JobExisted.
//
// A single Redis receives everything in one round trip. On a Cluster, the shards receive their parts of a pipeline
// at the same time. The ledger has its own round trip there, and hold is ignored.
//
// Errors: QueueUnavailable, and the error of hold.
func (r *Records) Create(
	ctx context.Context,
	rec Record,
	t Task,
	hold func(context.Context) (*asynqext.Held, error),
) (*Stored, Creation, error) {
	at := r.clock.Now()
	trim, renew := r.trimDue(), r.renewalDue(rec.Owner)
	args, keys := r.createArgs(rec, t, at, renew), keysOf(rec.ID)
	_, cluster := r.rdb.(*redis.ClusterClient)

	if cluster {
		if err := r.OpenLedger(ctx, r.rdb, rec.ID).Err(); err != nil {
			return nil, JobExisted, Unavailable(err)
		}
	} else {
		keys = append(keys, LedgerKey, OwnerKey(rec.Owner))

		if hold != nil {
			held, err := hold(ctx)
			if err != nil {
				return nil, JobExisted, err
			}
			taskKeys, argv := held.Args()
			keys, args = append(keys, taskKeys...), append(args, argv...)
		}
	}

	answer, err := r.write(ctx, rec, keys, args, listing{trim: trim, renew: renew, cluster: cluster, at: at})
	if err != nil {
		return nil, JobExisted, Unavailable(err)
	}

	switch answer { // see createScript
	case 1:
		return newStored(rec, t.Queue, at), OnlyRecorded, nil
	case 2:
		return newStored(rec, t.Queue, at), Queued, nil
	}

	job, err := r.Read(ctx, rec.ID)
	if err == nil && job == nil { // it has expired in between
		err = Unavailable(ErrGone)
	}

	return job, JobExisted, err
}

// listing describes what the write of a record changes in the list of its owner.
type listing struct {
	// trim removes the ids of expired records. renew extends the life of the list, and adds the owner to OwnersKey.
	trim, renew bool
	// cluster is set on a Redis Cluster, where createScript cannot write the list.
	cluster bool
	// at is when the job was created.
	at time.Time
}

// write runs createScript in one pipeline with the commands for the owner's list, and returns the
// script's answer.
func (r *Records) write(ctx context.Context, rec Record, keys []string, args []any, l listing) (int, error) {
	var created *redis.Cmd
	listed := new(redis.IntCmd) // stays without an error unless the list has its own command
	send := func(run func(*redis.Script, context.Context, redis.Scripter, []string, ...any) *redis.Cmd) error {
		_, err := r.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
			created = run(createScript, ctx, p, keys, args...)
			if l.cluster {
				listed = p.ZAdd(ctx, OwnerKey(rec.Owner), redis.Z{Member: rec.ID})
			}

			if l.renew {
				p.SAdd(ctx, OwnersKey, rec.Owner)
			}

			if l.renew && l.cluster {
				p.Expire(ctx, OwnerKey(rec.Owner), r.listTTL())
			}

			if l.trim {
				p.ZRemRangeByLex(ctx, OwnerKey(rec.Owner), "-", "("+FirstID(l.at.Add(-r.ttl-openInList)))
			}

			return nil
		})

		return err
	}

	err := send((*redis.Script).EvalSha)
	if redis.HasErrorPrefix(created.Err(), "NOSCRIPT") {
		// Send the whole script instead of loading it: a cluster would have to load it on all
		// shards.
		err = send((*redis.Script).Eval)
	}

	if err != nil {
		r.forgetOwner(rec.Owner)
	}
	// Ignore failures of the other commands: a later submission repeats them.
	if err := cmp.Or(created.Err(), listed.Err()); err != nil {
		return 0, err
	}

	return created.Int()
}

// renewalDue reports whether this submission renews the owner's list: at the owner's first submission to
// this process, and again after renewOwnerEvery.
func (r *Records) renewalDue(owner string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()

	if r.submitted%trimEvery == 1 { // bounds the memory of a process with many owners
		clear(r.owners)
	}

	renewed, known := r.owners[owner]
	if known && time.Since(renewed) < min(renewOwnerEvery, r.ttl/2) {
		return false
	}
	r.owners[owner] = time.Now()

	return true
}

// forgetOwner makes renewalDue report true for the owner's next submission.
func (r *Records) forgetOwner(owner string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.owners, owner)
}

// trimDue reports whether this submission trims its owner's list.
func (r *Records) trimDue() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.submitted++

	return r.submitted%trimEvery == 1
}
