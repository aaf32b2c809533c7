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

// replies is a handler that answers each input by itself, doubled.
func replies(ctx context.Context, run *stream.Run) error {
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

// say sends an input and returns the answer to it.
func say(t testing.TB, a *stream.Answer, input string) string {
	t.Helper()

	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()

	if err := a.Send(ctx, []byte(input)); err != nil {
		t.Fatal(err)
	}

	frames, err := a.Next(ctx)
	if err != nil {
		t.Fatalf("%.40q is not answered: %v", input, err)
	}

	return string(bytes.Join(frames, []byte("|")))
}

func TestInputsOfManyCallsAreAnswered(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.serve(t, replies)

	var answers []*stream.Answer
	for range 20 {
		answers = append(answers, b.call(t, stream.Call{}))
	}

	for n := range 10 {
		for i, a := range answers {
			input := fmt.Sprint(i, "-", n, ";")
			if got := say(t, a, input); got != input+input {
				t.Errorf("call %d answers %q to %q", i, got, input)
			}

			if n := b.rdb.XLen(t.Context(), stream.FramesKey(a.ID)).Val(); n > 1 {
				t.Errorf("%d frames are kept that the caller has", n)
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
	b.serve(t, replies)

	frames, err := a.Next(t.Context())
	if err != nil || len(frames) != 1 || string(frames[0]) != "xx" {
		t.Errorf("got %q, %v", frames, err)
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
	if got := say(t, a, "x"); got != strings.Repeat("y", 6<<20) {
		t.Errorf("%d bytes arrived", len(got))
	}

	m, err := sub.ReceiveMessage(t.Context())
	if err != nil || len(m.Payload) > 100 {
		t.Errorf("%d bytes were published, %v", len(m.Payload), err)
	}
}

func TestAnInputIsFoundWithoutItsAnnouncement(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.client = stream.NewClient(dial(t, b.address), stream.ClientOptions{
		Enqueue: b.queue.enqueue,
		Drop:    b.queue.drop,
		Left:    leftChannel,
		Input:   "test:nobody",
		Log:     slog.New(slog.DiscardHandler),
	})
	b.client.Start()
	t.Cleanup(b.client.Stop)
	b.serve(t, replies)

	a := b.call(t, stream.Call{})
	for range 2 {
		if got := say(t, a, "x"); got != "xx" {
			t.Errorf("got %q", got)
		}
	}
}

func TestInputsLiveThroughARestartOfRedis(t *testing.T) {
	t.Parallel()
	redis := redistest.StartDurable(t)
	b := setupOn(t, redis.Address)
	b.serve(t, replies)

	a := b.call(t, stream.Call{})
	for _, input := range []string{"a", "b"} {
		if got := say(t, a, input); got != input+input {
			t.Errorf("got %q", got)
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
		t.Errorf("got %q, %v", frames, err)
	}

	if got := say(t, a, "d"); got != "dd" {
		t.Errorf("got %q", got)
	}
}

func TestAnInputThatIsTooLargeIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)

	a := b.call(t, stream.Call{})
	if err := a.Send(
		t.Context(),
		make([]byte, 1<<20+1),
	); err == nil ||
		!strings.Contains(err.Error(), "allowed is 1048576") {
		t.Errorf("got %v", err)
	}
}

func TestReceiveEndsWithItsContext(t *testing.T) {
	t.Parallel()
	b := setup(t)
	idle, got := errors.New("idle"), make(chan error, 1)
	b.serve(t, func(ctx context.Context, run *stream.Run) error {
		short, cancel := context.WithCancelCause(ctx)
		cancel(idle)
		_, err := run.Receive(short)
		got <- err

		return run.Finish([]byte("end"))
	})
	whole(t, b.call(t, stream.Call{}))

	if err := wait.Receive(t, "it ends", got); !errors.Is(err, idle) {
		t.Errorf("got %v", err)
	}
}
