package worker

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"presswork"
	"presswork/internal/document"
	"presswork/tasks"
)

const (
	// paceTick is the time between two reports of a printing that takes long.
	paceTick = 2 * time.Second
	// printingFrom and printingTo are the job's progress while it is printed.
	printingFrom, printingTo = 50, 90
	// firstPace is how long a megabyte of HTML prints on a small machine, until
	// this worker has printed a long document itself.
	firstPace = 3 * time.Second
	// pacedFrom is the size from which a print is a measure of the pace;
	// below, it is mostly what any print takes.
	pacedFrom = 256 << 10
)

// pace is how fast this worker prints: the browser reports nothing before it is
// done.
type pace struct {
	mu      sync.Mutex
	perByte float64 // seconds
}

// expect estimates how long so many bytes of HTML print.
func (p *pace) expect(bytes int) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()

	perByte := p.perByte
	if perByte == 0 {
		perByte = firstPace.Seconds() / (1 << 20)
	}

	return time.Duration(float64(bytes) * perByte * float64(time.Second))
}

// learn notes how long so many bytes took; the last few documents count most.
func (p *pace) learn(bytes int, took time.Duration) {
	if bytes < pacedFrom {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()

	perByte := took.Seconds() / float64(bytes)
	if p.perByte > 0 {
		perByte = .6*p.perByte + .4*perByte
	}
	p.perByte = perByte
}

// reportPace reports how far a print has probably come, until ctx ends: often enough
// that it moves, and nothing for a document that is printed at once. The progress
// nears the end without reaching it, however wrong the estimate is.
func reportPace(ctx context.Context, expected time.Duration, report func(percent int, message string)) {
	tick := time.NewTicker(paceTick)
	defer tick.Stop()
	began, last := time.Now(), printingFrom

	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		took := time.Since(began)
		share := 1 - math.Exp(-2*took.Seconds()/max(expected, 3*paceTick).Seconds())

		percent := printingFrom + int(share*(printingTo-1-printingFrom))
		if percent <= last {
			continue
		}
		last = percent

		message := fmt.Sprintf("printing for %d s, longer than documents of this size mostly take", int(took.Seconds()))
		if left := expected - took; left > 0 {
			message = fmt.Sprintf(
				"printing; about %d s left, as documents of this size take",
				int(math.Ceil(left.Seconds())),
			)
		}
		report(percent, message)
	}
}

// printPaced prints, and reports on the job how far it has probably come.
func (w *Worker) printPaced(ctx context.Context, run *tasks.Run, c document.Composed) (document.Made, error) {
	ctx, ended := w.stage(ctx, presswork.StagePrinting)
	defer ended()
	size, began := len(c.Page.HTML), time.Now()
	pacing, stop := context.WithCancel(ctx)
	var reporting sync.WaitGroup
	reporting.Go(func() {
		reportPace(pacing, w.pace.expect(size), func(percent int, message string) {
			// The job goes on without it; a run that was ended has its context's word.
			_ = run.Progress(pacing, presswork.StagePrinting, percent, message)
		})
	})
	printed, err := w.Converter.Make(ctx, c)
	stop()
	reporting.Wait()

	if err == nil && c.Output == presswork.PDF {
		w.pace.learn(size, time.Since(began))
	}

	return printed, err
}
