// Package watch lets readers follow jobs. A Relay has the only subscription of its process and routes the events of all
// jobs to their watchers. Relay.Watch opens a Watch: a snapshot, and then every later event once, in order.
//
// Published events may be lost. A watcher therefore compares sequence numbers and reads missing events from the event
// log of the job. A periodic check finds events after which no further message arrives.
package watch

import (
	"context"
	"errors"
	"sync"

	"presswork"
	"presswork/tasks/record"
)

const (
	// watchBuffer is how many events a reader may lag behind.
	watchBuffer = 256
	// watchAhead is how many more events are ready for the reader, so that it can read a group of events at once.
	watchAhead = 8
)

// ErrSlow is returned by Watch.Err when the reader fell too far behind.
var ErrSlow = errors.New("the watcher is too slow")

// Watch follows a job: a snapshot, and then every later event once, in order. Call Close when done.
type Watch struct {
	// Record is the job at the snapshot, without its queue position.
	Record record.Record
	// Snapshot is the first message to the reader: the state at Snapshot.Seq, with the type "snapshot".
	Snapshot presswork.Event
	// Events has the events after since (from the log), or after the snapshot when since < 0. It is closed after
	// the terminal event, after Close, and after a failure; then Err returns the reason. For an ended job, Events
	// has the terminal event, even though its seq is that of the snapshot, unless since >= that seq.
	Events <-chan presswork.Event

	stop func()
	err  func() error
}

// New returns a watch over events from any source, for fakes of the queue in tests. Close calls stop, Err calls
// err.
func New(
	rec record.Record, snapshot presswork.Event, events <-chan presswork.Event, stop func(), err func() error,
) *Watch {
	return &Watch{Record: rec, Snapshot: snapshot, Events: events, stop: stop, err: err}
}

// Err returns why Events was closed. It is nil after the terminal event or Close, ErrSlow when the reader fell too
// far behind, and otherwise the error of an outage.
func (w *Watch) Err() error { return w.err() }

// Close ends the watch. A second call does nothing.
func (w *Watch) Close() { w.stop() }

// Watch follows a job's events after the sequence number since; since < 0 means from now on. ctx
// bounds only the opening. The watch lasts until the job ends or until Close.
// Errors: NotFound, QueueUnavailable.
func (r *Relay) Watch(ctx context.Context, id string, since int64) (*Watch, error) {
	if !record.ValidID(id) {
		return nil, record.NotFound(id)
	}

	select {
	case <-r.subscribed:
	case <-r.ctx.Done():
		return nil, record.Unavailable(r.ctx.Err())
	case <-ctx.Done():
		return nil, record.Unavailable(context.Cause(ctx))
	}
	w := newWatcher(r, id)
	// From here on no event is missed: an earlier one is in the snapshot or the log, and a later one comes from
	// the relay.
	if err := r.addWatcher(w); err != nil {
		w.close()
		return nil, err
	}

	job, replay, err := r.open(ctx, id, since)
	if err != nil {
		r.removeWatcher(w)
		w.close()

		return nil, err
	}
	snapshot := job.Snapshot()
	// since may be larger than the current number if Redis has lost events. It must not hide later events.
	w.last = snapshot.Seq
	if since >= 0 {
		w.last = min(since, snapshot.Seq)
	}

	if snapshot.Status.Terminal() && since >= snapshot.Seq {
		w.close()
	}

	go w.run(replay)

	return New(job.Record, snapshot, w.out, w.close, w.failure), nil
}

// open reads the job and the events to replay before live ones.
func (r *Relay) open(ctx context.Context, id string, since int64) (*record.Stored, []presswork.Event, error) {
	job, err := r.records.Find(ctx, id)
	if err != nil {
		return nil, nil, err
	}

	var replay []presswork.Event
	if since >= 0 && since < job.Seq {
		if replay, err = r.records.Events(ctx, id, since); err != nil {
			return nil, nil, err
		}
	}

	if job.Status.Terminal() && len(replay) == 0 && since < job.Seq {
		replay = []presswork.Event{job.LastEvent()}
	}

	return job, replay, nil
}

// watcher carries one watch from the relay to its reader.
type watcher struct {
	relay *Relay
	id    string
	// in carries news from the relay, out events to the reader.
	in  chan news
	out chan presswork.Event
	// last is the sequence number up to which the reader has seen the events. Only run uses it.
	last int64

	ctx    context.Context
	cancel context.CancelFunc

	// mu guards err, the reason for the end; nil if the watch ended as planned.
	mu  sync.Mutex
	err error
}

// newWatcher returns a watcher that is not yet registered with the relay.
func newWatcher(r *Relay, id string) *watcher {
	w := &watcher{relay: r, id: id, in: make(chan news, watchBuffer), out: make(chan presswork.Event, watchAhead)}
	w.ctx, w.cancel = context.WithCancel(r.ctx)

	return w
}

// close ends the watch without an error.
func (w *watcher) close() { w.cancel() }

// fail ends the watch with an error. The caller holds the relay's lock.
func (w *watcher) fail(err error) {
	w.mu.Lock()
	if w.ctx.Err() == nil && w.err == nil {
		w.err = err
	}
	w.mu.Unlock()
	w.cancel()
}

// failure returns the error that ended the watch, nil for none.
func (w *watcher) failure() error {
	w.mu.Lock()
	defer w.mu.Unlock()

	return w.err
}

// run passes on the events of the job's log, then new ones, until the terminal event.
func (w *watcher) run(replay []presswork.Event) {
	defer close(w.out)
	defer w.cancel()
	defer w.relay.removeWatcher(w)

	if len(replay) > 0 && w.last >= replay[0].Seq {
		// Replay the terminal event of an ended job, which has the snapshot's seq.
		w.last = replay[0].Seq - 1
	}

	if !w.yield(replay) {
		return
	}

	for {
		select {
		case <-w.ctx.Done():
			return
		case n := <-w.in:
			if !w.handleNews(n) {
				return
			}
		}
	}
}

// handleNews passes on the events up to n.seq. It returns false when the watch has ended.
func (w *watcher) handleNews(n news) bool {
	switch {
	case n.seq <= w.last:
		return true
	case n.event != nil && n.seq == w.last+1:
		return w.yield([]presswork.Event{*n.event})
	}
	// This process has missed events: read them from the log.
	missed, err := w.relay.records.Events(w.ctx, w.id, w.last)
	if err != nil {
		// Never skip a gap; the next check tries again.
		if w.ctx.Err() == nil {
			w.relay.log.Warn("missed events could not be read", "job_id", w.id, "after", w.last, "err", err)
		}

		return true
	}

	if len(missed) == 0 && n.event != nil {
		missed = []presswork.Event{*n.event}
	}

	return w.yield(missed)
}

// yield passes events to the reader; it returns false when the watch has ended.
func (w *watcher) yield(events []presswork.Event) bool {
	for _, e := range events {
		if e.Seq <= w.last {
			continue
		}

		select {
		case w.out <- e:
			w.last = e.Seq
		case <-w.ctx.Done():
			return false
		}

		if e.Status.Terminal() {
			return false
		}
	}

	return true
}
