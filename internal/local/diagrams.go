package local

import (
	"context"
	"encoding/json"

	"presswork"
	"presswork/internal/chromium"
	"presswork/internal/chromium/fonts"
)

// newBrowser returns the browser for printing and drawing, without launching it.
func newBrowser(o Options) *chromium.Browser {
	fontConfig, err := fonts.Install("")
	if err != nil {
		o.Log.Warn("documents are printed with the system's fonts", "error", err)
	}

	return chromium.New(chromium.Options{Path: o.Browser, Tabs: o.Jobs, FontConfig: fontConfig, Log: o.Log})
}

// script runs JavaScript in the browser. If nothing is printed, the first diagram launches it.
func (c *Converter) script(ctx context.Context, library string, expressions ...string) ([]json.RawMessage, error) {
	browser, err := c.drawer(ctx)
	if err != nil {
		return nil, err
	}

	return browser.Script(ctx, library, expressions...)
}

// drawer returns a browser that draws diagrams. HTML output has no browser until a document has a diagram.
func (c *Converter) drawer(ctx context.Context) (*chromium.Browser, error) {
	if c.o.Output != presswork.HTML {
		return c.browser, nil
	}
	c.launch.Lock()
	defer c.launch.Unlock()

	if c.browser == nil {
		if _, err := chromium.Find(c.o.Browser); err != nil {
			return nil, err
		}

		browser := newBrowser(c.o)
		if err := browser.Start(ctx); err != nil {
			return nil, err
		}
		c.browser = browser
	}

	return c.browser, nil
}
