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

// finishTimeout is how long a finished run tries to write its result during an outage of Redis. It is shorter
// than the lease of the task.
const finishTimeout = 20 * time.Second

// finishPause is the pause between two tries to write a result.
const finishPause = 250 * time.Millisecond

// Run is one attempt at a job. Its methods report to the job's record. When the job has ended or another run has
// taken it, they change nothing and return ErrCancelled or ErrSuperseded, and the run's context ends.
type Run struct {
	// ID is the id of the job.
	ID string
	// Attempt counts from 1.
	Attempt int
	// Record is the job's record when the run began.
	Record Record

	records *record.Records
	outbox  *outbox
	// fence is sent with each report: the scripts refuse that of an earlier run.
	fence string
	// queue is the queue of the run's task.
	queue Queue
	// end ends the run's context.
	end context.CancelCauseFunc
	// began is when the run began, by this machine's clock. Only the log uses it, for the duration.
	began time.Time
	// done is the record after a successful Complete; continued is set after Next.
	done      *record.Stored
	continued bool

	// writing is held while reports are written, so that they stay in order.
	writing sync.Mutex
	// mu guards held and writeTimer. A goroutine that needs both locks takes writing first.
	mu sync.Mutex
	// held are the reports that are not yet written; writeTimer writes them after heldFor.
	held       []record.Report
	writeTimer *time.Timer
}

// heldFor is how long a held report waits for another report to be written with it.
const heldFor = 100 * time.Millisecond

// Progress reports a step; percent is 0 to 100. A stage or percentage before the one already reached, for example
// by an earlier attempt, is raised to that one. A report that changes nothing makes no event.
func (r *Run) Progress(ctx context.Context, stage presswork.Stage, percent int, message string) error {
	return r.writeReports(ctx, r.progressReport(stage, percent, message))
}

// Step is Progress with a delay. It is written together with the next report of the run, or alone after heldFor.
// Short steps therefore cost no round trips. A step that finds the run ended also ends its context.
func (r *Run) Step(stage presswork.Stage, percent int, message string) {
	r.hold(r.progressReport(stage, percent, message))
}

// progressReport returns the report of a step, with the percentage limited to 0 to 100.
func (r *Run) progressReport(stage presswork.Stage, percent int, message string) record.Report {
	return r.records.Progress(stage, min(max(percent, 0), 100), message)
}

// Warn adds warnings to the job, as one event. A warning that the job already has is not added again. They are
// written with the next report. The only error is a warning that JSON cannot hold.
func (r *Run) Warn(warnings ...fault.Warning) error {
	if len(warnings) == 0 {
		return nil
	}

	return r.holdReport(r.records.Warnings(summary(warnings), warnings))
}

// Printed adds the warnings of a print, which outlive the attempt (see Record.Printed). Call Progress afterwards
// and before the result is stored: it writes the held warnings.
func (r *Run) Printed(warnings ...fault.Warning) error {
	if len(warnings)+len(r.Record.Printed) == 0 {
		return nil
	}

	return r.holdReport(r.records.Printed(summary(warnings), warnings))
}

// summary returns the message of an event about warnings; "" without any.
func summary(warnings []fault.Warning) string {
	switch len(warnings) {
	case 0:
		return ""
	case 1:
		return warnings[0].Message
	}

	return fmt.Sprintf("%s (and %d more)", warnings[0].Message, len(warnings)-1)
}

// SetTheme records the chosen theme. It is written with the next report.
func (r *Run) SetTheme(name string) error {
	return r.holdReport(r.records.Theme("theme "+name, name))
}

// SetAnalysis records the analysis of the document's text. It is written with the next report.
func (r *Run) SetAnalysis(analysis finding.Analysis) error {
	return r.holdReport(r.records.Analysis("analyzed", analysis))
}

// holdReport holds a report, unless err is set because the report could not be created.
func (r *Run) holdReport(report record.Report, err error) error {
	if err == nil {
		r.hold(report)
	}

	return err
}

// hold keeps a report until the next one is written, for at most heldFor.
func (r *Run) hold(report record.Report) {
	r.mu.Lock()
	defer r.mu.Unlock()

	r.held = append(r.held, report)
	if r.writeTimer == nil {
		r.writeTimer = time.AfterFunc(heldFor, r.writeHeld)
	}
}

// writeHeld writes the steps that wait for the next report.
func (r *Run) writeHeld() {
	ctx, cancel := context.WithTimeout(context.Background(), writeTimeout)
	defer cancel()

	if err := r.writeReports(ctx); err != nil {
		r.outbox.log.Debug("steps of a run are not in its record", "job_id", r.ID, "err", err)
	}
}

// takeHeld removes the held reports, stops their timer, and returns them.
func (r *Run) takeHeld() []record.Report {
	r.mu.Lock()
	defer r.mu.Unlock()

	if r.writeTimer != nil {
		r.writeTimer.Stop()
	}
	all := r.held
	r.held, r.writeTimer = nil, nil

	return all
}

// writeReports writes the held reports and then these. If Redis does not answer, the held ones stay held for the next
// report.
func (r *Run) writeReports(ctx context.Context, more ...record.Report) error {
	r.writing.Lock()
	defer r.writing.Unlock()

	held := r.takeHeld()
	if len(held)+len(more) == 0 {
		return nil
	}

	err := r.endIfRefused(r.records.Report(ctx, r.ID, r.fence, slices.Concat(held, more)...))
	if fault.CodeOf(err) == fault.QueueUnavailable {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.held = slices.Concat(held, r.held)
	}

	return err
}

// Complete ends the job with its artifact. It succeeds at most once for each job, and never after a cancellation.
// After an error no job refers to the artifact. During an outage of Redis it retries for finishTimeout. Errors:
// ErrCancelled and ErrSuperseded, after which the handler must return, and QueueUnavailable.
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

// Next ends the run and continues the job with another task. It writes the task to the record before it queues the
// task, so the sweeper queues the task when this process cannot. Errors: ErrCancelled and ErrSuperseded, after which
// the handler must return, and QueueUnavailable.
func (r *Run) Next(ctx context.Context, t Task) error {
	if err := r.writeReports(ctx); err != nil {
		return err
	}

	if err := r.endIfRefused(r.records.Next(ctx, r.ID, r.fence, t)); err != nil {
		return err
	}

	r.continued = true
	if err := r.outbox.enqueueJob(ctx, r.Record.Owner, r.ID, t); err != nil {
		r.outbox.log.Warn("a job's next task is not on the queue yet; the sweeper will put it there",
			"job_id", r.ID, "err", err)
	}

	return nil
}

// finish writes a terminal state with this run's fence. During an outage of Redis it tries again until
// finishTimeout. The nonce makes the repeats one end.
func (r *Run) finish(ctx context.Context, e record.Ending) (*record.Stored, error) {
	r.writing.Lock()
	defer r.writing.Unlock()
	e.Fence, e.Nonce, e.Before = r.fence, "run-"+r.fence, r.takeHeld()

	ctx, cancel := context.WithTimeout(ctx, finishTimeout)
	defer cancel()

	for {
		rec, err := r.records.Finish(ctx, r.ID, e)
		if fault.CodeOf(err) != fault.QueueUnavailable {
			return rec, r.endIfRefused(err)
		}

		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(finishPause):
		}
	}
}

// endIfRefused ends the run when err is a refusal, and returns err.
func (r *Run) endIfRefused(err error) error {
	lost := record.LostCause(err)
	if lost == nil {
		return err
	}
	r.end(lost)

	return lost
}
