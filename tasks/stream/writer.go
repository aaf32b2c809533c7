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
	// writeBatch is the largest number of calls whose frames one round trip carries.
	writeBatch = 256
	// commandBytes is about how many bytes one command writes. Redis buffers a whole command in memory.
	commandBytes = 1 << 20
	// writePause is the pause after a write that failed.
	writePause = 100 * time.Millisecond
	// After a round trip with the frames of busyBatch or more calls, the writer pauses for busyPause, so that the
	// next one carries more frames. A round trip wakes three processes, which costs more than a few frames.
	busyBatch = 4
	busyPause = time.Millisecond
)

// writer writes the frames of all runs of a process. Frames that arrive during a round trip go together in the
// next one. The first frame is therefore sent at once, and under load more frames share a round trip.
type writer struct {
	rdb redis.UniversalClient
	log *slog.Logger

	// outage is outageLimit; tests shorten it.
	outage time.Duration
	// oneByOne is set on a Cluster: one command must not write calls in different slots.
	oneByOne bool
	// gather is gatherTime; tests change it.
	gather time.Duration
	// pause is time.Sleep, for the pause after a busy round trip; tests replace it.
	pause func(time.Duration)

	// stopping is closed by stop.
	stopping chan struct{}
	running  sync.WaitGroup

	// mu guards dirty.
	mu sync.Mutex
	// dirty are the runs that have something to write.
	dirty []*Run
	// wake gets a message when dirty has runs.
	wake chan struct{}
}

// newWriter returns a writer. On a Cluster it writes each call on its own, because the keys are on several nodes.
func newWriter(rdb redis.UniversalClient, log *slog.Logger) *writer {
	_, cluster := rdb.(*redis.ClusterClient)

	return &writer{
		rdb: rdb, log: log, outage: outageLimit, gather: gatherTime, oneByOne: cluster, pause: time.Sleep,
		stopping: make(chan struct{}), wake: make(chan struct{}, 1),
	}
}

// outageError returns the error that ends runs when the outage of Redis lasts too long.
func (w *writer) outageError() error {
	return fmt.Errorf("%w: Redis did not answer for %s", errCallLost, w.outage)
}

// start runs the writer until stop.
func (w *writer) start() { w.running.Go(w.run) }

// stop ends the writer. All runs must have ended.
func (w *writer) stop() {
	close(w.stopping)
	w.running.Wait()
}

// run writes the waiting frames. After a large batch it pauses, so that the next one is large as well.
func (w *writer) run() {
	for {
		select {
		case <-w.stopping:
			return
		case <-w.wake:
		}

		for n := w.flush(); n > 0; n = w.flush() {
			if n >= busyBatch {
				w.pause(busyPause)
			}
		}
	}
}

// add adds runs that have something to write.
func (w *writer) add(runs ...*Run) {
	w.mu.Lock()
	w.dirty = append(w.dirty, runs...)
	w.mu.Unlock()

	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// write is one entry to be written, or a whole call that Redis has lost.
type write struct {
	run *Run
	// restores are the arguments of restoreScript; nil for an entry.
	restores []any
	// entry is the data of the entry seq, and last reports whether the answer ends with it.
	entry []byte
	seq   int64
	last  bool
	// answer is the answer of the script, err the error of Redis.
	answer int
	err    error
}

// flush writes a batch and returns the number of its runs.
func (w *writer) flush() int {
	w.mu.Lock()
	n := min(len(w.dirty), writeBatch)
	batch := w.dirty[:n:n]
	w.dirty = w.dirty[n:]
	w.mu.Unlock()
	writes := make([]write, 0, n)

	for _, r := range batch {
		if one, ok := r.takeWrite(); ok {
			writes = append(writes, one)
		}
	}

	if len(writes) == 0 {
		return n
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
		if one.run.finishWrite(one) {
			w.add(one.run)
		}
	}

	return n
}

// send sends the batch and returns the first error. Each write also has its own error.
func (w *writer) send(writes []write) error {
	ctx, cancel := context.WithTimeout(context.Background(), redisTimeout)
	defer cancel()
	var readAnswers []func() // one for each command
	_, err := w.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
		var entries []*write

		for i := range writes {
			one := &writes[i]
			if one.restores == nil {
				entries = append(entries, one)
				continue
			}
			w.log.Info("Redis has lost a call that runs here; it is written again", "call_id", one.run.ID)
			cmd := restoreScript.Eval(ctx, p, callKeys(one.run.ID), one.restores...)
			readAnswers = append(readAnswers, func() { one.answer, one.err = cmd.Int() })
		}

		for len(entries) > 0 {
			n := w.batchLength(entries)
			readAnswers = append(readAnswers, appendEntries(ctx, p, entries[:n]))
			entries = entries[n:]
		}

		return nil
	})

	for _, read := range readAnswers {
		read()
	}

	for i := 0; err == nil && i < len(writes); i++ {
		err = writes[i].err
	}

	return err
}

// batchLength returns how many of the entries the next command carries. Several entries share a command, because
// running a script costs Redis more than writing an entry.
func (w *writer) batchLength(entries []*write) int {
	if w.oneByOne {
		return 1
	}

	bytes := 0
	for n, one := range entries {
		if bytes += len(one.entry); n > 0 && bytes > commandBytes {
			return n
		}
	}

	return len(entries)
}

// appendEntries adds a command that writes entries of different calls. The returned function reads its answers.
func appendEntries(ctx context.Context, p redis.Pipeliner, entries []*write) func() {
	args := make([]any, 0, 4+7*len(entries))

	args = append(args, "evalsha", frameScript.Hash(), 3*len(entries))
	for _, one := range entries {
		args = append(args, one.run.keys...)
	}
	args = append(args, publishedBytes)

	for _, one := range entries {
		last := "0"
		if one.last {
			last = "1"
		}
		args = append(args, one.run.fence, one.seq, one.entry, last)
	}
	cmd := p.Do(ctx, args...)

	return func() {
		answers, err := cmd.Slice()
		for i, one := range entries {
			one.err = err
			if err != nil {
				continue
			}

			n, ok := answers[i].(int64)
			if one.answer = int(n); !ok {
				one.err = fmt.Errorf("an entry was answered by %v", answers[i])
			}
		}
	}
}
