package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/internal/fault"
	"presswork/tasks/clock"
)

// Why a run may no longer speak for its job. A run's context ends with one of
// them as its cause, and the methods of Run return them.
var (
	// ErrCancelled: the job was cancelled.
	ErrCancelled = errors.New("the job was cancelled")
	// ErrSuperseded: another run of the job has begun, or the job is finished or
	// gone.
	ErrSuperseded = errors.New("the job is no longer this run's")
	// errGone: there is no such record.
	errGone = errors.New("the job does not exist")
)

// endedError: the job is terminal already.
type endedError struct{ status presswork.Status }

func (e endedError) Error() string { return "the job is " + string(e.status) }

func refused(reason string) error {
	switch reason {
	case "":
		return nil
	case "gone":
		return errGone
	case "superseded":
		return ErrSuperseded
	}

	return endedError{presswork.Status(reason)}
}

// unavailable returns the public error for an outage of Redis.
func unavailable(err error) error {
	return fault.Errorf(fault.QueueUnavailable, "the queue is not available; try again shortly").WithCause(err)
}

// records holds the job records: reading, and one method per transition.
type records struct {
	rdb   redis.UniversalClient
	clock *clock.Clock
	// ttl is how long a record lives after its job's end. The sweeper gives it to the record of a job
	// that is open for long, and renews it.
	ttl time.Duration
	// metrics counts the ends that finish writes.
	metrics *Metrics
}

// list puts a job into its owner's list, and renews the list.
func (r *records) list(ctx context.Context, p redis.Pipeliner, owner, id string) {
	p.ZAdd(ctx, ownerKey(owner), redis.Z{Member: id})
	p.Expire(ctx, ownerKey(owner), r.listTTL())
}

// listTTL is how long an owner's list lives: longer than the records in it, also than that
// of a job that ends at its last moment.
func (r *records) listTTL() time.Duration { return 2 * r.ttl }

// renew keeps the record of an open job for another ttl, and the job in its owner's list.
func (r *records) renew(ctx context.Context, job *stored) error {
	_, err := r.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for _, key := range keysOf(job.ID) {
			p.PExpire(ctx, key, r.ttl)
		}
		r.list(ctx, p, job.Owner, job.ID)

		return nil
	})
	if err != nil {
		return unavailable(err)
	}

	return nil
}

// newRecord is the record of a submission as create writes it.
func newRecord(s Submission, at time.Time) *stored {
	return &stored{
		queue: s.Task.Queue, message: waiting, updated: at,
		Record: Record{
			Owner:       s.Owner,
			Filename:    s.Filename,
			ContentType: s.ContentType,
			WebhookURL:  s.WebhookURL,
			RequestID:   s.RequestID,
			TraceParent: s.TraceParent,
			Job: presswork.Job{
				ID: s.ID, Kind: s.Kind, Status: presswork.Queued, Stage: presswork.StageQueued, Seq: 1, Theme: s.Theme,
				CreatedAt: at, Warnings: []fault.Warning{},
			},
		},
	}
}

const waiting = "waiting for a worker"

// createFixed is the number of createScript's arguments before the pairs.
const createFixed = 8

// createArgs returns the arguments of createScript for a submission: the record with the
// whole task, so that the sweeper can put a lost one on the queue again. They hold a nonce
// of their own: one call is one submission.
func (r *records) createArgs(s Submission, at time.Time, renewList bool) []any {
	listTTL := time.Duration(0)
	if renewList {
		listTTL = r.listTTL()
	}

	args := make([]any, 0, 32)
	args = append(args, stamp(at), waiting, NewID(), s.ID, firstLook.Milliseconds(), s.Task.Payload,
		listTTL.Milliseconds(), 0,
		fieldKind, string(s.Kind), fieldTheme, s.Theme)

	args = append(args, s.Task.fields()...)
	for _, pair := range [][2]string{
		{fieldOwner, s.Owner},
		{fieldFilename, s.Filename},
		{fieldType, s.ContentType},
		{fieldWebhook, s.WebhookURL},
		{fieldRequestID, s.RequestID},
		{fieldTraceParent, s.TraceParent},
	} {
		if pair[1] != "" {
			args = append(args, pair[0], pair[1])
		}
	}
	args[createFixed-1] = len(args) - createFixed

	return args
}

// fields are a task's in the record of its job, all but the payload.
func (t Task) fields() []any {
	return []any{"task", t.Kind, fieldQueue, string(t.Queue), "retries", t.Retries, "timeout", t.Timeout.Milliseconds()}
}

// next makes another task the job's.
func (r *records) next(ctx context.Context, id, fence string, t Task) error {
	return r.apply(ctx, nextScript, id, append([]any{fence, t.Payload}, t.fields()...))
}

