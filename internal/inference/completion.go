package inference

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"
)

// completion is one request on its way. It is for one goroutine.
type completion struct {
	g       *Gateway
	model   *Model
	request *Request
	out     func(*Chunk) error
	result  Result
	print   string // the fingerprint
	// spoke reports whether the answer of the present upstream has emitted anything.
	spoke bool
	// outFailed reports whether out failed, which is no fault of the upstream.
	outFailed bool
	// images are those that were fetched, as data URIs by address.
	images map[string]string
	// rounds is nil without built-in tools.
	rounds *rounds
}

func (c *completion) run(ctx context.Context) error {
	r := c.request
	if slices.ContainsFunc(r.Tools, func(t Tool) bool { return t.Type != FunctionTool }) {
		var err error
		if c.rounds, r, err = c.begin(ctx); err != nil {
			return err
		}
		defer c.rounds.close()
	}
	n, err := c.ask(ctx, r)
	for err == nil && c.rounds.goOn(n) {
		if r, err = c.rounds.next(ctx, r, n); err == nil {
			n, err = c.ask(ctx, r)
		}
	}
	if err != nil {
		return err
	}
	return c.conclude(ctx, r, n)
}

// ask gets one whole answer, which the model may have had to correct.
func (c *completion) ask(ctx context.Context, r *Request) (*normaliser, error) {
	n, err := c.answer(ctx, r)
	if wrong, ok := errors.AsType[*wrongArguments](err); ok && c.model.ToolValidation == ValidateFeedBack {
		n, err = c.answer(ctx, n.calls.feedBack(r, wrong))
	}
	return n, err
}

// conclude emits what was kept back of the last answer, and the end. r is the
// request that n answers.
func (c *completion) conclude(ctx context.Context, r *Request, n *normaliser) (err error) {
	if more := n.calls.release(); len(more) > 0 {
		if err := c.emit(&Chunk{ToolCalls: more}); err != nil {
			return err
		}
	}
	switch {
	case c.request.Format.JSON() && len(n.calls.list) == 0:
		err = c.holdJSON(ctx, r, n)
	case n.hold && len(n.text) > 0:
		err = c.emit(&Chunk{Content: string(n.text)})
	}
	if err == nil && c.rounds != nil {
		err = c.rounds.annotate()
	}
	if err != nil {
		return err
	}
	c.result.Finish = n.finish
	return c.emit(&Chunk{Finish: n.finish, Usage: new(c.result.Usage)})
}

// answer gets one answer from some upstream: tries go on as long as it has emitted
// nothing and the failure is the upstream's.
func (c *completion) answer(ctx context.Context, r *Request) (*normaliser, error) {
	var n *normaliser
	c.spoke = false
	err := c.g.attempt(ctx, c.model, turn{c.request.Owner, c.request.ServiceTier}, func(u *Upstream) attempted {
		c.result.Upstream = u.Name
		before := c.result.Usage
		var err error
		n, err = c.try(ctx, u, r)
		a := attempted{err: err, emitted: c.spoke, unheard: c.outFailed}
		if a.upstreams(ctx) && !a.emitted {
			// What the upstream did in vain is not the caller's to pay.
			before.QueueTime = c.result.Usage.QueueTime
			c.result.Usage = before
		}
		return a
	})
	if err != nil {
		return nil, err
	}
	return n, n.calls.check(r, string(n.text), n.finish == "length")
}

// try calls one upstream once.
func (c *completion) try(ctx context.Context, u *Upstream, r *Request) (*normaliser, error) {
	engine, err := c.g.engine(u)
	if err != nil {
		return nil, err
	}
	traits := engine.Traits()
	if !traits.FetchesImages && r.Images() > 0 {
		if r, err = c.inline(ctx, r); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	routing := c.model.Routing
	alarm := time.AfterFunc(routing.FirstTokenTimeout, func() {
		cancel(Errorf(http.StatusGatewayTimeout, UpstreamTimeout, "the model did not begin to answer within %s", routing.FirstTokenTimeout))
	})
	defer alarm.Stop()

	c.result.Attempts++
	at := clock{begun: time.Now()}
	if c.result.Attempts == 1 && !r.Accepted.IsZero() {
		c.result.Usage.QueueTime = max(0, at.begun.Sub(r.Accepted).Seconds())
	}
	c.print = fingerprint(u)
	n := newNormaliser(c.model, r, c.emit)
	n.hold = c.holds(traits)
	defer func() { c.result.Usage.spend(r, n, at) }()
	err = engine.Complete(ctx, r, c.model, func(d *Delta) error {
		at.last = time.Now()
		if at.first.IsZero() {
			if d.Content == "" && d.Reasoning == "" && len(d.ToolCalls) == 0 && d.Finish == "" {
				return n.push(d)
			}
			at.first = at.last
			alarm.Stop()
			alarm = time.AfterFunc(routing.IdleTimeout, func() {
				cancel(Errorf(http.StatusBadGateway, UpstreamTimeout, "the model fell silent for %s", routing.IdleTimeout))
			})
		} else {
			alarm.Reset(routing.IdleTimeout)
		}
		if d.Fingerprint != "" {
			c.print = d.Fingerprint
		}
		return n.push(d)
	})
	alarm.Stop()
	if err == nil {
		err = n.end()
	}
	if err != nil {
		return n, endedBy(ctx, err)
	}
	return n, nil
}

// holds is whether the content is kept back until the answer was checked: where
// nobody reads along, and where the engine does not hold the answer to JSON
// itself.
func (c *completion) holds(t Traits) bool {
	if !c.request.Stream && len(c.request.Tools) > 0 && c.model.ToolValidation == ValidateFeedBack {
		return true
	}
	// What a model says between its calls of tools is no part of the document.
	native := (t.NativeJSON || c.model.Can(CanJSONSchema)) && c.rounds == nil
	return c.request.Format.JSON() && (!c.request.Stream || !native)
}

// emit puts the first chunk before the others.
func (c *completion) emit(chunk *Chunk) error {
	if !c.result.Emitted {
		c.result.Emitted = true
		if err := c.out(&Chunk{First: true, Fingerprint: c.print}); err != nil {
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
func fingerprint(u *Upstream) string {
	sum := sha256.Sum256([]byte(u.key()))
	return fmt.Sprintf("fp_%s", hex.EncodeToString(sum[:5]))
}
