package chromium

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/go-rod/rod/lib/cdp"
)

// remote is CDP's Runtime.RemoteObject, as far as it is read.
type remote struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

func (r remote) truthy() bool {
	switch string(r.Value) {
	case "", "null", "false", "0", `""`:
		return r.Type == "object" && r.Value == nil || r.Type == "function" || r.Type == "symbol"
	}

	return true
}

// scriptError is an exception of a script of ours, or of the options'.
type scriptError struct {
	text   string
	syntax bool
}

func (e *scriptError) Error() string { return e.text }

// evaluate runs an expression and awaits its promise: in a world of our own,
// that the page's scripts cannot touch, or in the page's. A navigation under way
// is waited for.
func (v *visit) evaluate(expression string, ours bool) (remote, error) {
	for {
		result, err := v.evaluateOnce(expression, ours)

		refusal, refused := errors.AsType[*cdp.Error](err)
		if !refused || v.ctx.Err() != nil || !navigated(refusal) {
			return result, err
		}

		if err := v.movedOn(); err != nil {
			return result, err
		}

		if err := v.arrived(); err != nil {
			return result, err
		}
	}
}

// movedOn forgets the world of a document that has ended, and gives the browser
// time to announce the next.
func (v *visit) movedOn() error {
	v.mu.Lock()
	v.ours = isolated{}
	v.mu.Unlock()

	return v.pause(time.Millisecond)
}

func navigated(e *cdp.Error) bool {
	for _, sign := range []string{"context", "navigated", "frame"} {
		if strings.Contains(strings.ToLower(e.Message), sign) {
			return true
		}
	}

	return false
}

func (v *visit) evaluateOnce(expression string, ours bool) (result remote, err error) {
	params := map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true, "silent": true}
	if ours {
		if params["contextId"], err = v.world(); err != nil {
			return result, err
		}
	} else {
		// A value of any size is of no interest, only whether it is true.
		params["expression"] = "(async()=>!!(await (" + strings.TrimRight(expression, "; \t\r\n") + "\n)))()"
	}

	answer, err := v.call("Runtime.evaluate", params)
	if err != nil {
		return result, err
	}

	var a struct {
		Result           remote     `json:"result"`
		ExceptionDetails *exception `json:"exceptionDetails"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return result, err
	}

	if a.ExceptionDetails != nil {
		text := clipText(a.ExceptionDetails.text())
		// What a script throws while it runs is "Uncaught (in promise)".
		return result, &scriptError{
			text,
			a.ExceptionDetails.Text == "Uncaught" && strings.HasPrefix(text, "SyntaxError"),
		}
	}

	return a.Result, nil
}

// world is our own one in the document that the main frame shows.
func (v *visit) world() (id int, err error) {
	v.mu.Lock()
	loader, known := v.main.loader, v.ours
	v.mu.Unlock()

	if known.loader == loader && known.id != 0 {
		return known.id, nil
	}

	answer, err := v.call("Page.createIsolatedWorld", map[string]any{"frameId": v.tab.target, "worldName": "presswork"})
	if err != nil {
		return 0, err
	}

	var made struct {
		ID int `json:"executionContextId"`
	}
	if err := json.Unmarshal(answer, &made); err != nil {
		return 0, err
	}
	v.mu.Lock()
	v.ours = isolated{loader, made.ID}
	v.mu.Unlock()

	return made.ID, nil
}

// quoteJS writes a JavaScript string.
func quoteJS(s string) string {
	b, _ := json.Marshal(s) // a string always can
	return string(b)
}
