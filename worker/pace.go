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
	// paceTick is the time between two reports of a long print.
	paceTick = 2 * time.Second
	// printingFrom and printingTo are the job's progress in percent at the start and the end of printing.
	printingFrom, printingTo = 50, 90
	// firstPace is the assumed print time of a megabyte of HTML until this worker has printed a long document. It is
	// that of a small machine.
	firstPace = 3 * time.Second
	// pacedFrom is the smallest size in bytes of a document that measures the pace. Below it, most of
	// the time does not depend on the size.
	pacedFrom = 256 << 10
)

// pace estimates how fast this worker prints, because the browser reports no progress.
type pace struct {
	// mu guards perByte.
	mu      sync.Mutex
	perByte float64 // seconds per byte of HTML; 0 until a long document was printed
}

// estimate returns the expected print time of this many bytes of HTML.
func (p *pace) estimate(bytes int) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()

	perByte := p.perByte
	if perByte == 0 {
		perByte = firstPace.Seconds() / (1 << 20)
	}

	return time.Duration(float64(bytes) * perByte * float64(time.Second))
}

// addPrint adds the print time of a document with this many bytes of HTML. The last few documents count most.
func (p *pace) addPrint(bytes int, took time.Duration) {
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

// reportPace reports the estimated progress of a print every paceTick until ctx ends. The progress nears
// the end without reaching it, so that a wrong estimate does not show 100 %.
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

		message := fmt.Sprintf("printing for %d s, longer than usual for this size", int(took.Seconds()))
		if left := expected - took; left > 0 {
			message = fmt.Sprintf("printing; about %d s left", int(math.Ceil(left.Seconds())))
		}
		report(percent, message)
	}
}

// printPaced prints, and reports the estimated progress on the job.
func (w *Worker) printPaced(ctx context.Context, run *tasks.Run, c document.Composed) (document.Made, error) {
	ctx, endStage := w.stage(ctx, presswork.StagePrinting)
	defer endStage()
	size, began := len(c.Page.HTML), time.Now()
	reportCtx, stop := context.WithCancel(ctx)
	var reporting sync.WaitGroup
	reporting.Go(func() {
		reportPace(reportCtx, w.pace.estimate(size), func(percent int, message string) {
			// Ignore the error: an estimate is optional, and an ended run ends ctx as well.
			_ = run.Progress(reportCtx, presswork.StagePrinting, percent, message)
		})
	})
	printed, err := w.Converter.Make(ctx, c)
	stop()
	reporting.Wait()

	if err == nil && c.Output == presswork.PDF {
		w.pace.addPrint(size, time.Since(began))
	}

	return printed, err
}
