package worker

import (
	"context"
	"sync"

	"presswork"
	"presswork/tasks"
)

// reporter tells the steps of a run while the work goes on: each report waits
// until Redis has it on disk, which the step itself need not.
type reporter struct {
	steps chan func() error
	done  chan struct{}
	end   sync.Once
	err   error
}

// report begins to report. wait is to be called when the steps are over.
func report(ctx context.Context, run *tasks.Run) (step func(stage presswork.Stage, percent int, message string), wait func() error) {
	// More than a run has steps, so that none waits.
	r := &reporter{steps: make(chan func() error, 16), done: make(chan struct{})}
	go func() {
		defer close(r.done)
		for report := range r.steps {
			if r.err == nil {
				r.err = report()
			}
		}
	}()
	step = func(stage presswork.Stage, percent int, message string) {
		r.steps <- func() error { return run.Progress(ctx, stage, percent, message) }
	}
	return step, func() error {
		r.end.Do(func() { close(r.steps) })
		<-r.done
		return r.err
	}
}
