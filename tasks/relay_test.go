package tasks

import (
	"context"
	"errors"
	"testing"

	"presswork/internal/fault"
	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
)

func TestARelayWhoseClientIsClosedFailsItsWatches(t *testing.T) {
	t.Parallel()

	c, err := NewClient(redistest.Start(t), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Stop(context.Background()) })

	s := newSubmission(t, "ann")
	if _, _, err := c.Submit(t.Context(), s); err != nil {
		t.Fatal(err)
	}

	if err := c.Start(t.Context()); err != nil {
		t.Fatal(err)
	}

	w, err := c.Watch(t.Context(), s.ID, -1)
	if err != nil {
		t.Fatal(err)
	}

	if err := c.rdb.Close(); err != nil {
		t.Fatal(err)
	}

	if e := wait.Receive(t, "the watch's end", w.Events); e.Type != "" {
		t.Errorf("an event came: %+v", e)
	}

	if got := fault.CodeOf(w.Err()); w.Err() == nil || got != fault.QueueUnavailable {
		t.Errorf("ended with %v", w.Err())
	}
	// It does not go round and round: Wait returns without Stop.
	c.relay.running.Wait()
}

func TestAWatchOpenedWhileTheRelayStopsIsAnOutage(t *testing.T) {
	t.Parallel()
	r := newRelay(&records{}, nil)
	// It passed the door before the relay ended, and is added after.
	w := newWatcher(r, NewID())
	r.stop()

	err := r.add(w)
	if fault.CodeOf(err) != fault.QueueUnavailable {
		t.Errorf("added: %v", err)
	}

	if len(r.watchers) != 0 {
		t.Error("it is kept")
	}
	r.end(errors.New("a second end"))

	if !errors.Is(r.add(w), err) {
		t.Error("the first reason is lost")
	}
}
