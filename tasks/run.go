package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"presswork"
)

// commitPatience is how long a finished run keeps trying to write its result
// when Redis does not answer: less than the lease of its task.
const commitPatience = 20 * time.Second

// commitPause is the pause between two such tries.
const commitPause = 250 * time.Millisecond

// Run is one attempt at a job. Its methods report to the job's record; once the
// run may no longer speak for the job they change nothing, return ErrCancelled
// or ErrSuperseded, and the run's context is ended.
type Run struct {
	// ID is the job's.
	ID string
	// Attempt counts from 1.
	Attempt int
	// Record is the job as it stood when the run began.
	Record Record

	records *records
	outbox  *outbox
	fence   string
	// end ends the run's context.
	end context.CancelCauseFunc
	// began is for the log, by this machine's clock.
	began time.Time
	// done is the record after a successful Complete; continued is set after Next.
	done      *stored
	continued bool
}

// Progress reports a step; percent is 0 to 100. What is behind the stage or the
// percentage reached before (by an earlier attempt, for example) is held there, and what
// changes nothing is no event.
func (r *Run) Progress(ctx context.Context, stage presswork.Stage, percent int, message string) error {
	return r.checked(r.records.progress(ctx, r.ID, r.fence, stage, min(max(percent, 0), 100), message))
}

// Warn adds warnings to the job, as one event. One that is there already is not
// added again.
func (r *Run) Warn(ctx context.Context, warnings ...presswork.Warning) error {
	if len(warnings) == 0 {
		return nil
	}
	return r.checked(r.records.note(ctx, r.ID, r.fence, summary(warnings), warnings))
}

// Printed is Warn for the warnings of a print, which outlive the attempt: see
// Record.Printed. They must be recorded before the result is stored.
func (r *Run) Printed(ctx context.Context, warnings ...presswork.Warning) error {
	if len(warnings)+len(r.Record.Printed) == 0 {
		return nil
	}
	b, err := json.Marshal(warnings)
	if err != nil {
		return err
	}
	return r.checked(r.records.note(ctx, r.ID, r.fence, summary(warnings), warnings, fieldPrinted, b))
}

// summary is an event's message about warnings; "" without any.
func summary(warnings []presswork.Warning) string {
	switch len(warnings) {
	case 0:
		return ""
	case 1:
		return warnings[0].Message
	}
	return fmt.Sprintf("%s (and %d more)", warnings[0].Message, len(warnings)-1)
}

// SetTheme records the theme that was chosen.
func (r *Run) SetTheme(ctx context.Context, name string) error {
	return r.checked(r.records.note(ctx, r.ID, r.fence, "theme "+name, nil, fieldTheme, name))
}

// SetAnalysis records what the document's text is like.
func (r *Run) SetAnalysis(ctx context.Context, analysis presswork.Analysis) error {
	b, err := json.Marshal(analysis)
	if err != nil {
		return fmt.Errorf("analysis: %w", err)
	}
	return r.checked(r.records.note(ctx, r.ID, r.fence, "analyzed", nil, fieldAnalysis, b))
}

// Complete ends the job with its artifact. Only one run of a job ever succeeds
// at this, and none after a cancellation: on an error the artifact is nobody's.
// An outage of Redis is waited out for a while.
func (r *Run) Complete(ctx context.Context, artifact presswork.Artifact, cached bool) error {
	rec, err := r.finish(ctx, ending{
		status: presswork.Completed, message: "done", artifact: &artifact, cached: cached,
	})
	if err != nil {
		return err
	}
	r.done = rec
	return nil
}

// Next ends the run and lets the job go on with another task: once it is in the
// record, the sweeper puts it on its queue where this process can not.
func (r *Run) Next(ctx context.Context, t Task) error {
	if err := r.checked(r.records.next(ctx, r.ID, r.fence, t)); err != nil {
		return err
	}
	r.continued = true
	if err := r.outbox.enqueueJob(ctx, r.Record.Owner, r.ID, t); err != nil {
		r.outbox.log.Warn("a job's next task is not on the queue yet; the sweeper will put it there", "job_id", r.ID, "err", err)
	}
	return nil
}

// finish writes a terminal state in this run's name.
func (r *Run) finish(ctx context.Context, e ending) (*stored, error) {
	e.fence, e.nonce = r.fence, "run-"+r.fence
	ctx, cancel := context.WithTimeout(ctx, commitPatience)
	defer cancel()
	for {
		rec, err := r.records.finish(ctx, r.ID, e)
		if presswork.CodeOf(err) != presswork.QueueUnavailable {
			return rec, r.checked(err)
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(commitPause):
		}
	}
}

// checked turns a refusal into this run's end.
func (r *Run) checked(err error) error {
	lost := loss(err)
	if lost == nil {
		return err
	}
	r.end(lost)
	return lost
}

// loss is why a run may not go on, or nil when err is nothing of the kind.
func loss(err error) error {
	if ended, ok := errors.AsType[endedError](err); ok && ended.status == presswork.Cancelled {
		return ErrCancelled
	}
	if _, ok := errors.AsType[endedError](err); ok || errors.Is(err, errGone) || errors.Is(err, ErrSuperseded) {
		return ErrSuperseded
	}
	return nil
}
