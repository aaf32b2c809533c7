package api_test

import (
	"context"
	"sync"

	"presswork"
	"presswork/tasks"
)

// emit adds an event to a job, as a worker's transition does.
func (q *fakeQueue) emit(id string, e presswork.Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	job := q.jobs[id]
	e.JobID, e.Seq, e.At = id, job.rec.Seq+1, stamp()
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

func (q *fakeQueue) Watch(_ context.Context, id string, since int64) (*tasks.Watch, error) {
	rec, err := q.Job(context.Background(), id)
	if err != nil {
		return nil, err
	}
	snapshot := presswork.Event{
		Type: presswork.EventSnapshot, JobID: id, Seq: rec.Seq, Status: rec.Status,
		Stage: rec.Stage, Progress: rec.Progress, At: stamp(), Artifact: rec.Artifact, Error: rec.Error,
	}

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

	return tasks.NewWatch(rec, snapshot, out, cancel, func() error {
		mu.Lock()
		defer mu.Unlock()

		return failure
	}), nil
}

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

func (q *fakeQueue) watched(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.watches += n
	q.ever += max(0, n)
}

func (q *fakeQueue) opened() int {
	q.mu.Lock()
	defer q.mu.Unlock()

	return q.ever
}

func (q *fakeQueue) watching() int {
	q.mu.Lock()
	defer q.mu.Unlock()

	return q.watches
}