// begin starts an attempt of a kind of task and returns the fence it holds and the
// task's payload.
// Errors: errGone, endedError, ErrSuperseded when the job's task is of another
// kind by now, an outage.
func (r *records) begin(ctx context.Context, id, kind, worker string) (begun, error) {
	reply, err := r.run(ctx, beginScript, id, []any{stamp(r.clock.Now()), NewID(), kind, worker}).Slice()
	if err != nil {
		return begun{}, unavailable(err)
	}

	return readBegun(reply)
}

// begun is an attempt that has begun: the record as it is then, the fence it holds,
// and the payload of its task.
type begun struct {
	job     *stored
	fence   string
	payload []byte
}

// readBegun reads the answer of beginScript. Errors: as begin's, no outage.
func readBegun(reply []any) (b begun, err error) {
	if reason, _ := reply[0].(string); reason != "" || len(reply) < 4 {
		return begun{}, refused(reason)
	}
	b.fence, _ = reply[1].(string)
	values, _ := reply[2].([]any)
	text, _ := reply[3].(string)
	b.payload = []byte(text)
	b.job, err = decodeValues(values)

	return b, err
}

// ending is a terminal state to be written.
type ending struct {
	// fence is the run's; "" stands above all runs.
	fence string
	// nonce is the same when the same end is written again after an outage.
	nonce    string
	status   presswork.Status
	message  string
	artifact *presswork.Artifact
	cached   bool
	err      *fault.Error
	// before are reports of the run that go with its end.
	before []report
	// task are the keys of the task that ends with the job, where it is completed: see DoneKeys.
	task []string
}

// finish writes the terminal state, once per job: a second end is refused with
// endedError, and the job as it is. Errors: errGone, endedError, ErrSuperseded,
// an outage.
func (r *records) finish(ctx context.Context, id string, e ending) (*stored, error) {
	var extra []byte
	var pairs []any

	add := func(field string, v any) error {
		b, err := json.Marshal(v)
		extra = append(extra, `,"`+field+`":`...)
		extra = append(extra, b...)
		pairs = append(pairs, field, b)

		return err
	}
	if e.artifact != nil {
		if err := add(fieldArtifact, e.artifact); err != nil {
			return nil, err
		}
	}

	if e.err != nil {
		if err := add(fieldError, e.err); err != nil {
			return nil, err
		}
	}

	if e.cached {
		pairs = append(pairs, fieldCached, "1")
	}
	args := []any{
		e.fence, e.nonce, stamp(r.clock.Now()), string(e.status), e.message, extra, r.ttl.Milliseconds(),
		packAfter.Milliseconds(), len(pairs),
	}

	keys := keysOf(id)
	if _, cluster := r.rdb.(*redis.ClusterClient); !cluster {
		keys = append(append(keys, ledgerKey, settledKey), e.task...)
	}

	reply, err := finishScript.Run(ctx, r.rdb, keys, flat(append(args, pairs...), e.before)...).Slice()
	if err != nil {
		return nil, unavailable(err)
	}

	reason, _ := reply[0].(string)
	if len(reply) < 4 {
		// It may be packed.
		s, err := r.read(ctx, id)
		if err != nil || s == nil {
			return nil, errors.Join(err, refused(reason))
		}

		return s, endedError{s.Status}
	}
	values, _ := reply[1].([]any)

	s, err := decodeValues(values)
	if err != nil {
		return nil, err
	}

	if err := refused(reason); err != nil {
		return s, err
	}
	s.settled, s.off = reply[2] == int64(1), reply[3] == int64(1)
	r.metrics.ended.WithLabelValues(string(s.Kind), string(s.Status)).Inc()

	return s, nil
}

func (r *records) apply(ctx context.Context, script *redis.Script, id string, args []any) error {
	reason, err := r.run(ctx, script, id, args).Text()
	if err != nil {
		return unavailable(err)
	}

	return refused(reason)
}

func (r *records) run(ctx context.Context, script *redis.Script, id string, args []any) *redis.Cmd {
	return script.Run(ctx, r.rdb, keysOf(id), args...)
}

// report is a change of a record that a run reports, as the scripts read it.
type report []any

func newReport(name string, args ...any) report { return append(report{name, len(args)}, args...) }

// progressed reports a step.
func (r *records) progressed(stage presswork.Stage, percent int, message string) report {
	return newReport("progress", stamp(r.clock.Now()), string(stage), percent, message)
}

// noted adds warnings and sets fields, as one event with this message.
func (r *records) noted(message string, warnings []fault.Warning, fields ...any) (report, error) {
	args := []any{stamp(r.clock.Now()), message, len(warnings)}
	for _, w := range warnings {
		b, err := json.Marshal(w)
		if err != nil {
			return nil, err
		}
		args = append(args, b)
	}

	return newReport("note", append(args, fields...)...), nil
}

// tell writes reports, in their order and in one go. Errors: errGone, endedError,
// ErrSuperseded, an outage.
func (r *records) tell(ctx context.Context, id, fence string, all ...report) error {
	return r.apply(ctx, reportScript, id, flat([]any{fence}, all))
}

func flat(args []any, all []report) []any {
	for _, one := range all {
		args = append(args, one...)
	}

	return args
}
