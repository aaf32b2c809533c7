package watch

import (
	"errors"
	"log/slog"
	"testing"
	"time"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
	"presswork/tasks/clock"
	"presswork/tasks/record"
	"presswork/tasks/redisdial"
)

func TestWatchesFailWhenTheClientIsClosed(t *testing.T) {
	t.Parallel()

	rdb, err := redisdial.Dial(redistest.Start(t), 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rdb.Close() })
	log := slog.New(slog.DiscardHandler)
	recs := record.New(rdb, clock.New(rdb, log), time.Hour, nil)
	job := record.Record{Job: presswork.Job{ID: record.NewID(), Kind: presswork.KindConversion}}
	task := record.Task{Kind: "convert:v1", Queue: "render", Payload: []byte("{}"), Retries: 1, Timeout: time.Minute}

	if _, _, err := recs.Create(t.Context(), job, task, nil); err != nil {
		t.Fatal(err)
	}
	r := NewRelay(recs, log)
	r.Start()
	t.Cleanup(r.Stop)

	w, err := r.Watch(t.Context(), job.ID, -1)
	if err != nil {
		t.Fatal(err)
	}

	if err := rdb.Close(); err != nil {
		t.Fatal(err)
	}

	if e := wait.Receive(t, "the watch's end", w.Events); e.Type != "" {
		t.Errorf("got event %+v, want the end of the watch", e)
	}

	if got := fault.CodeOf(w.Err()); w.Err() == nil || got != fault.QueueUnavailable {
		t.Errorf("the watch ended with %v, want %s", w.Err(), fault.QueueUnavailable)
	}
	// The relay ends by itself: Wait returns without Stop.
	r.running.Wait()
}

func TestAWatchOpenedWhileTheRelayStopsFails(t *testing.T) {
	t.Parallel()
	r := NewRelay(&record.Records{}, nil)
	// The watch is created before the relay stops and added after it.
	w := newWatcher(r, record.NewID())
	r.Stop()

	err := r.addWatcher(w)
	if fault.CodeOf(err) != fault.QueueUnavailable {
		t.Errorf("addWatcher: got %v, want %s", err, fault.QueueUnavailable)
	}

	if len(r.watchers) != 0 {
		t.Errorf("the relay has %d watchers, want none", len(r.watchers))
	}
	r.endAll(errors.New("a second end"))

	if !errors.Is(r.addWatcher(w), err) {
		t.Errorf("addWatcher: got another error than the first, %v", err)
	}
}
