package stream

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// writeBatch is how many calls' frames go to Redis at once.
	writeBatch = 256
	// writePause is the pause after a write that failed.
	writePause = 100 * time.Millisecond
)

// writer writes the frames of all runs of a process: whatever has come up
// since the last round trip goes with the next. So the first frame goes at once,
// and the busier Redis is, the more frames travel together.
type writer struct {
	rdb redis.UniversalClient
	log *slog.Logger

	// outage is outageLimit.
	outage time.Duration

	stopping chan struct{}
	running  sync.WaitGroup

	mu    sync.Mutex
	dirty []*Run
	wake  chan struct{}
}

func newWriter(rdb redis.UniversalClient, log *slog.Logger) *writer {
	return &writer{rdb: rdb, log: log, outage: outageLimit, stopping: make(chan struct{}), wake: make(chan struct{}, 1)}
}

// outageLasts is the cause of the end of runs that Redis has not answered for too long.
func (w *writer) outageLasts() error {
	return fmt.Errorf("%w: Redis did not answer for %s", errCallLost, w.outage)
}

func (w *writer) start() { w.running.Go(w.run) }

// stop ends the writer; the runs must have ended before.
func (w *writer) stop() {
	close(w.stopping)
	w.running.Wait()
}

func (w *writer) run() {
	for {
		select {
		case <-w.stopping:
			return
		case <-w.wake:
		}
		for w.flush() {
		}
	}
}

// mark gives the writer runs that have something to write.
func (w *writer) mark(runs ...*Run) {
	w.mu.Lock()
	w.dirty = append(w.dirty, runs...)
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// write is one entry on its way, or a whole call that Redis has lost.
type write struct {
	run      *Run
	restores bool
	args     []any
	answer   *redis.Cmd
}

// flush writes a batch; false when there was nothing to write.
func (w *writer) flush() bool {
	w.mu.Lock()
	n := min(len(w.dirty), writeBatch)
	batch := w.dirty[:n:n]
	w.dirty = w.dirty[n:]
	w.mu.Unlock()
	writes := make([]write, 0, n)
	for _, r := range batch {
		if one, ok := r.take(); ok {
			writes = append(writes, one)
		}
	}
	if len(writes) == 0 {
		return n > 0
	}
	err := w.send(writes)
	if redis.HasErrorPrefix(err, "NOSCRIPT") {
		if err = frameScript.Load(context.Background(), w.rdb).Err(); err == nil {
			err = w.send(writes)
		}
	}
	if err != nil {
		w.log.Warn("frames of calls could not be written; trying again", "calls", len(writes), "err", err)
		time.Sleep(writePause)
	}
	for _, one := range writes {
		if one.run.written(one) {
			w.mark(one.run)
		}
	}
	return true
}

// send answers with the first error of the batch; each entry has its own.
func (w *writer) send(writes []write) error {
	ctx, cancel := context.WithTimeout(context.Background(), redisTimeout)
	defer cancel()
	_, err := w.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, one := range writes {
			if one.restores {
				w.log.Info("Redis has lost a call that runs here; it is written again", "call_id", one.run.ID)
				writes[i].answer = restoreScript.Eval(ctx, p, callKeys(one.run.ID), one.args...)
				continue
			}
			writes[i].answer = frameScript.EvalSha(ctx, p, callKeys(one.run.ID), one.args...)
		}
		return nil
	})
	return err
}
