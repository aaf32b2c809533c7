package chromium

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/go-rod/rod/lib/cdp"

	"presswork/internal/fault"
)

// settleTime is how long pictures, fonts and what scrolling brings may take,
// after the page counts as loaded.
const settleTime = 5 * time.Second

// pollEvery is the time between two looks at the page.
const pollEvery = 50 * time.Millisecond

// settleScript is an async function of the milliseconds it may take, and of
// whether to scroll through the page: it brings all of it into view, and waits
// for its pictures and fonts.
//
//go:embed settle.js
var settleScript string

// goThere goes to the page and judges what is there.
func (v *visit) goThere() error {
	if err := v.navigate(v.page.String()); err != nil {
		return err
	}

	return v.arrived()
}

// finishLoading waits for all that the options name, and for what belongs on
// paper: pictures further down, and fonts.
func (v *visit) finishLoading(themeCSS string) error {
	o := v.opts
	if o.WaitForSelector != "" {
		if err := v.waitFor(
			"waitForSelector",
			"!!document.querySelector("+quoteJS(o.WaitForSelector)+")",
			true,
		); err != nil {
			return err
		}
	}

	if o.WaitForExpression != "" {
		if err := v.waitFor("waitForExpression", o.WaitForExpression, false); err != nil {
			return err
		}
	}

	if o.Theme != "" {
		theme := fmt.Sprintf(
			"{document.documentElement.dataset.theme=%s;const s=new CSSStyleSheet();s.replaceSync(%s);document.adoptedStyleSheets=[...document.adoptedStyleSheets,s]}",
			quoteJS(o.Theme),
			quoteJS(themeCSS),
		)
		if _, err := v.evaluate(theme, true); err != nil {
			return err
		}
	}

	if err := v.settle(); err != nil {
		return err
	}

	return v.pause(time.Duration(o.WaitForTimeout) * time.Millisecond)
}

// navigate begins to load a page.
func (v *visit) navigate(address string) error {
	v.mu.Lock()
	before := v.moves
	v.main = document{url: address}
	v.mu.Unlock()

	answer, err := v.call("Page.navigate", map[string]any{"url": address})
	if err != nil {
		return err
	}

	var n struct {
		ErrorText string `json:"errorText"`
	}
	if err := json.Unmarshal(answer, &n); err != nil || n.ErrorText == "" {
		return err
	}

	if n.ErrorText != "net::ERR_ABORTED" { // which leaves what is there
		// Chromium's error page has the URL that redirects have led to.
		if err := v.await(func() bool { return v.moves > before }); err != nil {
			return err
		}
	}
	v.mu.Lock()
	v.main.failed = n.ErrorText
	v.mu.Unlock()

	return v.verdict()
}

// arrived waits for waitUntil, and judges what is there then.
func (v *visit) arrived() error {
	for {
		if err := v.reached(); err != nil {
			return err
		}
		v.mu.Lock()
		main := v.main
		v.mu.Unlock()

		if main.failed == unexplained && v.session.Failure(hostport(main.url)) == nil {
			// The page led there by itself. Chromium gives the reason to who asks.
			if err := v.navigate(main.url); err != nil {
				return err
			}
			continue
		}

		if main.failed == "" {
			moved, err := v.askStatus()
			if err != nil {
				return err
			}

			if moved {
				continue
			}
		}
		v.mu.Lock()
		v.judged = main.loader
		v.mu.Unlock()

		return v.verdict()
	}
}

// askStatus asks the document for its HTTP status, unless the page has moved on.
func (v *visit) askStatus() (moved bool, err error) {
	result, err := v.evaluateOnce("performance.getEntriesByType('navigation')[0].responseStatus", true)
	if refusal, refused := errors.AsType[*cdp.Error](err); refused && navigated(refusal) {
		return true, v.movedOn()
	}

	if _, thrown := errors.AsType[*scriptError](err); thrown {
		return false, nil // a document without one
	}

	if err != nil {
		return false, err
	}

	var status int
	if result.Value != nil {
		if err := json.Unmarshal(result.Value, &status); err != nil {
			return false, err
		}
	}
	v.mu.Lock()
	defer v.mu.Unlock()

	if v.main.loader != v.ours.loader {
		return true, nil
	}
	v.main.status = status

	return false, nil
}

