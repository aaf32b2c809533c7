package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/gofiber/contrib/websocket"
	"github.com/gofiber/fiber/v2"

	"presswork"
	"presswork/api/exchange"
	"presswork/api/metrics"
	"presswork/internal/fault"
	"presswork/tasks"
)

const (
	// frameTimeout bounds writing one frame.
	frameTimeout = 10 * time.Second
	// closeTimeout is how long the client may take to answer a close frame.
	closeTimeout = time.Second
	// readLimit is the largest message of a client, in bytes. The server reads messages only to discard them.
	readLimit = 4 << 10
)

// errPeerClosed ends a relay whose client has disconnected.
var errPeerClosed = errors.New("the client has closed the connection")

// openSocket answers GET /api/conversion/ws/{id}. It upgrades the connection after all checks, because an error has
// an HTTP status only before the upgrade.
func (s *Server) openSocket(c *fiber.Ctx) error {
	meta := exchange.Of(c.Context())
	if origin := c.Get(fiber.HeaderOrigin); origin != "" {
		if err := s.origins.Check(origin, meta.Site); err != nil {
			return err
		}
	}

	since, err := sinceOf(c)
	if err != nil {
		return err
	}

	rec, err := s.ownJob(c, c.Params("id"))
	if err != nil {
		return err
	}

	refuse := func() error {
		c.Set(fiber.HeaderUpgrade, "websocket")
		c.Set(fiber.HeaderConnection, "Upgrade")
		c.Set(fiber.HeaderSecWebSocketVersion, "13")

		return &exchange.StatusError{
			Status: http.StatusUpgradeRequired,
			Err: fault.Errorf(fault.InvalidRequest,
				"this address speaks WebSocket, version 13; connect with ws:// or wss://"),
		}
	}
	if !websocket.IsWebSocketUpgrade(c) {
		return refuse()
	}

	if s.streams.Stopping() {
		return fault.AsError(context.Cause(s.streams.Stopped()))
	}

	socket := websocket.New(func(conn *websocket.Conn) { s.relaySocket(conn, rec.ID, since) },
		websocket.Config{RecoverHandler: s.recoverSocket})
	if socket(c) != nil {
		return refuse()
	}

	return nil
}

// recoverSocket logs a panic of a socket's goroutine. It must be deferred directly.
func (s *Server) recoverSocket(*websocket.Conn) {
	if p := recover(); p != nil {
		s.Log.Error("panic in a WebSocket", "panic", p, "stack", string(debug.Stack()))
	}
}

// relaySocket sends the events of a job to a socket. The connection belongs to the WebSocket library again after
// relaySocket has returned, so the reading goroutine ends first.
func (s *Server) relaySocket(conn *websocket.Conn, job string, since int64) {
	running, leave, err := s.streams.Join(metrics.Socket)
	if err != nil {
		// The server began to stop after the upgrade. With this ended context, writeSocket closes with code 1001.
		running, leave = s.streams.Stopped(), func() {}
	}
	defer leave()

	ctx, cancel := context.WithCancelCause(running)
	defer cancel(nil)

	reading := make(chan struct{})
	go func() {
		defer close(reading)
		defer s.recoverSocket(conn)
		cancel(s.readSocket(conn))
	}()
	code, text := s.writeSocket(ctx, conn, job, since)
	endSocket(conn, code, text, reading)
}

// readSocket answers pings and close frames, and drops messages. It returns errPeerClosed when the client has
// disconnected, or has been silent for three ping intervals.
func (s *Server) readSocket(conn *websocket.Conn) error {
	extend := func(string) error { return conn.SetReadDeadline(time.Now().Add(3 * s.PingInterval)) }
	conn.SetReadLimit(readLimit)
	conn.SetPongHandler(extend)

	if err := extend(""); err != nil {
		return errPeerClosed
	}

	for {
		_, message, err := conn.NextReader()
		if err == nil {
			// The library checks the read limit only when a message is read, not when it is skipped.
			_, err = io.Copy(io.Discard, message)
		}

		if err != nil {
			return errPeerClosed
		}
	}
}

// writeSocket writes the snapshot, the events and the pings. It returns the code and the text of the close frame.
func (s *Server) writeSocket(
	ctx context.Context, conn *websocket.Conn, job string, since int64,
) (code int, text string) {
	watch, err := s.Queue.Watch(ctx, job, since)
	if err != nil {
		return s.closeCode(ctx, err)
	}
	defer watch.Close()

	gone := s.artifactGone(watch.Record)
	if s.sendEvent(conn, watch.Snapshot, gone) != nil {
		return websocket.CloseAbnormalClosure, ""
	}

	ping := time.NewTicker(s.PingInterval)
	defer ping.Stop()

	for {
		var err error

		select {
		case <-ctx.Done():
			return s.closeCode(ctx, context.Cause(ctx))
		case <-ping.C:
			err = conn.WriteControl(websocket.PingMessage, nil, time.Now().Add(frameTimeout))
		case e, open := <-watch.Events:
			if !open {
				return s.closeCode(ctx, watch.Err())
			}
			err = s.sendEvent(conn, e, gone)
		}

		if err != nil {
			return websocket.CloseAbnormalClosure, ""
		}
	}
}

// sendEvent sends one event. gone reports that the result is no longer stored. A client that does not read for
// frameTimeout is disconnected.
func (s *Server) sendEvent(conn *websocket.Conn, e presswork.Event, gone bool) error {
	if err := conn.SetWriteDeadline(time.Now().Add(frameTimeout)); err != nil {
		return err
	}

	return conn.WriteMessage(websocket.TextMessage, s.views.Message(e, gone))
}

// closeCode returns the close frame for the error that ended a watch; nil means that the job has ended.
func (s *Server) closeCode(ctx context.Context, err error) (code int, text string) {
	switch {
	case err == nil:
		return websocket.CloseNormalClosure, "the job has ended"
	case errors.Is(context.Cause(ctx), errPeerClosed):
		return websocket.CloseAbnormalClosure, ""
	case s.streams.Stopping():
		return websocket.CloseGoingAway, "the server is shutting down; connect again with ?since="
	case errors.Is(err, tasks.ErrSlow):
		return websocket.CloseTryAgainLater, "too slow; connect again with ?since="
	default:
		s.Log.Warn("cannot relay events to a WebSocket", "error", err)
		return websocket.CloseTryAgainLater, "events are not available; connect again with ?since="
	}
}

// endSocket sends the close frame, waits up to closeTimeout for the answer, and ends the reading goroutine. It
// sends nothing for CloseAbnormalClosure: the client has disconnected.
func endSocket(conn *websocket.Conn, code int, text string, reading <-chan struct{}) {
	message, deadline := websocket.FormatCloseMessage(code, text), time.Now().Add(frameTimeout)
	if code != websocket.CloseAbnormalClosure &&
		conn.WriteControl(websocket.CloseMessage, message, deadline) == nil {
		select {
		case <-reading:
			return
		case <-time.After(closeTimeout):
		}
	}
	// A pong may extend the deadline again, so set it until the goroutine has ended. The library ignores Close on
	// a connection that it still owns.
	for {
		err := conn.SetReadDeadline(time.Now())

		select {
		case <-reading:
			return
		case <-time.After(20 * time.Millisecond):
		}

		if err != nil {
			return
		}
	}
}
