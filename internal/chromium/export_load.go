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

// settleTime is how long pictures, fonts and content loaded by scrolling may take after the
// page counts as loaded.
const settleTime = 5 * time.Second

// pollEvery is the time between two checks of a condition in the page.
const pollEvery = 50 * time.Millisecond

// settleScript is an async function of the milliseconds that it may take, and of whether to
// scroll through the page. It brings the whole page into view and waits for its pictures
// and fonts.
//
//go:embed settle.js
var settleScript string

// load navigates to the page and waits for it. Errors: those of pageError.
func (v *visit) load() error {
	if err := v.navigate(v.page.String()); err != nil {
		return err
	}

	return v.awaitArrival()
}

// finishLoading waits for the conditions of the options, adds the theme, and waits for
// pictures and fonts.
func (v *visit) finishLoading(themeCSS string) error {
	o := v.opts
	if o.WaitForSelector != "" {
		err := v.waitFor("waitForSelector", "!!document.querySelector("+quoteJS(o.WaitForSelector)+")", true)
		if err != nil {
			return err
		}
	}

	if o.WaitForExpression != "" {
		if err := v.waitFor("waitForExpression", o.WaitForExpression, false); err != nil {
			return err
		}
	}

	if o.Theme != "" {
		theme := fmt.Sprintf(themeScript, quoteJS(o.Theme), quoteJS(themeCSS))
		if _, err := v.evaluate(theme, true); err != nil {
			return err
		}
	}

	if err := v.settle(); err != nil {
		return err
	}

	return v.sleep(time.Duration(o.WaitForTimeout) * time.Millisecond)
}

// themeScript sets data-theme and adds a stylesheet. Its arguments are two JavaScript strings.
const themeScript = "{document.documentElement.dataset.theme=%s;" +
	"const s=new CSSStyleSheet();s.replaceSync(%s);" +
	"document.adoptedStyleSheets=[...document.adoptedStyleSheets,s]}"

// navigate begins to load a page.
func (v *visit) navigate(address string) error {
	v.mu.Lock()
	before := v.navigations
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

	if n.ErrorText != "net::ERR_ABORTED" { // then the old document stays
		// Chromium's error page has the URL after all redirects.
		if err := v.awaitEvent(func() bool { return v.navigations > before }); err != nil {
			return err
		}
	}
	v.mu.Lock()
	v.main.failure = n.ErrorText
	v.mu.Unlock()

	return v.pageError()
}

// awaitArrival waits for the waitUntil stage of the document and checks for failures.
func (v *visit) awaitArrival() error {
	for {
		if err := v.awaitStage(); err != nil {
			return err
		}
		v.mu.Lock()
		main := v.main
		v.mu.Unlock()

		if main.failure == unexplainedFailure && v.guardSession.Failure(hostPort(main.url)) == nil {
			// The page has navigated itself. Chromium reports the reason only to Page.navigate.
			if err := v.navigate(main.url); err != nil {
				return err
			}
			continue
		}

		// A script in the document reads the status, so the page may have navigated meanwhile.
		if main.failure == "" {
			moved, err := v.readStatus()
			if err != nil {
				return err
			}

			if moved {
				continue
			}
		}
		v.mu.Lock()
		v.judgedLoader = main.loader
		v.mu.Unlock()

		return v.pageError()
	}
}

