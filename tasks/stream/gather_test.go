package stream_test

import (
	"context"
	"testing"
	"time"

	"presswork/tasks/stream"
)

func TestGatheredFramesShareTheWriteOfTheEnd(t *testing.T) {
	t.Parallel()
	b := setup(t)
	w := b.worker(t)
	w.SetGather(time.Hour)
	sent, written := make(chan struct{}), make(chan struct{})
	b.start(t, w, 2, func(_ context.Context, run *stream.Run) error {
		if run.Call.RequestID == "" {
			return run.Finish([]byte("another"))
		}
		run.Gather()

		if err := run.Send([]byte("a")); err != nil {
			return err
		}
		close(sent)
		<-written

		return run.Finish([]byte("b"))
	})
	a := b.call(t, stream.Call{RequestID: "gathers"})
	<-sent
	// A write of frames that were sent before would be over when another call's later frame arrives.
	wantAnswer(t, b.call(t, stream.Call{}), "another")
	close(written)
	wantAnswer(t, a, "ab")

	if n, err := b.rdb.XLen(t.Context(), stream.FramesKey(a.ID)).Result(); err != nil || n != 1 {
		t.Errorf("the answer took %d writes, %v; want one", n, err)
	}
}

// The second frame shows that a run gathers again after a write.
func TestGatheredFramesDoNotWaitForTheEnd(t *testing.T) {
	t.Parallel()
	b := setup(t)
	read := make(chan struct{})
	b.serve(t, func(_ context.Context, run *stream.Run) error {
		run.Gather()

		for range 2 {
			if err := run.Send([]byte("begun")); err != nil {
				return err
			}
			<-read
		}

		return run.Finish([]byte("end"))
	})
	a := b.call(t, stream.Call{})

	for range 2 {
		wantBegunFrame(t, a)
		read <- struct{}{}
	}
	wantAnswer(t, a, "end")
}
