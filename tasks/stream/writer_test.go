package stream_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork/internal/test/wait"
	"presswork/tasks/stream"
)

// stepper is a hook that stops a writer before each round trip and each pause. The writer waits for proceed, or runs
// freely after over is closed.
type stepper struct {
	trips   chan int // number of runs in the next round trip
	rests   chan int // 0 before each pause
	proceed chan struct{}
	over    chan struct{}
}

func newStepper() *stepper {
	return &stepper{
		trips:   make(chan int),
		rests:   make(chan int),
		proceed: make(chan struct{}),
		over:    make(chan struct{}),
	}
}

// step reports an event to the test and waits until the test lets it proceed.
func (s *stepper) step(c chan<- int, runs int) {
	select {
	case c <- runs:
	case <-s.over:
	}

	select {
	case <-s.proceed:
	case <-s.over:
	}
}

func (s *stepper) DialHook(next redis.DialHook) redis.DialHook          { return next }
func (s *stepper) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

// ProcessPipelineHook stops before each write of frames.
func (s *stepper) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		if cmds[0].Name() == "evalsha" {
			// The script that writes frames has three keys per run. Others have fewer.
			if keys, _ := cmds[0].Args()[2].(int); keys >= 3 {
				s.step(s.trips, keys/3)
			}
		}

		return next(context.WithoutCancel(ctx), cmds) // the writer may have been stopped for longer than its deadline
	}
}

// Frames that are sent during a round trip are written by the next one. After a busy round trip the writer pauses, and
// also collects the frames of that pause.
func TestFramesAreBatchedAfterABusyRoundTrip(t *testing.T) {
	t.Parallel()
	b := setup(t)
	const busy, few = 20, 3
	runs := make(chan *stream.Run)
	w := b.worker(t)
	s := newStepper()
	w.rdb.AddHook(s)
	w.SetRest(func(time.Duration) { s.step(s.rests, 0) })
	b.start(t, w, busy, func(_ context.Context, run *stream.Run) error {
		runs <- run
		<-s.over

		return run.Finish(nil)
	})
	t.Cleanup(func() { close(s.over) })
	var all []*stream.Run

	for range busy {
		b.call(t, stream.Call{})
		all = append(all, wait.Receive(t, "a run", runs))
	}
	send := func(some []*stream.Run) {
		for _, run := range some {
			if err := run.Send([]byte("x")); err != nil {
				t.Error(err)
			}
		}
	}
	var sizes []int
	trip := func() { sizes = append(sizes, wait.Receive(t, "a round trip", s.trips)) }

	send(all[:1])
	trip()
	s.proceed <- struct{}{}
	trip() // the same run again: Redis did not have the script
	send(all)
	s.proceed <- struct{}{}
	trip()
	s.proceed <- struct{}{}
	wait.Receive(t, "a pause", s.rests)
	send(all[:few])
	s.proceed <- struct{}{}
	trip()

	if want := []int{1, 1, busy, few}; !slices.Equal(sizes, want) {
		t.Errorf("got round trips of %d runs, want %d", sizes, want)
	}
}

// When Redis refuses the frames of one call, the other calls of the same write are not delayed.
func TestAFailingCallDoesNotDelayOthers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	begun, finished := make(chan string), make(chan error, 2)
	gates := map[string]chan struct{}{"broken": make(chan struct{}), "sound": make(chan struct{})}
	w := b.worker(t)
	s := newStepper()
	w.rdb.AddHook(s)
	b.start(t, w, len(gates), func(_ context.Context, run *stream.Run) error {
		begun <- run.ID
		<-gates[run.Call.RequestID]
		finished <- run.Finish([]byte("whole"))

		return nil
	})
	broken := b.call(t, stream.Call{RequestID: "broken"})
	wait.Receive(t, "the broken call", begun)
	sound := b.call(t, stream.Call{RequestID: "sound"})
	wait.Receive(t, "the sound call", begun)

	frames := stream.FramesKey(broken.ID)
	if err := b.rdb.Set(t.Context(), frames, "no stream", 0).Err(); err != nil {
		t.Fatal(err)
	}
	close(gates["broken"])
	wait.Receive(t, "a round trip", s.trips)
	s.proceed <- struct{}{}
	wait.Receive(t, "the same again, with the script", s.trips)
	close(gates["sound"])
	close(s.over)

	if err := wait.Receive(t, "the sound call's end", finished); err != nil {
		t.Error(err)
	}

	if err := b.rdb.Del(t.Context(), frames).Err(); err != nil {
		t.Fatal(err)
	}

	if err := wait.Receive(t, "the broken call's end", finished); err != nil {
		t.Error(err)
	}

	for _, answer := range []*stream.Answer{broken, sound} {
		wantAnswer(t, answer, "whole")
	}
}
