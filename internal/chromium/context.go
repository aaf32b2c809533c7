package chromium

import (
	"context"
	"encoding/json"
)

// browserContext is a context of the browser with one tab: it shares nothing
// with the others, and has one way out.
type browserContext struct {
	inst *instance
	id   string // empty until there is one
	tab  *tab
}

// contextOptions are how a browserContext is made.
type contextOptions struct {
	// proxy is its way out, as host:port.
	proxy string
	// width and height are the window's, in CSS pixels.
	width, height int
	// foreign is for another's page, which may navigate.
	foreign bool
}

// open makes the context and its tab. What there is of them when it fails is
// for dispose.
func (c *browserContext) open(ctx context.Context, o contextOptions) error {
	var made struct {
		ContextID string `json:"browserContextId"`
		TargetID  string `json:"targetId"`
		SessionID string `json:"sessionId"`
	}
	i := c.inst
	ask := func(method string, params any) error {
		answer, err := i.conn.Call(ctx, "", method, params)
		if err != nil {
			return err
		}

		return json.Unmarshal(answer, &made)
	}
	// Loopback is not excepted from the proxy.
	if err := ask(
		"Target.createBrowserContext",
		map[string]any{"proxyServer": "http://" + o.proxy, "proxyBypassList": "<-loopback>"},
	); err != nil {
		return err
	}

	c.id = made.ContextID
	if err := ask(
		"Browser.setDownloadBehavior",
		map[string]any{"behavior": "deny", "browserContextId": c.id},
	); err != nil {
		return err
	}

	if err := ask(
		"Target.createTarget",
		map[string]any{"url": blank, "browserContextId": c.id, "width": o.width, "height": o.height},
	); err != nil {
		return err
	}
	c.tab = &tab{inst: i, conn: i.conn, target: made.TargetID, detached: make(chan struct{}), foreign: o.foreign}
	c.tab.life, c.tab.end = context.WithCancelCause(context.Background())
	i.mu.Lock()
	i.tabs[c.tab.target] = c.tab
	i.mu.Unlock()

	if err := ask("Target.attachToTarget", map[string]any{"targetId": made.TargetID, "flatten": true}); err != nil {
		return err
	}
	c.tab.session = made.SessionID

	return nil
}

// dispose ends the context with all its pages and workers. When a renderer does
// not let go, the whole browser is retired.
func (c *browserContext) dispose() {
	if c.id == "" {
		return
	}
	i := c.inst

	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()

	_, err := i.conn.Call(ctx, "", "Target.disposeBrowserContext", map[string]any{"browserContextId": c.id})
	if err == nil && c.tab != nil {
		select {
		case <-c.tab.detached:
		case <-i.conn.done:
		case <-ctx.Done():
			err = ctx.Err()
		}
	}

	if err != nil && i.usable() {
		i.log.Warn("browser context does not close; retiring the browser", "error", err)
		i.retire()
	}
}
