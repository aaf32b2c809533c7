package worker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"presswork/internal/inference"
	"presswork/internal/inference/gateway"
	"presswork/internal/inference/meter"
	"presswork/tasks/stream"
)

// record writes the usage of a run, also after its caller has left. A count of tokens uses nothing. A superseded run
// writes nothing: the later run does. runCtx is the context of the run, which may have ended. If Redis does not answer
// in time, the use is lost from the ledger, and the log has it.
func (c *Completions) record(run *stream.Run, job inference.Job, result inference.Result, runCtx context.Context) {
	if job.Count {
		return
	}

	timeout := recordTimeout
	if stream.IsStopping(runCtx) {
		timeout = stoppingTimeout
	}

	ctx, cancel := context.WithTimeout(context.WithoutCancel(runCtx), timeout)
	defer cancel()

	u := usage(run.Call.Owner, cmp.Or(result.Model, job.Request.Model), result)
	if errors.Is(context.Cause(runCtx), stream.ErrLeft) {
		u.Cancelled = 1
	}

	if err := retry(ctx, func() error { return c.charge(ctx, run, job, u, result.Usage.TotalTokens) }); err != nil {
		c.Log.ErrorContext(ctx, "the use of a completion was not recorded", "call_id", run.ID, "key", u.Key,
			"model", u.Model, "prompt_tokens", u.PromptTokens, "completion_tokens", u.CompletionTokens, "error", err)
	}
}

// earlierUsage estimates the usage of the run before this one from the frames that it sent. That run died before it
// could record its usage. Without the frames the estimate has only the prompt.
func (c *Completions) earlierUsage(ctx context.Context, run *stream.Run, job inference.Job) inference.Result {
	frames, err := run.Sent(ctx)
	if err != nil {
		c.Log.ErrorContext(ctx, "the frames of a dead worker could not be read", "call_id", run.ID, "error", err)
	}
	model := job.Request.Model
	var chunks []*inference.Chunk

	for _, b := range frames {
		var f inference.Frame
		switch {
		case json.Unmarshal(b, &f) != nil || f.Chunk == nil:
		case f.Chunk.First:
			model = cmp.Or(f.Chunk.Model, model) // a fallback answered
		default:
			chunks = append(chunks, f.Chunk)
		}
	}

	return inference.Result{Model: model, Usage: gateway.EstimateUsage(job.Request, chunks)}
}

// charge records the usage of a call and settles its tokens with the key's limits. It records a call only
// once, even if it is called again.
func (c *Completions) charge(ctx context.Context, run *stream.Run, job inference.Job, u meter.Usage, tokens int) error {
	current, err := run.Current(ctx)
	if err != nil || !current {
		return err
	}
	// A call that is created again after its callers left has the same id, but is another use. Only the time of the
	// creation, in nanoseconds, tells the two apart.
	useID := run.ID + ":" + strconv.FormatInt(run.Call.QueuedAt.UnixNano(), 10)
	if err := c.Meter.Record(ctx, useID, run.Call.QueuedAt, u); err != nil {
		return err
	}

	limits := meter.Limits{TPM: job.TPM, TPD: job.TPD}

	return c.Meter.Settle(ctx, run.Call.Owner, run.ID, limits, useID, tokens)
}

// retry calls write until it succeeds. When ctx ends, it returns the last error. A write may have taken effect although
// it returned an error, so writing twice must have the effect of writing once.
func retry(ctx context.Context, write func() error) error {
	for {
		err := write()
		if err == nil {
			return nil
		}

		select {
		case <-ctx.Done():
			return err
		case <-time.After(recordPause):
		}
	}
}

// usage returns the ledger entry of a completion. It includes failed calls to upstreams, because
// upstreams charge for them.
func usage(key, model string, result inference.Result) meter.Usage {
	u := meter.Usage{Key: key, Model: model, Requests: 1}
	for _, used := range []inference.Usage{result.Usage, result.Failed} {
		u.PromptTokens += int64(used.PromptTokens)
		u.CompletionTokens += int64(used.CompletionTokens)

		u.EstimatedTokens += int64(used.EstimatedTokens)
		if n := used.ReasoningTokens; n != nil {
			u.ReasoningTokens += int64(*n)
		}
	}

	return u
}
