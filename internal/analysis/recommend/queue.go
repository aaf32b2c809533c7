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

// Caller is the part of the queue that this package uses. *tasks.Client implements it.
type Caller interface {
	Call(ctx context.Context, call stream.Call) (*stream.Answer, error)
}

// owner is the name under which readings are recorded in the ledger and queued.
const owner = "presswork:analysis"

// Direct returns a Model of the catalogue that runs in this process. A worker uses it, because a worker must not
// wait for its own queue. complete runs a request and records its usage under the key.
func Direct(
	complete func(ctx context.Context, key string, r *inference.Request, emit func(*inference.Chunk) error) error,
	model string,
) *Model {
	return &Model{Name: model, Ask: func(ctx context.Context, r *inference.Request) (string, error) {
		r.Model = model
		var text strings.Builder
		err := complete(ctx, owner, r, func(c *inference.Chunk) error {
			if text.Len()+len(c.Content) > answerBytes {
				return errAnswerTooLong
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

		return readAnswer(ctx, answer)
	}}
}

// readAnswer reads all frames of an answer.
func readAnswer(ctx context.Context, answer *stream.Answer) (string, error) {
	var text strings.Builder

	for {
		raw, err := answer.Next(ctx)
		if errors.Is(err, io.EOF) {
			return "", inference.NoResult()
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
				return "", errAnswerTooLong
			}
			text.WriteString(f.Chunk.Content)
		}

		if ended {
			return text.String(), nil
		}
	}
}