// reached waits for waitUntil, or a failure.
func (v *visit) reached() error {
	stage, everywhere := "load", false

	switch v.opts.WaitUntil {
	case "domcontentloaded":
		stage = "DOMContentLoaded"
	case "networkidle0":
		stage, everywhere = "networkIdle", true
	case "networkidle2":
		stage, everywhere = "networkAlmostIdle", true
	}

	return v.await(func() bool {
		main := v.frames[v.tab.target]
		if v.moves > 0 && v.main.failed != "" {
			return true
		}

		if v.moves == 0 || main == nil || main.loader != v.main.loader || !main.stages[stage] {
			return false
		}

		if everywhere {
			for _, f := range v.frames {
				if !f.stages[stage] {
					return false
				}
			}
		}

		return true
	})
}

// await blocks until done, which is called with the lock held.
func (v *visit) await(done func() bool) error {
	for {
		v.mu.Lock()
		ok := done()
		v.mu.Unlock()

		if v.ctx.Err() != nil {
			return context.Cause(v.ctx)
		}

		if ok {
			return nil
		}
		<-v.changed // the end of ctx is a change, too
	}
}

// pause waits, unless the visit ends.
func (v *visit) pause(d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()

	select {
	case <-t.C:
		return nil
	case <-v.ctx.Done():
		return context.Cause(v.ctx)
	}
}

// waitFor polls a condition of the options.
func (v *visit) waitFor(option, expression string, ours bool) error {
	var last string

	for {
		result, err := v.evaluate(expression, ours)

		thrown, isThrown := errors.AsType[*scriptError](err)
		switch {
		case isThrown && thrown.syntax:
			return fault.Errorf(fault.InvalidOption, "%s: %s", option, thrown.text).WithParam("options." + option)
		case isThrown:
			last = "; the last try threw " + thrown.text
		case err != nil && v.ctx.Err() == nil:
			return err
		case err != nil: // time is up
		case result.truthy():
			return nil
		default:
			last = ""
		}

		if v.pause(pollEvery) != nil {
			cause := context.Cause(v.ctx)
			if e, ok := errors.AsType[*fault.Error](cause); ok && e.Code == fault.PageTimeout {
				return fault.Errorf(fault.PageTimeout, "%s; %s was not fulfilled%s", e.Message, option, last)
			}

			return cause
		}
	}
}

// settle brings in what loads as it comes into view, and waits for pictures and
// fonts, within reason.
func (v *visit) settle() error {
	limit := min(settleTime, remaining(v.ctx)/2)
	if !v.scriptsOff() {
		scrolls := make(chan bool, 1)
		go func() { scrolls <- v.listensToScrolling() }()

		end := time.Now().Add(limit)
		if err := v.runSettle(limit, false); err != nil || !<-scrolls {
			return err
		}

		return v.runSettle(time.Until(end), true)
	}
	// Without scripts there are no timers either.
	for end := time.Now().Add(limit); time.Now().Before(end); {
		result, err := v.evaluate("document.fonts.status=='loaded'&&[...document.images].every(i=>i.complete)", true)
		if _, thrown := errors.AsType[*scriptError](err); thrown || err == nil && result.truthy() {
			return nil
		}

		if err != nil {
			return err
		}

		if err := v.pause(pollEvery); err != nil {
			return err
		}
	}

	return nil
}

func (v *visit) runSettle(limit time.Duration, scroll bool) error {
	_, err := v.evaluate(fmt.Sprintf("(%s)(%d,%t)", settleScript, limit.Milliseconds(), scroll), true)
	if _, thrown := errors.AsType[*scriptError](err); thrown {
		return nil // a page may break even this
	}

	return err
}

// listensToScrolling reports whether scripts of the page do something when it is
// scrolled, which then takes a frame for each screenful. A page that cannot be
// asked is scrolled.
func (v *visit) listensToScrolling() bool {
	for _, target := range []string{"window", "document"} { // no page can replace these
		var object struct {
			Result struct {
				ID string `json:"objectId"`
			} `json:"result"`
		}

		answer, err := v.call("Runtime.evaluate", map[string]any{"expression": target})
		if err != nil || json.Unmarshal(answer, &object) != nil {
			return true
		}
		var found struct {
			Listeners []struct {
				Type string `json:"type"`
			} `json:"listeners"`
		}

		answer, err = v.call("DOMDebugger.getEventListeners", map[string]any{"objectId": object.Result.ID})
		if err != nil || json.Unmarshal(answer, &found) != nil {
			return true
		}

		for _, l := range found.Listeners {
			if strings.HasPrefix(l.Type, "scroll") {
				return true
			}
		}
	}

	return false
}
