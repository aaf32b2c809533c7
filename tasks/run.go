package tasks

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"presswork"
	"presswork/internal/analysis/finding"
	"presswork/internal/fault"
	"presswork/tasks/asynqext"
	"presswork/tasks/record"
)

// commitPatience is how long a finished run keeps trying to write its result
// when Redis does not answer: less than the lease of its task.
const commitPatience = 20 * time.Second

// commitPause is the pause between two such tries.
const commitPause = 250 * time.Millisecond

// Run is one attempt at a job. Its methods report to the job's record. When the job has ended or another run has
// taken it, they change nothing and return ErrCancelled or ErrSuperseded, and the run's context ends.
type Run struct {
	// ID is the job's.
	ID string
	// Attempt counts from 1.
	Attempt int
	// Record is the job as it stood when the run began.
	Record Record

	records *record.Records
	outbox  *outbox
	fence   string
	// queue is that of the run's task.
	queue Queue
	// end ends the run's context.
	end context.CancelCauseFunc
	// began is for the log, by this machine's clock.
	began time.Time
	// done is the record after a successful Complete; continued is set after Next.
	done      *record.Stored
	continued bool

	// telling is held while reports are written, so that they keep their order.
	telling sync.Mutex
	mu      sync.Mutex
	// held are the reports that no handler waits for, and write writes them in a while.
	held  []record.Report
	write *time.Timer
}

// heldFor is how long a report that no handler waits for may wait for one that goes with it.
const heldFor = 100 * time.Millisecond

// Progress reports a step; percent is 0 to 100. A stage or percentage before the one already reached, for example
// by an earlier attempt, is raised to that one. A report that changes nothing makes no event.
func (r *Run) Progress(ctx context.Context, stage presswork.Stage, percent int, message string) error {
	return r.tell(ctx, r.progressed(stage, percent, message))
}

// Step is Progress with a delay. It is written together with the next report of the run, or alone after a moment.
// Short steps therefore cost no round trips. A step that finds the run ended also ends its context.
func (r *Run) Step(stage presswork.Stage, percent int, message string) {
	r.hold(r.progressed(stage, percent, message))
}

func (r *Run) progressed(stage presswork.Stage, percent int, message string) record.Report {
	return r.records.Progress(stage, min(max(percent, 0), 100), message)
}

// Warn adds warnings to the job, as one event. One that is there already is not
// added again.
func (r *Run) Warn(warnings ...fault.Warning) error {
	if len(warnings) == 0 {
		return nil
	}

	return r.holdOr(r.records.Warnings(summary(warnings), warnings))
}

// Printed is Warn for the warnings of a print, which outlive the attempt: see
// Record.Printed. They must be recorded before the result is stored: Progress follows.
func (r *Run) Printed(warnings ...fault.Warning) error {
	if len(warnings)+len(r.Record.Printed) == 0 {
		return nil
	}

	return r.holdOr(r.records.Printed(summary(warnings), warnings))
}

// summary is an event's message about warnings; "" without any.
func summary(warnings []fault.Warning) string {
	switch len(warnings) {
	case 0:
		return ""
	case 1:
		return warnings[0].Message
	}

	return fmt.Sprintf("%s (and %d more)", warnings[0].Message, len(warnings)-1)
}

// SetTheme records the theme that was chosen.
func (r *Run) SetTheme(name string) error {
	return r.holdOr(r.records.Theme("theme "+name, name))
}

// SetAnalysis records what the document's text is like.
func (r *Run) SetAnalysis(analysis finding.Analysis) error {
	return r.holdOr(r.records.Analysis("analyzed", analysis))
}

// holdOr holds a report, unless it could not be made.
func (r *Run) holdOr(one record.Report, err error) error {
	if err == nil {
		r.hold(one)
	}

	return err
}

// hold keeps a report for the next one.
func (r *Run) hold(one record.Report) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.held = append(r.held, one)
	if r.write == nil {
		r.write = time.AfterFunc(heldFor, r.writeHeld)
	}
}

func (r *Run) writeHeld() {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()

	if err := r.tell(ctx); err != nil {
		r.outbox.log.Debug("steps of a run are not in its record", "job_id", r.ID, "err", err)
	}
}

// taken returns what was held.
func (r *Run) taken() []record.Report {
	r.mu.Lock()
	defer r.mu.Unlock()

	if r.write != nil {
		r.write.Stop()
	}
	all := r.held
	r.held, r.write = nil, nil

	return all
}

// tell writes reports after those that were held, which an outage of Redis leaves to the
// next report.
func (r *Run) tell(ctx context.Context, more ...record.Report) error {
	r.telling.Lock()
	defer r.telling.Unlock()

	held := r.taken()
	if len(held)+len(more) == 0 {
		return nil
	}

	err := r.checked(r.records.Report(ctx, r.ID, r.fence, slices.Concat(held, more)...))
	if fault.CodeOf(err) == fault.QueueUnavailable {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.held = slices.Concat(held, r.held)
	}

	return err
}

// Complete ends the job with its artifact. Only one run of a job ever succeeds
// at this, and none after a cancellation: on an error no job has the artifact.
// An outage of Redis is waited out for a while.
func (r *Run) Complete(ctx context.Context, artifact presswork.Artifact, cached bool) error {
	rec, err := r.finish(ctx, record.Ending{
		Status:   presswork.Completed,
		Message:  "done",
		Artifact: &artifact,
		Cached:   cached,
		Task:     asynqext.DoneKeys(r.queue, r.ID, r.outbox.clock.Now()),
	})
	if err != nil {
		return err
	}
	r.done = rec

	return nil
}

// Next ends the run and continues the job with another task. The record has that task first. The sweeper queues it
// when this process cannot.
func (r *Run) Next(ctx context.Context, t Task) error {
	if err := r.tell(ctx); err != nil {
		return err
	}

	if err := r.checked(r.records.Next(ctx, r.ID, r.fence, t)); err != nil {
		return err
	}

	r.continued = true
	if err := r.outbox.enqueueJob(ctx, r.Record.Owner, r.ID, t); err != nil {
		r.outbox.log.Warn(
			"a job's next task is not on the queue yet; the sweeper will put it there",
			"job_id",
			r.ID,
			"err",
			err,
		)
	}

	return nil
}

// finish writes a terminal state in this run's name.
func (r *Run) finish(ctx context.Context, e record.Ending) (*record.Stored, error) {
	r.telling.Lock()
	defer r.telling.Unlock()
	e.Fence, e.Nonce, e.Before = r.fence, "run-"+r.fence, r.taken()

	ctx, cancel := context.WithTimeout(ctx, commitPatience)
	defer cancel()

	for {
		rec, err := r.records.Finish(ctx, r.ID, e)
		if fault.CodeOf(err) != fault.QueueUnavailable {
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
	lost := record.Lost(err)
	if lost == nil {
		return err
	}
	r.end(lost)

	return lost
}
