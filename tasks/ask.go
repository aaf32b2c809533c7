package tasks

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/oklog/ulid/v2"

	"presswork/internal/fault"
	"presswork/tasks/stream"
)

// maxReplyBytes is the largest encoded answer in bytes. Redis holds an answer for about a minute, so it bounds
// memory.
const maxReplyBytes = 8 << 20

// reply is the only frame of a call by Ask.
type reply struct {
	// Answer is the handler's answer, nil after an error. Error is the public form of the error.
	Answer any          `json:"answer,omitempty"`
	Error  *fault.Error `json:"error,omitempty"`
}

// Ask runs a task as a call and returns the answer of its HandleAsk handler as JSON. Callers with the same
// key at the same time share one task and its answer; callers with the key "" do not share. ctx bounds the
// wait. Errors: the handler's, QueueFull, QueueUnavailable, Internal when the worker gave no answer, the
// cause of ctx.
func (c *Client) Ask(ctx context.Context, key string, t Task) (json.RawMessage, error) {
	call := stream.Call{Kind: t.Kind, ID: NewID(), Owner: plainOwner, Tier: stream.OnDemand, Body: t.Payload}
	if key != "" {
		call.ID, call.Shared = sharedID(t.Kind, key), true
	}

	answer, err := c.call(ctx, call)
	if err != nil {
		return nil, err
	}
	defer answer.Close()

	frames, err := answer.Next(ctx)
	if errors.Is(err, io.EOF) {
		return nil, fault.Errorf(fault.Internal, "the worker of this request ended without an answer")
	}

	if err != nil {
		return nil, err
	}

	var data json.RawMessage
	r := reply{Answer: &data}

	if err := json.Unmarshal(frames[0], &r); err != nil {
		return nil, fmt.Errorf("answer to a %s call: %w", t.Kind, err)
	}

	if r.Error != nil {
		return nil, r.Error
	}

	return data, nil
}

// sharedID returns the id of the call that callers with this key share, in the form of NewID. The kind is part of
// the hash, so that equal keys of two kinds do not meet.
func sharedID(kind, key string) string {
	sum := sha256.Sum256([]byte(kind + "\x00" + key))
	return ulid.ULID(sum[:16]).String()
}

// HandleAsk makes the server answer Client.Ask for a kind. The handler's answer, which may be nil, is
// encoded as JSON. An error that would retry a job retries the call, up to the kind's Retries. The caller
// gets any other error at once. ctx ends when all callers have left, after the kind's Timeout, and when the
// server stops. Call HandleAsk before Start.
func HandleAsk[P any](s *Server, k Kind[P], h func(ctx context.Context, payload P) (answer any, err error)) {
	handleCalls(s, Kind[CallTask](k), func(ctx context.Context, run *stream.Run) error {
		payload, err := decodePayload[P](k.Name, run.Call.Body)
		var r reply

		if err == nil {
			r.Answer, err = h(ctx, payload)
		}

		switch cause := context.Cause(ctx); {
		case err == nil:
		case errors.Is(cause, errDraining), errors.Is(cause, stream.ErrLeft):
			// Send no frame: stream.Server queues the call again when the worker stops, and forgets it without callers.
			return cause
		case cause != nil:
			err = cause
		case verdictOf(err) != final && run.Attempt <= k.Retries:
			return fmt.Errorf("%w: %w", stream.ErrAgain, err)
		}

		frame, err := r.frame(err)
		if err != nil {
			s.log.Warn("a call ended with an error", "call_id", run.ID, "kind", k.Name, "err", err)
		}

		return run.Finish(frame)
	})
}

// frame encodes the answer, or err instead. It returns the error that it has encoded.
func (r reply) frame(err error) ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false) // an SVG picture has a < and a > for each tag

	if err == nil {
		err = encoder.Encode(r)
	}

	if err == nil && b.Len() > maxReplyBytes {
		err = fault.Errorf(fault.ContentTooComplex, "the answer has %d bytes; the limit is %d", b.Len(), maxReplyBytes)
	}

	if err != nil {
		b.Reset()
		// This cannot fail: a public error has only texts and numbers.
		_ = encoder.Encode(reply{Error: publicError(err)})
	}

	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}
