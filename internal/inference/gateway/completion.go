package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"presswork/internal/inference"
)

// completion is the state of one request. It is not safe for concurrent use.
type completion struct {
	g       *Gateway
	model   *inference.Model
	request *inference.Request
	out     func(*inference.Chunk) error
	result  inference.Result
	// fingerprint is the system_fingerprint of the upstream that answers.
	fingerprint string
	// ignored are fields of the request that the answering model or upstream does not know.
	ignored []string
	// emitted reports that the current call of an upstream has emitted something.
	emitted bool
	// outFailed reports that out returned an error. It does not count as a failure of the upstream.
	outFailed bool
	// corrects reports that the current call asks the model to correct its tool calls. contentSent reports that the
	// caller has received content of the answer with the wrong calls.
	corrects, contentSent bool
	// images are the images that were fetched, as data URIs by address.
	images map[string]string
	// rounds is nil without built-in tools.
	rounds *rounds
}

// run answers the request: one round without built-in tools, else as many as the model needs.
func (c *completion) run(ctx context.Context) error {
	r, err := c.openTools(ctx)
	if err != nil {
		return err
	}
	defer c.rounds.close()

	// Built-in tools and several choices exclude each other, so a further round depends on the only answer.
	answers, err := c.requestCorrected(ctx, r)
	for err == nil && c.rounds.needsRound(answers[0]) {
		c.g.opts.Idle(ctx, func() { r, err = c.rounds.nextRound(ctx, r, answers[0]) })

		if err == nil {
			answers, err = c.requestCorrected(ctx, r)
		}
	}

	if err != nil {
		return err
	}

	for _, n := range answers {
		if err := c.emitHeld(ctx, r, n); err != nil {
			return err
		}
	}

	if c.rounds != nil {
		if err := c.rounds.annotate(); err != nil {
			return err
		}

		if calls := c.rounds.approvals; len(calls) > 0 {
			if err := c.emit(&inference.Chunk{Approvals: calls}); err != nil {
				return err
			}
		}
	}

	// The finish reasons come last, and the usage of the whole request with the last of them.
	for i, n := range answers {
		last := &inference.Chunk{Choice: i, Finish: n.finish, StopSequence: n.stop}
		if i == len(answers)-1 {
			c.result.Finish, last.Usage = n.finish, new(c.result.Usage)
		}

		if err := c.emit(last); err != nil {
			return err
		}
	}

	return nil
}

// requestCorrected returns complete answers. If a single answer has wrong tool calls, a model with feed_back corrects
// them. Then the caller receives the content of the first answer and the calls of the second.
func (c *completion) requestCorrected(ctx context.Context, r *inference.Request) ([]*normaliser, error) {
	c.corrects, c.contentSent = false, false

	answers, err := c.requestAnswers(ctx, r)

	wrong, ok := errors.AsType[*wrongArguments](err)
	if ok && c.model.ToolValidation == inference.ValidateFeedBack && len(answers) == 1 {
		first := answers[0]
		c.corrects, c.contentSent = true, !first.holdContent && len(first.text) > 0
		answers, err = c.requestAnswers(ctx, first.calls.feedBack(r, wrong))
	}

	return answers, err
}

// emitHeld emits the part of an answer that was held back. r is the request that n answers.
func (c *completion) emitHeld(ctx context.Context, r *inference.Request, n *normaliser) error {
	if more := n.calls.releaseHeld(); len(more) > 0 {
		if err := n.emit(&inference.Chunk{ToolCalls: more}); err != nil {
			return err
		}
	}

	switch {
	case c.request.Format.JSON() && len(n.calls.list) == 0:
		return c.concludeJSON(ctx, r, n)
	case n.correction && len(n.calls.list) > 0:
		return nil // drop the text next to corrected calls: the caller has that of the first answer
	case n.holdContent && len(n.text) > 0:
		text := string(n.text)
		if c.contentSent {
			text = "\n\n" + text
		}

		return n.emit(&inference.Chunk{Content: text})
	}

	return nil
}

// requestAnswers returns the answers of an upstream to a request, with their calls checked. It tries other upstreams
// as tryUpstreams does.
func (c *completion) requestAnswers(ctx context.Context, r *inference.Request) ([]*normaliser, error) {
	var answers []*normaliser
	c.emitted = false

	err := c.g.tryUpstreams(
		ctx,
		c.model,
		requester{c.request.Owner, c.request.ServiceTier},
		func(u *inference.Upstream) outcome {
			c.result.Upstream = u.Name
			var used inference.Usage
			var err error
			answers, used, err = c.callUpstream(ctx, u, r)

			result := outcome{err: err, emitted: c.emitted, callerFailed: c.outFailed}
			if result.upstreamFailed(ctx) && !result.emitted { // another upstream may answer
				c.result.Failed.Add(used)
			} else {
				c.result.Usage.Add(used)
			}

			return result
		},
	)
	if err != nil {
		return nil, err
	}

	for _, n := range answers {
		if err := n.calls.check(r, string(n.text), n.finish == "length"); err != nil {
			return answers, err
		}
	}

	return answers, nil
}