// readStatus reads the HTTP status of the document. moved reports whether the page has
// navigated meanwhile.
func (v *visit) readStatus() (moved bool, err error) {
	result, err := v.evaluateOnce("performance.getEntriesByType('navigation')[0].responseStatus", true)
	if refusal, refused := errors.AsType[*cdp.Error](err); refused && isNavigation(refusal) {
		return true, v.forgetWorld()
	}

	if _, thrown := errors.AsType[*scriptError](err); thrown {
		return false, nil // the document has none
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

	if v.main.loader != v.world.loader {
		return true, nil
	}
	v.main.status = status

	return false, nil
}

// awaitStage waits until the document has reached the stage of waitUntil, or has failed.
func (v *visit) awaitStage() error {
	stage, everywhere := "load", false

	switch v.opts.WaitUntil {
	case "domcontentloaded":
		stage = "DOMContentLoaded"
	case "networkidle0":
		stage, everywhere = "networkIdle", true
	case "networkidle2":
		stage, everywhere = "networkAlmostIdle", true
	}

	return v.awaitEvent(func() bool {
		main := v.frames[v.tab.target]
		if v.navigations > 0 && v.main.failure != "" {
			return true
		}

		if v.navigations == 0 || main == nil || main.loader != v.main.loader || !main.stages[stage] {
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

// awaitEvent waits until done returns true, or until the visit ends. It calls done after
// each event, with the lock held.
func (v *visit) awaitEvent(done func() bool) error {
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
		<-v.eventSeen // the end of ctx also wakes it
	}
}

// sleep waits for d, or until the visit ends.
func (v *visit) sleep(d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()

	select {
	case <-t.C:
		return nil
	case <-v.ctx.Done():
		return context.Cause(v.ctx)
	}
}

// waitFor polls a condition of the options until it is true. With isolated, it runs in a world of its own, where the
// page cannot replace the functions that it calls. An expression of the caller is not isolated: it must see the page's
// variables. Errors: InvalidOption for a syntax error, PageTimeout that names the option and the last exception.
func (v *visit) waitFor(option, expression string, isolated bool) error {
	var last string

	for {
		result, err := v.evaluate(expression, isolated)

		thrown, isThrown := errors.AsType[*scriptError](err)
		switch {
		case isThrown && thrown.syntax:
			return fault.Errorf(fault.InvalidOption, "%s: %s", option, thrown.text).WithParam("options." + option)
		case isThrown:
			last = "; the last attempt threw " + thrown.text
		case err != nil && v.ctx.Err() == nil:
			return err
		case err != nil: // time is up
		case result.truthy():
			return nil
		default:
			last = ""
		}

		if v.sleep(pollEvery) != nil {
			cause := context.Cause(v.ctx)
			if e, ok := errors.AsType[*fault.Error](cause); ok && e.Code == fault.PageTimeout {
				return fault.Errorf(fault.PageTimeout, "%s; %s was not fulfilled%s", e.Message, option, last)
			}

			return cause
		}
	}
}

// settle loads content that loads only in view, and waits for pictures and fonts. It takes
// at most settleTime, and at most half of the remaining time.
func (v *visit) settle() error {
	limit := min(settleTime, remaining(v.ctx)/2)
	// Most pages do not listen to scrolling. Find that out while pictures and fonts load.
	if !v.scriptsOff() {
		scrolls := make(chan bool, 1)
		go func() { scrolls <- v.listensToScrolling() }()

		end := time.Now().Add(limit)
		if err := v.runSettle(limit, false); err != nil || !<-scrolls {
			return err
		}

		return v.runSettle(time.Until(end), true)
	}
	// Without scripts the page has no timers, so settle polls.
	for end := time.Now().Add(limit); time.Now().Before(end); {
		result, err := v.evaluate("document.fonts.status=='loaded'&&[...document.images].every(i=>i.complete)", true)
		if _, thrown := errors.AsType[*scriptError](err); thrown || err == nil && result.truthy() {
			return nil
		}

		if err != nil {
			return err
		}

		if err := v.sleep(pollEvery); err != nil {
			return err
		}
	}

	return nil
}

// runSettle runs settleScript in the page.
func (v *visit) runSettle(limit time.Duration, scroll bool) error {
	_, err := v.evaluate(fmt.Sprintf("(%s)(%d,%t)", settleScript, limit.Milliseconds(), scroll), true)
	if _, thrown := errors.AsType[*scriptError](err); thrown {
		return nil // the page has broken a function that settleScript needs
	}

	return err
}

// listensToScrolling reports whether scripts of the page react to scrolling. Only then is
// the page scrolled, because that takes a frame for each screenful. It returns true if the
// listeners cannot be read.
func (v *visit) listensToScrolling() bool {
	for _, target := range []string{"window", "document"} { // pages cannot replace these names
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
