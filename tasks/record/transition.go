package record

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/internal/analysis/finding"
	"presswork/internal/fault"
)

// Next gives the job another task, whose attempts count from 0. The caller queues the task. Errors: as for Report.
func (r *Records) Next(ctx context.Context, id, fence string, t Task) error {
	return r.apply(ctx, nextScript, id, append([]any{fence, t.Payload}, t.fields()...))
}

// Begin starts an attempt of a kind of task.
// Errors: ErrGone, EndedError, ErrSuperseded when the job's task is of another kind by now,
// QueueUnavailable.
func (r *Records) Begin(ctx context.Context, id, kind, worker string) (Begun, error) {
	reply, err := r.run(ctx, beginScript, id, []any{stamp(r.clock.Now()), NewID(), kind, worker}).Slice()
	if err != nil {
		return Begun{}, Unavailable(err)
	}

	return ReadBegun(reply)
}

// DequeueArgs returns the arguments of DequeueLua for a worker that handles these kinds.
func (r *Records) DequeueArgs(nonce, worker string, kinds []string) []any {
	return []any{stamp(r.clock.Now()), nonce, worker, " " + strings.Join(kinds, " ") + " "}
}

// Begun is an attempt that has begun.
type Begun struct {
	// Job is the record after the attempt has begun.
	Job *Stored
	// Fence lets the run change the job until a later run begins.
	Fence string
	// Payload is the payload of the job's task.
	Payload []byte
}

// ReadBegun decodes the answer of DequeueLua. Errors: as for Begin, except QueueUnavailable.
func ReadBegun(reply []any) (b Begun, err error) {
	if reason, _ := reply[0].(string); reason != "" || len(reply) < 4 {
		return Begun{}, refusalError(reason)
	}
	b.Fence, _ = reply[1].(string)
	values, _ := reply[2].([]any)
	text, _ := reply[3].(string)
	b.Payload = []byte(text)
	b.Job, err = decodeValues(values)

	return b, err
}

// Ending is a terminal state to be written.
type Ending struct {
	// Fence is the run's; "" overrides all runs.
	Fence string
	// Nonce identifies the end, so that it can be written again after an outage.
	Nonce string
	// Status is Completed, Failed or Cancelled. Message is that of the last event.
	Status  presswork.Status
	Message string
	// Artifact and Cached are those of a completed job, Err that of a failed one.
	Artifact *presswork.Artifact
	Cached   bool
	Err      *fault.Error
	// Before are reports of the run that are applied before its end.
	Before []Report
	// Task are the keys of the job's task, which ends with a completed job: see asynqext.DoneKeys.
	Task []string
}

// Failed returns the end of a job that failed with e.
func Failed(nonce string, e *fault.Error) Ending {
	return Ending{Nonce: nonce, Status: presswork.Failed, Message: e.Message, Err: e}
}

// encode returns the result as further members of the last event, in JSON, and as fields of the record: names and
// values in turn.
func (e Ending) encode() (members []byte, fields []any, err error) {
	add := func(field string, v any) error {
		b, err := json.Marshal(v)
		members = append(members, `,"`+field+`":`...)
		members = append(members, b...)
		fields = append(fields, field, b)

		return err
	}
	if e.Artifact != nil {
		err = add(fieldArtifact, e.Artifact)
	}

	if e.Err != nil {
		err = errors.Join(err, add(fieldError, e.Err))
	}

	if e.Cached {
		fields = append(fields, fieldCached, "1")
	}

	return members, fields, err
}

