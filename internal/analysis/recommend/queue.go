package recommend

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	"presswork/internal/inference"
	"presswork/tasks/stream"
)

// Caller is the queue's part: *tasks.Client.
type Caller interface {
	Call(ctx context.Context, call stream.Call) (*stream.Answer, error)
}

// owner is whose use the ledger names, and whose line readings stand in.
const owner = "presswork:analysis"

// Direct is a Model of the catalogue that this process asks itself: a worker,
// which must not wait for its own queue. Complete runs a request, and records what
// it uses under the key.
func Direct(
	complete func(ctx context.Context, key string, r *inference.Request, emit func(*inference.Chunk) error) error,
	model string,
) *Model {
	return &Model{Name: model, Ask: func(ctx context.Context, r *inference.Request) (string, error) {
		r.Model = model
		var text strings.Builder
		err := complete(ctx, owner, r, func(c *inference.Chunk) error {
			if text.Len()+len(c.Content) > answerBytes {
				return errBoundless
			}
			text.WriteString(c.Content)

			return nil
		})

		return text.String(), err
	}}
}

// Queue is a Model of the catalogue, called through the inference queue.
func Queue(calls Caller, model string) *Model {
	return &Model{Name: model, Ask: func(ctx context.Context, r *inference.Request) (string, error) {
		r.Model = model

		body, err := json.Marshal(inference.Job{Request: r})
		if err != nil {
			return "", err
		}

		answer, err := calls.Call(ctx, stream.Call{Owner: owner, Tier: stream.OnDemand, Body: body})
		if err != nil {
			return "", err
		}
		defer answer.Close()

		return whole(ctx, answer)
	}}
}

// whole reads an answer to its end.
func whole(ctx context.Context, answer *stream.Answer) (string, error) {
	var text strings.Builder

	for {
		raw, err := answer.Next(ctx)
		if errors.Is(err, io.EOF) {
			return "", inference.GaveUp()
		}

		if err != nil {
			return "", err
		}

		frames, ended, err := inference.ReadFrames(raw)
		if err != nil {
			return "", err
		}

		for _, f := range frames {
			if f.Chunk == nil {
				continue
			}

			if text.Len()+len(f.Chunk.Content) > answerBytes {
				return "", errBoundless
			}
			text.WriteString(f.Chunk.Content)
		}

		if ended {
			return text.String(), nil
		}
	}
}
