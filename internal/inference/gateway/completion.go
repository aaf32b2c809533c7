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

// completion is one request on its way. It is for one goroutine.
type completion struct {
	g       *Gateway
	model   *inference.Model
	request *inference.Request
	out     func(*inference.Chunk) error
	result  inference.Result
	print   string // the fingerprint
	// spoke reports whether the answer of the present upstream has emitted anything.
	spoke bool
	// outFailed reports whether out failed, which is no fault of the upstream.
	outFailed bool
	// corrects reports whether the model corrects its calls, read whether the caller has
	// read content of the try that is corrected.
	corrects, read bool
	// images are those that were fetched, as data URIs by address.
	images map[string]string
	// rounds is nil without built-in tools.
	rounds *rounds
}

func (c *completion) run(ctx context.Context) error {
	r := c.request
	if slices.ContainsFunc(r.Tools, func(t inference.Tool) bool { return t.Type != inference.FunctionTool }) {
		var err error
		if c.rounds, r, err = c.begin(ctx); err != nil {
			return err
		}
		defer c.rounds.close()
	}

	answers, err := c.ask(ctx, r)
	for err == nil && c.rounds.goOn(answers[0]) {
		c.g.opts.Idle(ctx, func() { r, err = c.rounds.next(ctx, r, answers[0]) })

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

// ask gets whole answers. If there is only one, the model may have had to correct it:
// the caller reads what the model said in the first try, and the calls of the second.
func (c *completion) ask(ctx context.Context, r *inference.Request) ([]*normaliser, error) {
	c.corrects, c.read = false, false

	answers, err := c.answer(ctx, r)
	if wrong, ok := errors.AsType[*wrongArguments](
		err,
	); ok && c.model.ToolValidation == inference.ValidateFeedBack &&
		len(answers) == 1 {
		first := answers[0]
		c.corrects, c.read = true, !first.hold && len(first.text) > 0
		answers, err = c.answer(ctx, first.calls.feedBack(r, wrong))
	}

	return answers, err
}

// conclude emits what was kept back of an answer. r is the request that n answers.
func (c *completion) conclude(ctx context.Context, r *inference.Request, n *normaliser) error {
	if more := n.calls.release(); len(more) > 0 {
		if err := n.emit(&inference.Chunk{ToolCalls: more}); err != nil {
			return err
		}
	}

	switch {
	case c.request.Format.JSON() && len(n.calls.list) == 0:
		return c.holdJSON(ctx, r, n)
	case n.hold && len(n.text) > 0 && !(n.quiet && len(n.calls.list) > 0):
		text := string(n.text)
		if c.read {
			text = "\n\n" + text
		}

		return n.emit(&inference.Chunk{Content: text})
	}

	return nil
}

// answer gets the answers to a request from some upstream: tries go on as long as it
// has emitted nothing and the failure is the upstream's.
func (c *completion) answer(ctx context.Context, r *inference.Request) ([]*normaliser, error) {
	var answers []*normaliser
	c.spoke = false

	err := c.g.attempt(
		ctx,
		c.model,
		turn{c.request.Owner, c.request.ServiceTier},
		func(u *inference.Upstream) attempted {
			c.result.Upstream = u.Name
			var used inference.Usage
			var err error
			answers, used, err = c.try(ctx, u, r)

			a := attempted{err: err, emitted: c.spoke, unheard: c.outFailed}
			if a.upstreams(ctx) && !a.emitted {
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

// try calls one upstream once, and returns also what the call used.
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
		if r, err = c.inline(ctx, r); err != nil {
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
	c.print = fingerprint(u)

	answers := make([]*normaliser, r.Choices())
	for i := range answers {
		answers[i] = newNormaliser(c.model, r, c.rounds.functionNames(), func(chunk *inference.Chunk) error {
			chunk.Choice = i
			return c.emit(chunk)
		})
		answers[i].quiet = c.corrects
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
			silence.begin()
		} else {
			silence.life()
		}

		if d.Fingerprint != "" {
			c.print = d.Fingerprint
		}

		return answers[d.Choice].push(d)
	})
	for _, n := range answers {
		if err == nil {
			err = n.end()
		}
	}
	// Services charge for a prompt even if the caller leaves before the first token.
	used := spent(r, answers, at, alive || ctx.Err() != nil)
	if err != nil {
		return answers, used, endedBy(ctx, err)
	}

	return answers, used, nil
}

// holds reports whether the content is kept back until the answer was checked: JSON that
// is not streamed, or that the engine does not check itself.
func (c *completion) holds(t inference.Traits) bool {
	// What a model says between its calls of tools is no part of the document.
	native := (t.NativeJSON || c.model.Can(inference.CanJSONSchema)) && c.rounds == nil
	return c.request.Format.JSON() && (!c.request.Stream || !native)
}

// emit puts the first chunk before the others.
func (c *completion) emit(chunk *inference.Chunk) error {
	if !c.result.Emitted {
		c.result.Emitted = true
		if err := c.out(&inference.Chunk{First: true, Fingerprint: c.print}); err != nil {
			c.outFailed = true
			return err
		}
	}
	c.spoke = true
	c.rounds.hear(chunk)
	err := c.out(chunk)
	c.outFailed = err != nil

	return err
}

// fingerprint names an upstream's configuration where it does not itself.
func fingerprint(u *inference.Upstream) string {
	sum := sha256.Sum256([]byte(u.Key()))
	return fmt.Sprintf("fp_%s", hex.EncodeToString(sum[:5]))
}

// isAnswer reports whether the delta is a piece of the answer, not just a sign of life.
func isAnswer(d *inference.Delta) bool {
	return d.Content != "" || d.Reasoning != "" || len(d.ToolCalls) > 0 || d.Finish != ""
}