// Finish writes the terminal state and returns the job, once for each job. For a job that has already ended it returns
// the job as it is and EndedError. Errors: ErrGone, EndedError, ErrSuperseded, QueueUnavailable.
func (r *Records) Finish(ctx context.Context, id string, e Ending) (*Stored, error) {
	members, fields, err := e.encode()
	if err != nil {
		return nil, err
	}
	args := []any{
		e.Fence, e.Nonce, stamp(r.clock.Now()), string(e.Status), e.Message, members, r.ttl.Milliseconds(),
		PackAfter.Milliseconds(), len(fields),
	}

	keys := keysOf(id)
	// On a Cluster, these keys are on other shards than the job; settling changes them later.
	if _, cluster := r.rdb.(*redis.ClusterClient); !cluster {
		keys = append(append(keys, LedgerKey, SettledKey), e.Task...)
	}

	reply, err := finishScript.Run(ctx, r.rdb, keys, appendReports(append(args, fields...), e.Before)...).Slice()
	if err != nil {
		return nil, Unavailable(err)
	}

	reason, _ := reply[0].(string)
	if len(reply) < 4 {
		// The job does not exist, or it is packed.
		s, err := r.Read(ctx, id)
		if err != nil || s == nil {
			return nil, errors.Join(err, refusalError(reason)) // ErrGone
		}

		return s, EndedError{s.Status}
	}
	values, _ := reply[1].([]any)

	s, err := decodeValues(values)
	if err != nil {
		return nil, err
	}

	if err := refusalError(reason); err != nil {
		return s, err
	}
	s.Settled, s.TaskEnded = reply[2] == int64(1), reply[3] == int64(1)
	r.ended(s.Kind, s.Status)

	return s, nil
}

// apply runs a script that answers only a refusal.
func (r *Records) apply(ctx context.Context, script *redis.Script, id string, args []any) error {
	reason, err := r.run(ctx, script, id, args).Text()
	if err != nil {
		return Unavailable(err)
	}

	return refusalError(reason)
}

// run runs a script on the keys of a job.
func (r *Records) run(ctx context.Context, script *redis.Script, id string, args []any) *redis.Cmd {
	return script.Run(ctx, r.rdb, keysOf(id), args...)
}

// Report is a change of a record that a run reports, in the form of the scripts.
type Report []any

// newReport returns a report in the form that the Lua function apply reads: its name, the number of arguments, and
// these.
func newReport(name string, args ...any) Report { return append(Report{name, len(args)}, args...) }

// Progress returns the report of a step. percent is 0 to 100.
func (r *Records) Progress(stage presswork.Stage, percent int, message string) Report {
	return newReport("progress", stamp(r.clock.Now()), string(stage), percent, message)
}

// Warnings returns a report that adds warnings.
func (r *Records) Warnings(message string, warnings []fault.Warning) (Report, error) {
	return r.note(message, warnings)
}

// Printed returns a report that adds the warnings of a print and keeps them in Record.Printed.
func (r *Records) Printed(message string, warnings []fault.Warning) (Report, error) {
	b, err := json.Marshal(warnings)
	if err != nil {
		return nil, err
	}

	return r.note(message, warnings, fieldPrinted, b)
}

// Theme returns a report that sets the theme.
func (r *Records) Theme(message, name string) (Report, error) {
	return r.note(message, nil, fieldTheme, name)
}

// Analysis returns a report that sets the analysis of the document.
func (r *Records) Analysis(message string, analysis finding.Analysis) (Report, error) {
	b, err := json.Marshal(analysis)
	if err != nil {
		return nil, fmt.Errorf("analysis: %w", err)
	}

	return r.note(message, nil, fieldAnalysis, b)
}

// note returns a report that adds warnings and sets fields, as one event.
func (r *Records) note(message string, warnings []fault.Warning, fields ...any) (Report, error) {
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

// Report writes reports in their order, in one round trip. With an error, none of them is written, except that the
// response to a successful write may be lost: QueueUnavailable. Errors: ErrGone, EndedError, ErrSuperseded,
// QueueUnavailable.
func (r *Records) Report(ctx context.Context, id, fence string, reports ...Report) error {
	return r.apply(ctx, reportScript, id, appendReports([]any{fence}, reports))
}

// appendReports appends reports to the arguments of a script.
func appendReports(args []any, reports []Report) []any {
	for _, report := range reports {
		args = append(args, report...)
	}

	return args
}
