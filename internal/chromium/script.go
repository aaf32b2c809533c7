package chromium

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"presswork"
)

// scriptTimeout bounds one Script, from the moment it has a slot.
const scriptTimeout = 10 * time.Second

// Script runs a library of ours in an empty page, then a JavaScript expression,
// and returns the JSON of its value, awaited if it is a promise. The page is
// the only one with scripts on: it has a browser context of its own, without a
// network like every other, and nothing of it is left afterwards. It counts as
// one of the tabs. Errors: RenderTimeout when ctx's deadline or ten seconds
// have passed, RenderFailed when the script throws, navigates away or takes its
// renderer down, BrowserUnavailable, ctx's own cause otherwise.
func (b *Browser) Script(ctx context.Context, library, expression string) (json.RawMessage, error) {
	if err := b.enter(ctx); err != nil {
		return nil, err
	}
	defer func() { <-b.slots }()
	ctx, cancel := context.WithTimeoutCause(ctx, scriptTimeout,
		presswork.Errorf(presswork.RenderTimeout, "the script took longer than %s", scriptTimeout))
	defer cancel()
	lost := false
	for {
		value, err := b.runScript(ctx, library, expression)
		switch {
		case err == nil:
			return value, nil
		case ctx.Err() == nil && errors.Is(err, errRetired):
		case ctx.Err() == nil && errors.Is(err, errConnClosed) && !lost:
			lost = true // perhaps through another page's fault
		case errors.Is(err, errTabCrashed), errors.Is(err, errTabStrayed):
			return nil, presswork.Errorf(presswork.RenderFailed, "the script broke its page").WithCause(err)
		default:
			return nil, b.coin(ctx, err)
		}
	}
}

func (b *Browser) runScript(ctx context.Context, library, expression string) (json.RawMessage, error) {
	inst, err := b.current(ctx)
	if err != nil {
		return nil, err
	}
	p, err := inst.openScriptPage(ctx)
	if err != nil {
		return nil, err
	}
	defer p.leave()
	if _, err := p.evaluate(ctx, library); err != nil {
		return nil, err
	}
	return p.evaluate(ctx, expression)
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
		return p.open(ctx, contextOptions{proxy: deadProxy, width: 1280, height: 1024})
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
		return nil, presswork.Errorf(presswork.RenderFailed, "the script failed: %s %s", e.Text, first)
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
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout/3)
	defer cancel()
	// Its answer is of no interest: the page may be past answering.
	_, _ = p.inst.conn.Call(ctx, p.tab.session, "Runtime.terminateExecution", nil)
}
