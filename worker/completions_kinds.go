package worker

import (
	"context"
	"slices"

	"presswork/internal/inference"
)

// emitFrame sends a frame to the caller. first marks the first one of an answer.
type emitFrame = func(f inference.Frame, first bool) error

// runJob runs the request of a job with the gateway and passes its answer to emit.
func (c *Completions) runJob(ctx context.Context, job inference.Job, emit emitFrame) (inference.Result, error) {
	run := c.chat

	switch {
	case job.Speech != nil:
		run = c.speak
	case job.Embedding != nil:
		run = c.embed
	case job.Reranking != nil:
		run = c.rerank
	case job.Relay != nil:
		run = c.relay
	case job.Count:
		run = c.count
	}

	return run(ctx, job, emit)
}

// chat runs a call for a completion and sends each chunk.
func (c *Completions) chat(ctx context.Context, job inference.Job, emit emitFrame) (inference.Result, error) {
	return c.Gateway.Complete(ctx, job.Request, func(chunk *inference.Chunk) error {
		c.metrics.recordServerCalls(chunk.Executed)

		return emit(inference.Frame{Chunk: chunk}, chunk.First)
	})
}

// speak runs a call for speech and sends each sound. The caller may have received a sound, so the call cannot start
// over after the first.
func (c *Completions) speak(ctx context.Context, job inference.Job, emit emitFrame) (inference.Result, error) {
	result := inference.Result{Model: job.Speech.Model}
	job.Speech.Owner = job.Request.Owner
	err := c.Gateway.Speak(ctx, job.Speech, func(sound *inference.Sound) error {
		first := !result.Emitted
		result.Emitted = true

		return emit(inference.Frame{Sound: sound}, first)
	})

	return result, err
}

// maxVectorBytes limits the vectors or the part of a relayed answer in one frame, in bytes. A larger vector has a frame
// of its own.
const maxVectorBytes = 256 << 10

// embed runs a call for embeddings. It sends nothing before all vectors are complete, so that another worker can
// start the call over.
func (c *Completions) embed(ctx context.Context, job inference.Job, emit emitFrame) (inference.Result, error) {
	job.Embedding.Owner = job.Request.Owner

	vectors, result, err := c.Gateway.Embed(ctx, job.Embedding)
	if err != nil {
		return result, err
	}
	// All vectors have the same length, and none is empty: package openai checks it.
	perFrame := max(1, maxVectorBytes/len(vectors.Data[0]))

	for part := range slices.Chunk(vectors.Data, perFrame) {
		frame := inference.Frame{Vectors: &inference.Vectors{First: !result.Emitted, Data: part}}
		result.Emitted = true

		if err := emit(frame, frame.Vectors.First); err != nil {
			return result, err
		}
	}

	return result, nil
}

// rerank runs a call that ranks documents.
func (c *Completions) rerank(ctx context.Context, job inference.Job, emit emitFrame) (inference.Result, error) {
	job.Reranking.Owner = job.Request.Owner

	ranking, result, err := c.Gateway.Rerank(ctx, job.Reranking)
	if err != nil {
		return result, err
	}
	result.Emitted = true

	return result, emit(inference.Frame{Ranking: ranking}, true)
}

// relay runs a call that is passed on. It sends nothing before the answer is complete, so that another worker can start
// the call over.
func (c *Completions) relay(ctx context.Context, job inference.Job, emit emitFrame) (inference.Result, error) {
	job.Relay.Owner = job.Request.Owner

	answer, result, err := c.Gateway.Relay(ctx, job.Relay)
	if err != nil {
		return result, err
	}

	for part := range slices.Chunk(answer.Data, maxVectorBytes) {
		frame := inference.Frame{Relayed: &inference.Relayed{First: !result.Emitted, Data: part}}
		result.Emitted = true

		if err := emit(frame, frame.Relayed.First); err != nil {
			return result, err
		}
	}

	return result, nil
}

// count runs a call that counts the tokens of a request.
func (c *Completions) count(ctx context.Context, job inference.Job, emit emitFrame) (inference.Result, error) {
	count, result, err := c.Gateway.CountTokens(ctx, job.Request)
	if err != nil {
		return result, err
	}
	result.Emitted = true

	return result, emit(inference.Frame{Counted: &count}, false) // it has no first token
}
