package openai

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"presswork/internal/inference"
	"presswork/internal/inference/upstream"
)

// afterFinish bounds the wait for the usage and the end of the stream after the answer is complete.
const afterFinish = 2 * time.Second

// Client is an inference.Engine on one upstream. It is safe for concurrent use.
type Client struct {
	upstream inference.Upstream
	conn     *upstream.Conn
	// rootConn is for routes of the engine that are not below /v1.
	rootConn *upstream.Conn
	// untimedUntil is when Transcribe may request times again from an upstream that rejected them, in Unix
	// nanoseconds.
	untimedUntil atomic.Int64
}

// New returns a client for an upstream of a kind in the table of engines.go. It connects on the first request.
// The error is about an unknown kind.
func New(u inference.Upstream) (inference.Engine, error) {
	if _, known := engines[u.Kind]; !known {
		return nil, errors.New("unknown kind of upstream " + u.Kind)
	}

	header := http.Header{}
	if u.APIKey != "" {
		header.Set("Authorization", "Bearer "+u.APIKey)
	}

	root := u
	root.BaseURL = strings.TrimSuffix(u.BaseURL, "/v1")

	return &Client{upstream: u, conn: upstream.NewConn(u, header), rootConn: upstream.NewConn(root, header)}, nil
}

// Traits implements inference.Engine.
func (c *Client) Traits() inference.Traits { return engines[c.upstream.Kind].traits }

// Complete sends a request and emits the deltas of its answer. Errors are *inference.Error, the cause of ctx or the
// error of emit.
func (c *Client) Complete(
	ctx context.Context,
	r *inference.Request,
	m *inference.Model,
	emit func(*inference.Delta) error,
) error {
	payload, err := encode(c.upstream, m, r)
	if err != nil {
		return err
	}

	path := "/chat/completions"
	if r.Text != nil {
		path = "/completions"
	}

	resp, err := c.conn.Do(ctx, http.MethodPost, path, payload, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()

	mediaType, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case resp.StatusCode != http.StatusOK:
		return upstream.ResponseError(resp)
	case mediaType == "application/json":
		return readWhole(ctx, resp.Body, r.Choices(), emit)
	case mediaType == "text/html":
		return upstream.ErrWebPage()
	}

	return readStream(ctx, resp.Body, r.Choices(), emit)
}

// Models returns the ids that the upstream serves. Requests may omit Ollama's ":latest", so both names are
// returned. Errors are *inference.Error or the cause of ctx.
func (c *Client) Models(ctx context.Context) ([]string, error) {
	list, err := c.conn.Models(ctx, "/models")

	var ids []string
	for _, id := range list {
		ids = append(ids, id)
		if short, ok := strings.CutSuffix(id, ":latest"); ok {
			ids = append(ids, short)
		}
	}

	return ids, err
}

// readStream reads server-sent events until every answer has a finish reason and the stream ends with [DONE] or its
// end. A stream without a finish reason was cut off.
func readStream(ctx context.Context, r io.ReadCloser, choices int, emit func(*inference.Delta) error) error {
	events := upstream.NewEventReader(r)
	d := decoder{choices: choices}
	answers := finishTracker{emit: emit, unfinished: choices, finished: make([]bool, choices)}

	for {
		data, err := events.Next()
		switch {
		case err == nil:
		case answers.unfinished == 0:
			return nil // all answers are complete; only the usage or [DONE] is missing
		default:
			return upstream.ReadError(ctx, err)
		}

		if data = bytes.TrimSpace(data); len(data) == 0 {
			if err := emit(&inference.Delta{}); err != nil { // shows that the upstream is alive
				return err
			}
			continue
		}

		if string(data) == "[DONE]" {
			upstream.Drain(r)

			switch answers.unfinished {
			case 0:
				return nil
			case choices:
				return upstream.CutOff() // no answer is complete
			}

			return tooFewAnswers()
		}

		deltas, err := d.decode(data)
		if err != nil || data[0] != '{' {
			return upstream.Unreadable("it sent what is not JSON")
		}

		if d.failure != nil {
			return upstream.ErrorOf(http.StatusBadGateway, d.failure)
		}

		wasUnfinished := answers.unfinished > 0
		for i := range deltas {
			if err := answers.push(&deltas[i]); err != nil {
				return err
			}
		}

		// All answers are complete. Wait only a short time for the usage and [DONE].
		if wasUnfinished && answers.unfinished == 0 {
			defer time.AfterFunc(afterFinish, func() { r.Close() }).Stop()
		}
	}
}

// finishTracker tracks which answers of a stream are complete.
type finishTracker struct {
	emit       func(*inference.Delta) error
	unfinished int
	finished   []bool
}

// push emits a delta. It maps the finish reason to one that callers know, and emits it once.
func (e *finishTracker) push(d *inference.Delta) error {
	switch {
	case d.Finish == "":
	case e.finished[d.Choice]:
		d.Finish = ""
	default:
		reason := upstream.FinishReason(d.Finish)
		if reason == "" {
			return upstream.EndedEarly(d.Finish)
		}
		e.finished[d.Choice] = true
		e.unfinished--
		d.Finish = reason
	}

	return e.emit(d)
}

// tooFewAnswers returns the error for an upstream that ignores n.
func tooFewAnswers() error { return upstream.Unreadable("it gave fewer answers than were asked for") }

// readWhole reads the answer of an upstream that does not stream.
func readWhole(ctx context.Context, r io.Reader, choices int, emit func(*inference.Delta) error) error {
	b, err := upstream.ReadWhole(ctx, r, upstream.MaxWhole)
	if err != nil {
		return err
	}
	d := decoder{choices: choices}

	deltas, err := d.decode(b)
	if err != nil {
		return upstream.Unreadable("it sent what is not JSON")
	}

	if d.failure != nil {
		return upstream.ErrorOf(http.StatusBadGateway, d.failure)
	}

	if len(deltas) < choices {
		return tooFewAnswers()
	}

	for i := range deltas {
		delta := &deltas[i]
		if delta.Finish == "" && delta.Content == "" && len(delta.ToolCalls) == 0 {
			return upstream.Unreadable("its answer has no choices")
		}

		reason := upstream.FinishReason(cmp.Or(delta.Finish, "stop")) // the object is complete
		if reason == "" {
			return upstream.EndedEarly(delta.Finish)
		}

		delta.Finish = reason
		if err := emit(delta); err != nil {
			return err
		}
	}

	return nil
}
