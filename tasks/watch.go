package tasks

import "presswork"

// Watch is one watcher's view of a job: where it stands, then every event after
// that, in order, each once. Close it when done.
type Watch struct {
	// Snapshot is the state at Snapshot.Seq (type "snapshot").
	Snapshot presswork.Event
	// Events yields the events after `since` (replayed from the log), or after
	// the snapshot when since < 0. It is closed after the terminal event, when
	// the watch is closed, or on failure: then Err says why. On a finished job
	// the terminal event is yielded even though its seq equals the snapshot's,
	// unless since >= that seq.
	Events <-chan presswork.Event

	stop func()
	err  func() error
}

// Err tells why Events was closed: nil after the terminal event or Close,
// ErrSlow when the reader fell too far behind, else an outage.
func (w *Watch) Err() error { return w.err() }

// Close ends the watch; twice is harmless.
func (w *Watch) Close() { w.stop() }
