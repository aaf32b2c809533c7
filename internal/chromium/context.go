package chromium

import (
	"context"
	"encoding/json"
)

// browserContext is a context of the browser with one tab and one proxy. It shares nothing
// with other contexts.
type browserContext struct {
	inst *instance
	id   string // empty until the browser has created it
	tab  *tab
}

// contextOptions are the settings of a browserContext.
type contextOptions struct {
	// proxy is the address of its proxy, as host:port.
	proxy string
	// width and height are the size of the window, in CSS pixels.
	width, height int
	// foreign allows the page to navigate.
	foreign bool
}

// open creates the context and its tab. After an error the caller must call dispose.
func (c *browserContext) open(ctx context.Context, o contextOptions) error {
	var made struct {
		ContextID string `json:"browserContextId"`
		TargetID  string `json:"targetId"`
		SessionID string `json:"sessionId"`
	}
	i := c.inst
	// ask calls a method of the browser and puts the ids of its answer into made.
	ask := func(method string, params any) error {
		answer, err := i.conn.Call(ctx, "", method, params)
		if err != nil {
			return err
		}

		return json.Unmarshal(answer, &made)
	}
	// By default Chromium connects to loopback addresses directly. "<-loopback>" sends these requests to the proxy as
	// well.
	err := ask("Target.createBrowserContext",
		map[string]any{"proxyServer": "http://" + o.proxy, "proxyBypassList": "<-loopback>"})
	if err != nil {
		return err
	}

	c.id = made.ContextID

	err = ask("Browser.setDownloadBehavior", map[string]any{"behavior": "deny", "browserContextId": c.id})
	if err != nil {
		return err
	}

	err = ask("Target.createTarget",
		map[string]any{"url": blank, "browserContextId": c.id, "width": o.width, "height": o.height})
	if err != nil {
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

// dispose ends the context with all its pages and workers. If a renderer does not end
// within closeTimeout, the browser is retired.
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
		i.log.Warn("retiring the browser: a context does not close", "error", err)
		i.retire()
	}
}
