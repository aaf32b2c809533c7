package api

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"presswork/api/conn"
	"presswork/api/exchange"
	"presswork/api/metrics"
	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/tasks"
)

// retryMillis is the time in milliseconds after which a browser reconnects to a stream.
const retryMillis = 2000

// sinceOf returns the sequence number of the last event that the client has seen, -1 for none. Reconnecting
// browsers send it as Last-Event-ID; ?since= is the alternative.
func sinceOf(c *fiber.Ctx) (int64, error) {
	name, text := "Last-Event-ID", c.Get("Last-Event-ID")
	if text == "" {
		name, text = "since", c.Query("since")
	}

	if text == "" {
		return -1, nil
	}

	seq, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seq < 0 {
		return 0, fault.Errorf(fault.InvalidOption, "%s is %s; allowed: the seq of an event, 0 or more",
			name, input.Quote(text)).WithParam(name)
	}

	return seq, nil
}

// streamEvents answers GET /api/conversion/{id}/events: it relays a job's events as server-sent events. The stream
// goes on after the handler has returned, and then releases what the handler acquired.
func (s *Server) streamEvents(c *fiber.Ctx) error {
	since, err := sinceOf(c)
	if err != nil {
		return err
	}

	running, leave, err := s.streams.Join(metrics.Events)
	if err != nil {
		return err
	}
	ctx, release := conn.WhileConnected(running, c.Context().Conn(), exchange.ErrClientLeft)

	watch, err := s.ownWatch(ctx, c, c.Params("id"), since)
	if err != nil {
		release()
		leave()

		return err
	}

	if rec := watch.Record; rec.Status.Terminal() && since >= rec.Seq {
		watch.Close()
		release()
		leave()
		// 204 keeps an EventSource from reconnecting (HTML, 9.2.3).
		c.Status(http.StatusNoContent)

		return nil
	}
	c.Set(fiber.HeaderContentType, "text/event-stream; charset=utf-8")
	c.Set(fiber.HeaderCacheControl, "no-store")
	exchange.SetUnbuffered(c)
	c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
		defer leave()
		defer release()
		defer watch.Close()
		s.writeEvents(ctx, w, watch, since)
	})

	return nil
}

// writeEvents writes the snapshot and the events of a job. It returns after the final event, or when the client
// disconnects or the server stops.
func (s *Server) writeEvents(ctx context.Context, w *bufio.Writer, watch *tasks.Watch, since int64) {
	gone := s.artifactGone(watch.Record)

	fmt.Fprintf(w, "retry: %d\n", retryMillis)

	if since < 0 {
		fmt.Fprintf(w, "id: %d\n", watch.Snapshot.Seq)
	}
	// After a reconnect the snapshot has no id. If the connection breaks before the missed events are sent, the
	// client must resume from the same event again.
	fmt.Fprintf(w, "data: %s\n\n", s.views.Message(watch.Snapshot, gone))

	if w.Flush() != nil {
		return
	}

	ping := time.NewTicker(s.PingInterval)
	defer ping.Stop()

	for ended := false; ; {
		select {
		case <-ctx.Done():
			return
		case <-ping.C:
			fmt.Fprint(w, ": ping\n\n")
		case e, open := <-watch.Events:
			// Write all events that are ready, then flush once.
			for more := open; more; {
				fmt.Fprintf(w, "id: %d\ndata: %s\n\n", e.Seq, s.views.Message(e, gone))

				select {
				case e, open = <-watch.Events:
					more = open
				default:
					more = false
				}
			}
			ended = !open
		}

		if w.Flush() != nil || ended {
			return
		}
	}
}
