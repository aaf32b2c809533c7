package api_test

import (
	"context"
	"sync"
	"time"

	"presswork"
	"presswork/tasks"
	"presswork/tasks/watch"
)

// emit adds an event to a job, as a worker's transition does.
func (q *fakeQueue) emit(id string, e presswork.Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	job := q.jobs[id]
	e.JobID, e.Seq, e.At = id, job.rec.Seq+1, nowMillis()
	rec := &job.rec
	rec.Seq, rec.Status, rec.Stage, rec.Progress, rec.QueuePosition = e.Seq, e.Status, e.Stage, e.Progress, nil

	rec.Artifact, rec.Error = e.Artifact, e.Error
	if e.Status.Terminal() {
		rec.FinishedAt = &e.At
	}
	job.events = append(job.events, e)
	close(job.grown)
	job.grown = make(chan struct{})
}

// progress adds a progress event.
func (q *fakeQueue) progress(id string, percent int) {
	q.emit(
		id,
		presswork.Event{
			Type:     presswork.EventProgress,
			Status:   presswork.Processing,
			Stage:    presswork.StageRendering,
			Progress: percent,
		},
	)
}

// complete adds the event of a completed job.
func (q *fakeQueue) complete(id string, a presswork.Artifact) {
	q.emit(
		id,
		presswork.Event{
			Type:     presswork.EventCompleted,
			Status:   presswork.Completed,
			Stage:    presswork.StageDone,
			Progress: 100,
			Artifact: &a,
		},
	)
}

// Watch sends the snapshot and the events after since, as the real queue does.
func (q *fakeQueue) Watch(_ context.Context, id string, since int64) (*tasks.Watch, error) {
	rec, err := q.Job(context.Background(), id)
	if err != nil {
		return nil, err
	}
	snapshot := presswork.Event{
		Type: presswork.EventSnapshot, JobID: id, Seq: rec.Seq, Status: rec.Status,
		Stage: rec.Stage, Progress: rec.Progress, At: nowMillis(), Artifact: rec.Artifact, Error: rec.Error,
	}

	// A watch of a finished job sends its last event again.
	last := rec.Seq
	if since >= 0 {
		last = since
	} else if rec.Status.Terminal() {
		last--
	}
	ctx, cancel := context.WithCancel(context.Background())
	out := make(chan presswork.Event)
	var mu sync.Mutex
	var failure error
	q.watched(1)
	q.mu.Lock()
	next := q.next
	q.next = nil
	q.mu.Unlock()

	for _, f := range next {
		f(id)
	}

	go func() {
		defer close(out)
		defer q.watched(-1)
		err := q.follow(ctx, id, last, out)
		mu.Lock()
		defer mu.Unlock()
		failure = err
	}()

	return watch.New(rec, snapshot, out, cancel, func() error {
		mu.Lock()
		defer mu.Unlock()

		return failure
	}), nil
}

// follow sends the events of a job after last until the job ends. It returns ErrSlow as slow says.
func (q *fakeQueue) follow(ctx context.Context, id string, last int64, out chan<- presswork.Event) error {
	sent := 0

	for {
		q.mu.Lock()
		job, slow := q.jobs[id], q.slow
		events, grown := job.events[min(int(last), len(job.events)):], job.grown
		terminal := job.rec.Status.Terminal()
		q.mu.Unlock()

		for _, e := range events {
			if slow > 0 && sent == slow {
				return tasks.ErrSlow
			}

			select {
			case out <- e:
				last = e.Seq
				sent++
			case <-ctx.Done():
				return nil
			}
		}

		if terminal {
			return nil
		}

		select {
		case <-grown:
		case <-ctx.Done():
			return nil
		}
	}
}

// onNextWatch calls f with the job of the next watch.
func (q *fakeQueue) onNextWatch(f func(id string)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.next = append(q.next, f)
}

// watched changes the number of open watches by n.
func (q *fakeQueue) watched(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.watches += n
	q.opened += max(0, n)
}

// allWatches returns the number of watches that were ever opened.
func (q *fakeQueue) allWatches() int {
	q.mu.Lock()
	defer q.mu.Unlock()

	return q.opened
}

// openWatches returns the number of open watches.
func (q *fakeQueue) openWatches() int {
	q.mu.Lock()
	defer q.mu.Unlock()

	return q.watches
}

// fakeStats reports the state of one queue.
type fakeStats struct{}

func (*fakeStats) stats(context.Context) (tasks.Fleet, error) {
	return tasks.Fleet{
		Dead: 4,
		Queues: []tasks.QueueStats{
			{
				Queue:      tasks.Render,
				Pending:    7,
				Active:     3,
				Retry:      2,
				Oldest:     1500 * time.Millisecond,
				OldestOpen: time.Minute,
			},
		},
	}, nil
}
