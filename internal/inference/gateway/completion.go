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

// completion is the state of one request. It is for one goroutine.
type completion struct {
	g       *Gateway
	model   *inference.Model
	request *inference.Request
	out     func(*inference.Chunk) error
	result  inference.Result
	// fingerprint is the system_fingerprint of the upstream that answers.
	fingerprint string
	// emitted reports that the present try has emitted something.
	emitted bool
	// outFailed reports that out returned an error, for which the upstream is not to blame.
	outFailed bool
	// corrects reports that the model corrects its calls. shown reports that the caller has
	// received content of the try that is corrected.
	corrects, shown bool
	// images are the images that were fetched, as data URIs by address.
	images map[string]string
	// rounds is nil without built-in tools.
	rounds *rounds
}

// run answers the request: one round without built-in tools, else as many as the model needs.
func (c *completion) run(ctx context.Context) error {
	r := c.request
	if slices.ContainsFunc(r.Tools, func(t inference.Tool) bool { return t.Type != inference.FunctionTool }) {
		var err error
		if c.rounds, r, err = c.beginRounds(ctx); err != nil {
			return err
		}
		defer c.rounds.close()
	}

	answers, err := c.ask(ctx, r)
	for err == nil && c.rounds.needsRound(answers[0]) {
		c.g.opts.Idle(ctx, func() { r, err = c.rounds.nextRound(ctx, r, answers[0]) })

		if err == nil {
			answers, err = c.ask(ctx, r)
		}
	}

	if err != nil {
		return err
	}

	for _, n := range answers {
		if err := c.conclude(ctx, r, n); err != nil {
			return err
		}
	}

	if c.rounds != nil {
		if err := c.rounds.annotate(); err != nil {
			return err
		}
	}

	for i, n := range answers {
		last := &inference.Chunk{Choice: i, Finish: n.finish}
		if i == len(answers)-1 {
			c.result.Finish, last.Usage = n.finish, new(c.result.Usage)
		}

		if err := c.emit(last); err != nil {
			return err
		}
	}

	return nil
}

// ask returns complete answers. If a single answer has wrong tool calls, a model with feed_back
// corrects them. Then the caller gets the content of the first try and the calls of the second.
func (c *completion) ask(ctx context.Context, r *inference.Request) ([]*normaliser, error) {
	c.corrects, c.shown = false, false

	answers, err := c.answer(ctx, r)

	wrong, ok := errors.AsType[*wrongArguments](err)
	if ok && c.model.ToolValidation == inference.ValidateFeedBack && len(answers) == 1 {
		first := answers[0]
		c.corrects, c.shown = true, !first.hold && len(first.text) > 0
		answers, err = c.answer(ctx, first.calls.feedBack(r, wrong))
	}

	return answers, err
}

// conclude emits the part of an answer that was held back. r is the request that n answers.
func (c *completion) conclude(ctx context.Context, r *inference.Request, n *normaliser) error {
	if more := n.calls.release(); len(more) > 0 {
		if err := n.emit(&inference.Chunk{ToolCalls: more}); err != nil {
			return err
		}
	}

	switch {
	case c.request.Format.JSON() && len(n.calls.list) == 0:
		return c.concludeJSON(ctx, r, n)
	case n.hold && len(n.text) > 0 && !(n.correction && len(n.calls.list) > 0):
		text := string(n.text)
		if c.shown {
			text = "\n\n" + text
		}

		return n.emit(&inference.Chunk{Content: text})
	}

	return nil
}

// answer returns the answers of an upstream to a request, with their calls checked. It tries
// other upstreams as attempt does.
func (c *completion) answer(ctx context.Context, r *inference.Request) ([]*normaliser, error) {
	var answers []*normaliser
	c.emitted = false

	err := c.g.attempt(
		ctx,
		c.model,
		claim{c.request.Owner, c.request.ServiceTier},
		func(u *inference.Upstream) attempted {
			c.result.Upstream = u.Name
			var used inference.Usage
			var err error
			answers, used, err = c.try(ctx, u, r)

			a := attempted{err: err, emitted: c.emitted, callerFailed: c.outFailed}
			if a.upstreamFailed(ctx) && !a.emitted {
				c.result.Failed.Add(used)
			} else {
				c.result.Usage.Add(used)
			}

			return a
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

// try calls one upstream once. It also returns the usage of the call.
func (c *completion) try(
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

	ctx, silence, stop := newWatch(ctx, &c.model.Routing, 0)
	defer stop()

	c.result.Attempts++

	at := clock{begun: time.Now()}
	if c.result.Attempts == 1 && !r.Accepted.IsZero() {
		c.result.Usage.QueueTime = max(0, at.begun.Sub(r.Accepted).Seconds())
	}
	c.fingerprint = fingerprint(u)

	answers := make([]*normaliser, r.Choices())
	for i := range answers {
		answers[i] = newNormaliser(c.model, r, c.rounds.functionNames(), func(chunk *inference.Chunk) error {
			chunk.Choice = i
			return c.emit(chunk)
		})
		answers[i].correction = c.corrects
		answers[i].hold = c.corrects || c.holds(traits)
	}
	alive := false

	err = engine.Complete(ctx, r, c.model, func(d *inference.Delta) error {
		alive = true

		if isAnswer(d) {
			at.last = time.Now()
			if at.first.IsZero() {
				at.first = at.last
			}
			silence.recordAnswer()
		} else {
			silence.extend()
		}

		if d.Fingerprint != "" {
			c.fingerprint = d.Fingerprint
		}

		return answers[d.Choice].push(d)
	})
	for _, n := range answers {
		if err == nil {
			err = n.end()
		}
	}
	// Services charge for a prompt even if the caller disconnects before the first token.
	used := spent(r, answers, at, alive || ctx.Err() != nil)
	if err != nil {
		return answers, used, endedBy(ctx, err)
	}

	return answers, used, nil
}

// holds reports whether the content is held back until the answer was checked. That is so for
// JSON that is not streamed, or that the engine does not check itself.
func (c *completion) holds(t inference.Traits) bool {
	// Between calls of tools a model may write text that is not part of the JSON.
	native := (t.NativeJSON || c.model.Can(inference.CanJSONSchema)) && c.rounds == nil
	return c.request.Format.JSON() && (!c.request.Stream || !native)
}

// emit passes a chunk to the caller. Before the first one it emits a chunk with First set.
func (c *completion) emit(chunk *inference.Chunk) error {
	if !c.result.Emitted {
		c.result.Emitted = true
		if err := c.out(&inference.Chunk{First: true, Fingerprint: c.fingerprint}); err != nil {
			c.outFailed = true
			return err
		}
	}
	c.emitted = true
	c.rounds.follow(chunk)
	err := c.out(chunk)
	c.outFailed = err != nil

	return err
}

// fingerprint returns a system_fingerprint for an upstream that sends none.
func fingerprint(u *inference.Upstream) string {
	sum := sha256.Sum256([]byte(u.Key()))
	return fmt.Sprintf("fp_%s", hex.EncodeToString(sum[:5]))
}

// isAnswer reports whether the delta is a piece of the answer, not just a sign of life.
func isAnswer(d *inference.Delta) bool {
	return d.Content != "" || d.Reasoning != "" || len(d.ToolCalls) > 0 || d.Finish != ""
}
