package api

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/gofiber/fiber/v2"

	"presswork"
	"presswork/api/conn"
	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/tasks"
)

// retryMillis is how long a browser waits before it reconnects to a stream.
const retryMillis = 2000

// message is an event as a watcher gets it.
func (v views) message(e presswork.Event) []byte {
	e.Artifact = v.artifact(e.JobID, e.Artifact, tokenTTL)
	// Events are plain structs, which always encode.
	b, _ := json.Marshal(e)

	return b
}

// sinceOf is the seq the watcher has seen last: Last-Event-ID, which a
// reconnecting browser sends, or ?since=; -1 for none.
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
		return 0, fault.Errorf(
			fault.InvalidOption,
			"%s is %s; allowed: the seq of an event, 0 or more",
			name,
			input.Quote(text),
		).
			WithParam(name)
	}

	return seq, nil
}

// streamEvents relays a job's events as server-sent events.
func (s *Server) streamEvents(c *fiber.Ctx) error {
	since, err := sinceOf(c)
	if err != nil {
		return err
	}

	running, leave, err := s.streams.Join(lastingEvents)
	if err != nil {
		return err
	}
	ctx, release := conn.WhileConnected(running, c.Context().Conn(), errClientLeft)

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
	// Proxies of the nginx kind hold back what they could buffer.
	c.Set("X-Accel-Buffering", "no")
	c.Context().SetBodyStreamWriter(func(w *bufio.Writer) {
		defer leave()
		defer release()
		defer watch.Close()
		s.writeEvents(ctx, w, watch, since)
	})

	return nil
}

// writeEvents ends after the terminal event, and when the client or the server
// goes.
func (s *Server) writeEvents(ctx context.Context, w *bufio.Writer, watch *tasks.Watch, since int64) {
	fmt.Fprintf(w, "retry: %d\n", retryMillis)

	if since < 0 {
		fmt.Fprintf(w, "id: %d\n", watch.Snapshot.Seq)
	}
	// After a reconnect the snapshot carries no id: a break before the missed
	// events must resume where the last one did.
	fmt.Fprintf(w, "data: %s\n\n", s.views.message(watch.Snapshot))

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
			for more := open; more; {
				fmt.Fprintf(w, "id: %d\ndata: %s\n\n", e.Seq, s.views.message(e))

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
