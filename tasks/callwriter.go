package tasks

import (
	"context"
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

// callWriter writes the frames of all runs of a process: whatever has come up
// since the last round trip goes with the next. So the first frame goes at once,
// and the busier Redis is, the more frames travel together.
type callWriter struct {
	rdb redis.UniversalClient
	log *slog.Logger

	stopping chan struct{}
	running  sync.WaitGroup

	mu    sync.Mutex
	dirty []*CallRun
	wake  chan struct{}
}

func newCallWriter(rdb redis.UniversalClient, log *slog.Logger) *callWriter {
	return &callWriter{rdb: rdb, log: log, stopping: make(chan struct{}), wake: make(chan struct{}, 1)}
}

func (w *callWriter) start() { w.running.Go(w.run) }

// stop ends the writer; the runs must have ended before.
func (w *callWriter) stop() {
	close(w.stopping)
	w.running.Wait()
}

func (w *callWriter) run() {
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

// mark tells the writer of a run that has something to write.
func (w *callWriter) mark(runs ...*CallRun) {
	w.mu.Lock()
	w.dirty = append(w.dirty, runs...)
	w.mu.Unlock()
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// write is one entry on its way.
type write struct {
	run    *CallRun
	answer *redis.Cmd
	keys   []string
	args   []any
}

// flush writes a batch; false when there was nothing to write.
func (w *callWriter) flush() bool {
	w.mu.Lock()
	n := min(len(w.dirty), writeBatch)
	batch := w.dirty[:n:n]
	w.dirty = w.dirty[n:]
	w.mu.Unlock()
	writes := make([]write, 0, n)
	for _, r := range batch {
		seq, data, last, ok := r.take()
		if !ok {
			continue
		}
		flag := "0"
		if last {
			flag = "1"
		}
		writes = append(writes, write{
			run: r, keys: callKeys(r.ID), args: []any{r.fence, seq, data, flag},
		})
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
	for _, f := range writes {
		taken, err := f.answer.Int()
		if err == nil && taken == 0 {
			f.run.lose()
			continue
		}
		if f.run.written(err == nil) {
			w.mark(f.run)
		}
	}
	return true
}

// send answers with the first error of the batch; each entry has its own.
func (w *callWriter) send(writes []write) error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*ioTimeout)
	defer cancel()
	_, err := w.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		for i, f := range writes {
			writes[i].answer = frameScript.EvalSha(ctx, p, f.keys, f.args...)
		}
		return nil
	})
	return err
}
