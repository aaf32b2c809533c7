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

// A second client joins the call in the middle of its answer.
func TestFramesArePublishedToEachWaitingNode(t *testing.T) {
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
	wantBegunFrame(t, first)
	second := *b
	second.client = stream.NewClient(dial(t, b.address), stream.ClientOptions{
		Enqueue: b.queue.enqueue,
		Drop:    b.queue.drop,
		Left:    leftChannel,
		Input:   inputChannel,
		Log:     slog.New(slog.DiscardHandler),
	})
	second.client.Start()
	t.Cleanup(second.client.Stop)
	late := second.call(t, c)
	wantBegunFrame(t, late)
	close(joined)

	for _, a := range []*stream.Answer{first, late} {
		wantAnswer(t, a, "end")
	}

	var channels []string // those that have received the last frame
	for len(channels) < 2 {
		m := wait.Receive(t, "a message", sub.Channel())
		if strings.Contains(m.Payload, "end") && !slices.Contains(channels, m.Channel) {
			channels = append(channels, m.Channel)
		}
	}
}
