package chromium

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"presswork/internal/chromium/process"
	"presswork/internal/fault"
)

// Script runs a library of ours in an empty page, then JavaScript expressions one
// after the other, and returns the JSON of their values, awaited where they are
// promises. The page is the only one with scripts on: it has a browser context
// of its own, without a network like every other, and nothing of it is left
// afterwards. It counts as one of the tabs. Each expression has ScriptTimeout
// from the moment it begins, as has the library with its page; the first that
// fails ends the run, and the values of those before it come with the error.
// Errors: RenderTimeout when ctx's deadline or ScriptTimeout has passed,
// RenderFailed when the script throws, navigates away or takes its renderer
// down, BrowserUnavailable, ctx's own cause otherwise.
func (b *Browser) Script(
	ctx context.Context,
	library string,
	expressions ...string,
) (values []json.RawMessage, err error) {
	if err := b.enter(ctx); err != nil {
		return nil, err
	}
	defer b.leave()

	lost, next := false, b.current
	for {
		more, err := b.runScript(ctx, next, library, expressions[len(values):])
		values = append(values, more...)

		switch {
		case err == nil:
			return values, nil
		case ctx.Err() == nil && errors.Is(err, errRetired):
		case ctx.Err() == nil && errors.Is(err, errConnClosed) && !lost:
			lost, next = true, b.another // perhaps through another page's fault
		case errors.Is(err, errTabCrashed), errors.Is(err, errTabStrayed):
			return values, fault.Errorf(fault.RenderFailed, "the script broke its page").WithCause(err)
		default:
			return values, b.coin(ctx, err)
		}
	}
}

func (b *Browser) runScript(
	ctx context.Context,
	next func(context.Context) (*instance, error),
	library string,
	expressions []string,
) (values []json.RawMessage, err error) {
	var p *scriptPage
	err = b.timed(ctx, func(ctx context.Context) error {
		inst, err := next(ctx)
		if err != nil {
			return err
		}

		if p, err = inst.openScriptPage(ctx); err != nil {
			return err
		}
		_, err = p.evaluate(ctx, library)

		return err
	})

	if p != nil {
		defer p.leave()
	}

	for _, expression := range expressions {
		if err != nil {
			break
		}
		err = b.timed(ctx, func(ctx context.Context) error {
			value, err := p.evaluate(ctx, expression)
			if err == nil {
				values = append(values, value)
			}

			return err
		})
	}

	return values, err
}

// timed gives one step of a script its time.
func (b *Browser) timed(ctx context.Context, step func(context.Context) error) error {
	limit := b.opt.ScriptTimeout

	ctx, cancel := context.WithTimeoutCause(
		ctx,
		limit,
		fault.Errorf(fault.RenderTimeout, "the script took longer than %s", limit),
	)
	defer cancel()

	err := step(ctx)
	if err != nil && ctx.Err() != nil {
		return ended(ctx)
	}

	return err
}

// scriptPage is a page with scripts on, in a browser context of its own.
type scriptPage struct{ browserContext }

// openScriptPage is paired with leave.
func (i *instance) openScriptPage(ctx context.Context) (*scriptPage, error) {
	if err := i.enter(); err != nil {
		return nil, err
	}
	p := &scriptPage{browserContext{inst: i}}

	err := i.open(ctx, func(ctx context.Context) error {
		// A context may have a proxy of its own; this one keeps to the dead one.
		return p.open(ctx, contextOptions{proxy: process.DeadProxy, width: 1280, height: 1024})
	}, p.leave)
	if err != nil {
		return nil, err
	}

	return p, nil
}

// evaluate runs an expression in the page and returns its value.
func (p *scriptPage) evaluate(ctx context.Context, expression string) (json.RawMessage, error) {
	answer, err := p.tab.call(ctx, "Runtime.evaluate", map[string]any{
		"expression": expression, "awaitPromise": true, "returnByValue": true,
	})
	if err != nil {
		return nil, err
	}

	var outcome struct {
		Result struct {
			Value json.RawMessage `json:"value"`
		} `json:"result"`
		Exception *struct {
			Text      string `json:"text"`
			Exception struct {
				Description string `json:"description"`
			} `json:"exception"`
		} `json:"exceptionDetails"`
	}
	if err := json.Unmarshal(answer, &outcome); err != nil {
		return nil, fmt.Errorf("the browser's answer to a script: %w", err)
	}

	if e := outcome.Exception; e != nil {
		first, _, _ := strings.Cut(e.Exception.Description, "\n")
		return nil, fault.Errorf(fault.RenderFailed, "the script failed: %s %s", e.Text, first)
	}

	return outcome.Result.Value, nil
}

// leave destroys the page in the background: a renderer at work on an endless
// loop takes its time.
func (p *scriptPage) leave() {
	go func() {
		defer p.inst.drop()
		p.stop()
		p.dispose()
	}()
}

// stop ends what the script still does.
func (p *scriptPage) stop() {
	if p.tab == nil || p.tab.session == "" {
		return
	}
	p.tab.end(errTabCrashed)

	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout/10)
	defer cancel()
	// Its answer is of no interest: the page may be past answering.
	_, _ = p.inst.conn.Call(ctx, p.tab.session, "Runtime.terminateExecution", nil)
}
