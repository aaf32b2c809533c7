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

// Script runs a trusted library in an empty page, then JavaScript expressions one after the other. It returns
// their values as JSON; promises are awaited. The page has a browser context of its own, without a network, which
// is destroyed at the end. It uses one slot.
//
// Each expression may take Options.ScriptTimeout, and so may the library with the start of its page. The first
// failure ends the run; the values of the expressions before it come with the error. Errors:
//   - RenderTimeout when ctx's deadline or ScriptTimeout has passed
//   - RenderFailed when the script throws, navigates away or crashes its renderer
//   - BrowserUnavailable
//   - the cause of ctx if it was cancelled
func (b *Browser) Script(ctx context.Context, library string,
	expressions ...string,
) (values []json.RawMessage, err error) {
	if err := b.acquireSlot(ctx); err != nil {
		return nil, err
	}
	defer b.releaseSlot()

	lost, next := false, b.current
	for {
		more, err := b.runScript(ctx, next, library, expressions[len(values):])
		values = append(values, more...)

		switch {
		case err == nil:
			return values, nil
		case ctx.Err() == nil && errors.Is(err, errRetired):
		case ctx.Err() == nil && errors.Is(err, errConnClosed) && !lost:
			lost, next = true, b.currentAfterLoss // another page can be the cause
		case errors.Is(err, errTabCrashed), errors.Is(err, errTabNavigated):
			return values, fault.Errorf(fault.RenderFailed, "the script navigated away or crashed its page").
				WithCause(err)
		default:
			return values, b.publicError(ctx, err)
		}
	}
}

// runScript runs the expressions once, on the instance that next returns.
func (b *Browser) runScript(ctx context.Context, next func(context.Context) (*instance, error), library string,
	expressions []string,
) (values []json.RawMessage, err error) {
	var p *scriptPage
	err = b.withScriptTimeout(ctx, func(ctx context.Context) error {
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
		defer p.release()
	}

	for _, expression := range expressions {
		if err != nil {
			break
		}
		err = b.withScriptTimeout(ctx, func(ctx context.Context) error {
			value, err := p.evaluate(ctx, expression)
			if err == nil {
				values = append(values, value)
			}

			return err
		})
	}

	return values, err
}

// withScriptTimeout runs one step of a script with its time limit.
func (b *Browser) withScriptTimeout(ctx context.Context, step func(context.Context) error) error {
	limit := b.opt.ScriptTimeout

	ctx, cancel := context.WithTimeoutCause(ctx, limit,
		fault.Errorf(fault.RenderTimeout, "the script took longer than %s", limit))
	defer cancel()

	err := step(ctx)
	if err != nil && ctx.Err() != nil {
		return contextError(ctx)
	}

	return err
}

// scriptPage is a page with scripts on, in a browser context of its own.
type scriptPage struct{ browserContext }

// openScriptPage creates a page, which the caller ends with release.
func (i *instance) openScriptPage(ctx context.Context) (*scriptPage, error) {
	if err := i.addUser(); err != nil {
		return nil, err
	}
	p := &scriptPage{browserContext{inst: i}}

	err := i.create(ctx, func(ctx context.Context) error {
		// Every context needs a proxy. This one leads nowhere.
		return p.open(ctx, contextOptions{proxy: process.DeadProxy, width: 1280, height: 1024})
	}, p.release)
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
		Exception *exception `json:"exceptionDetails"`
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

// release destroys the page in the background, because a renderer in an endless loop does
// not end at once.
func (p *scriptPage) release() {
	go func() {
		defer p.inst.removeUser()
		p.stop()
		p.dispose()
	}()
}

// stop terminates a script that still runs.
func (p *scriptPage) stop() {
	if p.tab == nil || p.tab.session == "" {
		return
	}
	p.tab.end(errTabCrashed)

	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout/10)
	defer cancel()
	// An error is ignored: the page may be dead already.
	_, _ = p.inst.conn.Call(ctx, p.tab.session, "Runtime.terminateExecution", nil)
}