// callUpstream sends the request to one upstream, once. It also returns the usage of the call.
func (c *completion) callUpstream(
	ctx context.Context,
	u *inference.Upstream,
	r *inference.Request,
) ([]*normaliser, inference.Usage, error) {
	engine, err := c.g.engine(u)
	if err != nil {
		return nil, inference.Usage{}, err
	}

	traits := engine.Traits()
	if !traits.FetchesImages && r.Images() > 0 {
		if r, err = c.inlineImages(ctx, r); err != nil {
			return nil, inference.Usage{}, err
		}
	}

	ctx, watch, stop := newWatch(ctx, &c.model.Routing, 0)
	defer stop()

	c.result.Attempts++

	times := callTimes{begun: time.Now()}
	// The time until the first call is the wait in the queue. Later calls wait for upstreams or tools instead.
	if c.result.Attempts == 1 && !r.Accepted.IsZero() {
		c.result.Usage.QueueTime = max(0, times.begun.Sub(r.Accepted).Seconds())
	}

	c.fingerprint = fingerprint(u)
	// The first chunk carries the ignored fields, so a later upstream can no longer change them.
	if !c.result.Emitted {
		c.ignored = slices.Concat(r.Ignored, u.Ignores(r))
	}

	answers := make([]*normaliser, r.Choices())
	for i := range answers {
		answers[i] = newNormaliser(c.model, r, c.rounds.functionNames(), func(chunk *inference.Chunk) error {
			chunk.Choice = i
			return c.emit(chunk)
		})
		answers[i].correction = c.corrects
		answers[i].holdContent = c.corrects || c.holdsContent(traits)
	}
	alive := false // the upstream has sent something

	err = engine.Complete(ctx, r, c.model, func(d *inference.Delta) error {
		alive = true

		if isAnswer(d) {
			times.last = time.Now()
			if times.first.IsZero() {
				times.first = times.last
			}
			watch.recordAnswer()
		} else {
			watch.extend()
		}

		if d.Fingerprint != "" {
			c.fingerprint = d.Fingerprint
		}

		return answers[d.Choice].push(d)
	})
	for _, n := range answers {
		if err == nil {
			err = n.finishAnswer()
		}
	}
	// Services charge for a prompt even if the caller disconnects before the first token.
	used := usageOf(r, answers, times, alive || ctx.Err() != nil)
	if err != nil {
		return answers, used, endedBy(ctx, err)
	}

	return answers, used, nil
}

// holdsContent reports whether to hold the content back until the answer has been checked. This applies to JSON that
// is not streamed, or that the engine does not check itself.
func (c *completion) holdsContent(t inference.Traits) bool {
	// Between calls of tools a model may write text that is not part of the JSON.
	native := (t.NativeJSON || c.model.Can(inference.CanJSONSchema)) && c.rounds == nil
	return c.request.Format.JSON() && (!c.request.Stream || !native)
}

// emit passes a chunk to the caller. Before the first one it emits a chunk with First set.
func (c *completion) emit(chunk *inference.Chunk) error {
	if !c.result.Emitted {
		c.result.Emitted = true
		if err := c.out(&inference.Chunk{First: true, Fingerprint: c.fingerprint, Ignored: c.ignored}); err != nil {
			c.outFailed = true
			return err
		}
	}
	c.rounds.addListings(chunk)
	c.emitted = true
	c.rounds.prepareChunk(chunk)
	err := c.out(chunk)
	c.outFailed = err != nil

	return err
}

// fingerprint returns a system_fingerprint for an upstream that sends none.
func fingerprint(u *inference.Upstream) string {
	sum := sha256.Sum256([]byte(u.Key()))
	return fmt.Sprintf("fp_%s", hex.EncodeToString(sum[:5]))
}

// isAnswer reports whether the delta is a piece of the answer. Other deltas show only that the upstream is alive.
func isAnswer(d *inference.Delta) bool {
	return d.Content != "" || d.Reasoning != "" || d.Thought != nil || len(d.ToolCalls) > 0 || d.Finish != ""
}
