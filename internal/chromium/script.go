package chromium

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-rod/rod/lib/cdp"

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
			return nil, presswork.Errorf(presswork.RenderFailed, "the script broke its page: %v", err).WithCause(err)
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
type scriptPage struct {
	inst    *instance
	browser string // the context's id
	tab     *tab
}

// openScriptPage is paired with leave.
func (i *instance) openScriptPage(ctx context.Context) (*scriptPage, error) {
	i.mu.Lock()
	if i.retired {
		i.mu.Unlock()
		return nil, errRetired
	}
	i.busy++
	i.mu.Unlock()
	p := &scriptPage{inst: i}
	// Not under ctx: a context whose id nobody learns would stay for ever.
	made := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), i.openTimeout)
		defer cancel()
		err := p.open(ctx)
		if ctx.Err() != nil {
			i.log.Error("the browser opens no page; killing it", "error", err)
			i.proc.kill()
		}
		made <- err
	}()
	select {
	case err := <-made:
		if err != nil {
			p.leave()
			return nil, err
		}
		return p, nil
	case <-ctx.Done():
		go func() {
			<-made
			p.leave()
		}()
		return nil, context.Cause(ctx)
	}
}

func (p *scriptPage) open(ctx context.Context) error {
	var made struct {
		ContextID string `json:"browserContextId"`
		TargetID  string `json:"targetId"`
		SessionID string `json:"sessionId"`
	}
	i := p.inst
	ask := func(method string, params any) error {
		answer, err := i.conn.Call(ctx, "", method, params)
		if err != nil {
			return err
		}
		return json.Unmarshal(answer, &made)
	}
	// A context may have a proxy of its own; this one keeps to the dead one.
	err := ask("Target.createBrowserContext", map[string]any{"proxyServer": deadProxy, "proxyBypassList": "<-loopback>"})
	if err != nil {
		return err
	}
	p.browser = made.ContextID
	if err := ask("Browser.setDownloadBehavior", map[string]any{"behavior": "deny", "browserContextId": p.browser}); err != nil {
		return err
	}
	if err := ask("Target.createTarget", map[string]any{"url": blank, "browserContextId": p.browser, "width": 1280, "height": 1024}); err != nil {
		return err
	}
	p.tab = &tab{conn: i.conn, target: made.TargetID, gone: make(chan struct{})}
	p.tab.life, p.tab.end = context.WithCancelCause(context.Background())
	i.mu.Lock()
	i.tabs[p.tab.target] = p.tab
	i.mu.Unlock()
	if err := ask("Target.attachToTarget", map[string]any{"targetId": made.TargetID, "flatten": true}); err != nil {
		return err
	}
	p.tab.session = made.SessionID
	return nil
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
		p.dispose()
	}()
}

func (p *scriptPage) dispose() {
	i := p.inst
	if p.browser == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	if p.tab != nil && p.tab.session != "" {
		p.tab.end(errTabCrashed)
		// Its answer is of no interest: the page may be past answering.
		soon, cancel := context.WithTimeout(ctx, closeTimeout/3)
		_, _ = i.conn.Call(soon, p.tab.session, "Runtime.terminateExecution", nil)
		cancel()
	}
	_, err := i.conn.Call(ctx, "", "Target.disposeBrowserContext", map[string]any{"browserContextId": p.browser})
	if err == nil && p.tab != nil {
		select {
		case <-p.tab.gone:
		case <-i.conn.done:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}
	if _, refused := errors.AsType[*cdp.Error](err); err != nil && !refused && i.usable() {
		i.log.Warn("a script's page does not close; retiring the browser", "error", err)
		i.retire()
	}
}
