package stream_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"presswork/internal/test/wait"
	"presswork/tasks"
	"presswork/tasks/stream"
)

// TestFramesArePublishedToEveryNodeThatWaits joins a call at another node, in the middle of
// its answer.
func TestFramesArePublishedToEveryNodeThatWaits(t *testing.T) {
	t.Parallel()
	b := setup(t)

	sub := b.rdb.PSubscribe(t.Context(), "pw:answers:*")
	defer sub.Close()

	if _, err := sub.Receive(t.Context()); err != nil {
		t.Fatal(err)
	}
	joined := make(chan struct{})
	b.serve(t, func(_ context.Context, run *stream.Run) error {
		if err := run.Send([]byte("begun")); err != nil {
			return err
		}
		<-joined

		return run.Finish([]byte("end"))
	})
	c := stream.Call{ID: tasks.NewID(), IdempotencyKey: "k", Fingerprint: "f"}
	first := b.call(t, c)
	begun(t, first)
	other := *b
	other.client = stream.NewClient(dial(t, b.address), stream.ClientOptions{
		Enqueue: b.queue.enqueue,
		Drop:    b.queue.drop,
		Left:    leftChannel,
		Input:   inputChannel,
		Log:     slog.New(slog.DiscardHandler),
	})
	other.client.Start()
	t.Cleanup(other.client.Stop)
	late := other.call(t, c)
	begun(t, late)
	close(joined)

	for _, a := range []*stream.Answer{first, late} {
		if got := whole(t, a); got != "end" {
			t.Errorf("read %q", got)
		}
	}

	var told []string
	for len(told) < 2 {
		if m := wait.Receive(
			t,
			"a message",
			sub.Channel(),
		); strings.Contains(m.Payload, "end") &&
			!slices.Contains(told, m.Channel) {
			told = append(told, m.Channel)
		}
	}
}
