package stream_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
	"presswork/tasks/stream"
)

// doubleInputs is a handler that answers each input with two copies of it.
func doubleInputs(ctx context.Context, run *stream.Run) error {
	for {
		input, err := run.Receive(ctx)
		if err != nil {
			return err
		}

		if err := run.Send(bytes.Repeat(input, 2)); err != nil {
			return err
		}
	}
}

// exchange sends an input and returns the frames of the reply, joined by "|".
func exchange(t testing.TB, a *stream.Answer, input string) string {
	t.Helper()

	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()

	if err := a.Send(ctx, []byte(input)); err != nil {
		t.Fatal(err)
	}

	frames, err := a.Next(ctx)
	if err != nil {
		t.Fatalf("input %.40q got no reply: %v", input, err)
	}

	return string(bytes.Join(frames, []byte("|")))
}

func TestInputsOfManyCallsAreAnswered(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.serve(t, doubleInputs)

	var answers []*stream.Answer
	for range 20 {
		answers = append(answers, b.call(t, stream.Call{}))
	}

	for n := range 10 {
		for i, a := range answers {
			input := fmt.Sprint(i, "-", n, ";")
			if got := exchange(t, a, input); got != input+input {
				t.Errorf("call %d: got %q for input %q, want it twice", i, got, input)
			}

			if frames := b.rdb.XLen(t.Context(), stream.FramesKey(a.ID)).Val(); frames > 1 {
				t.Errorf("Redis has %d frames, want at most one: the caller has received the others", frames)
			}
		}
	}
}

func TestTheFirstInputMayComeBeforeTheRun(t *testing.T) {
	t.Parallel()
	b := setup(t)

	a := b.call(t, stream.Call{})
	if err := a.Send(t.Context(), []byte("x")); err != nil {
		t.Fatal(err)
	}
	b.serve(t, doubleInputs)

	frames, err := a.Next(t.Context())
	if err != nil || len(frames) != 1 || string(frames[0]) != "xx" {
		t.Errorf("got frames %q, %v; want the doubled input", frames, err)
	}
}

func TestAFrameOfMegabytesArrives(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.serve(t, func(ctx context.Context, run *stream.Run) error {
		if _, err := run.Receive(ctx); err != nil {
			return err
		}

		return run.Finish(bytes.Repeat([]byte("y"), 6<<20))
	})

	sub := b.rdb.PSubscribe(t.Context(), "pw:answers:*")
	defer sub.Close()

	if _, err := sub.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}

	a := b.call(t, stream.Call{})
	if got := exchange(t, a, "x"); got != strings.Repeat("y", 6<<20) {
		t.Errorf("got %d bytes, want %d", len(got), 6<<20)
	}

	m, err := sub.ReceiveMessage(t.Context())
	if err != nil || len(m.Payload) > 100 {
		t.Errorf("got a message of %d bytes, %v; want at most 100: the frame itself is read from its key",
			len(m.Payload), err)
	}
}

// The client announces inputs on a channel to which no worker listens.
func TestAnInputArrivesWithoutItsAnnouncement(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.client = stream.NewClient(dial(t, b.address), stream.ClientOptions{
		Enqueue: b.queue.enqueue,
		Drop:    b.queue.drop,
		Left:    leftChannel,
		Input:   "test:unused",
		Log:     slog.New(slog.DiscardHandler),
	})
	b.client.Start()
	t.Cleanup(b.client.Stop)
	b.serve(t, doubleInputs)

	a := b.call(t, stream.Call{})
	for range 2 {
		if got := exchange(t, a, "x"); got != "xx" {
			t.Errorf("got %q for input x, want xx", got)
		}
	}
}

func TestInputsSurviveARestartOfRedis(t *testing.T) {
	t.Parallel()
	redis := redistest.StartDurable(t)
	b := setupOn(t, redis.Address)
	b.serve(t, doubleInputs)

	a := b.call(t, stream.Call{})
	for _, input := range []string{"a", "b"} {
		if got := exchange(t, a, input); got != input+input {
			t.Errorf("got %q for input %q, want it twice", got, input)
		}
	}
	redis.Kill()

	if err := a.Send(t.Context(), []byte("c")); err != nil {
		t.Fatal(err)
	}
	redis.Restart()

	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()

	frames, err := a.Next(ctx)
	if err != nil || len(frames) != 1 || string(frames[0]) != "cc" {
		t.Errorf("got frames %q, %v; want the doubled input", frames, err)
	}

	if got := exchange(t, a, "d"); got != "dd" {
		t.Errorf("got %q for input d, want dd", got)
	}
}

func TestATooLargeInputIsRejected(t *testing.T) {
	t.Parallel()
	b := setup(t)

	a := b.call(t, stream.Call{})

	err := a.Send(t.Context(), make([]byte, 1<<20+1))
	if err == nil || !strings.Contains(err.Error(), "allowed is 1048576") {
		t.Errorf("got %v, want the limit in bytes", err)
	}
}

func TestReceiveEndsWithItsContext(t *testing.T) {
	t.Parallel()
	b := setup(t)
	idle, got := errors.New("idle"), make(chan error, 1)
	b.serve(t, func(ctx context.Context, run *stream.Run) error {
		cancelled, cancel := context.WithCancelCause(ctx)
		cancel(idle)
		_, err := run.Receive(cancelled)
		got <- err

		return run.Finish([]byte("end"))
	})
	readAnswer(t, b.call(t, stream.Call{}))

	if err := wait.Receive(t, "Receive returns", got); !errors.Is(err, idle) {
		t.Errorf("Receive returned %v, want %v", err, idle)
	}
}
