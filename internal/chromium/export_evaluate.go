package chromium

import (
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/go-rod/rod/lib/cdp"
)

// remoteObject has the fields of CDP's Runtime.RemoteObject that are read.
type remoteObject struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

// truthy reports whether JavaScript takes the value as true.
func (r remoteObject) truthy() bool {
	switch string(r.Value) {
	case "", "null", "false", "0", `""`:
		return r.Type == "object" && r.Value == nil || r.Type == "function" || r.Type == "symbol"
	}

	return true
}

// scriptError is an exception that an evaluated expression has thrown.
type scriptError struct {
	text   string
	syntax bool // the expression is not valid JavaScript
}

// Error returns the text of the exception.
func (e *scriptError) Error() string { return e.text }

// evaluate runs an expression and awaits its promise. isolated runs it in a world that the
// page's scripts cannot reach, otherwise it runs in the page's own. If the page navigates
// meanwhile, evaluate waits for the new document and runs the expression there. Errors: a
// *scriptError when the expression throws.
func (v *visit) evaluate(expression string, isolated bool) (remoteObject, error) {
	for {
		result, err := v.evaluateOnce(expression, isolated)

		refusal, refused := errors.AsType[*cdp.Error](err)
		if !refused || v.ctx.Err() != nil || !isNavigation(refusal) {
			return result, err
		}

		if err := v.forgetWorld(); err != nil {
			return result, err
		}

		if err := v.awaitArrival(); err != nil {
			return result, err
		}
	}
}

// forgetWorld drops the world of a document that has ended, and gives the browser time to
// announce the next document.
func (v *visit) forgetWorld() error {
	v.mu.Lock()
	v.world = scriptWorld{}
	v.mu.Unlock()

	return v.sleep(time.Millisecond)
}

// isNavigation reports whether the browser rejected a command because the page navigated. The protocol has no code for
// that, so the words of the message decide.
func isNavigation(e *cdp.Error) bool {
	for _, sign := range []string{"context", "navigated", "frame"} {
		if strings.Contains(strings.ToLower(e.Message), sign) {
			return true
		}
	}

	return false
}

// evaluateOnce runs an expression once, in the present document.
func (v *visit) evaluateOnce(expression string, isolated bool) (result remoteObject, err error) {
	params := map[string]any{"expression": expression, "awaitPromise": true, "returnByValue": true, "silent": true}
	if isolated {
		if params["contextId"], err = v.ensureWorld(); err != nil {
			return result, err
		}
	} else {
		// Only whether the value is true matters. The value itself may be of any size.
		params["expression"] = "(async()=>!!(await (" + strings.TrimRight(expression, "; \t\r\n") + "\n)))()"
	}

	answer, err := v.call("Runtime.evaluate", params)
	if err != nil {
		return result, err
	}

	var a struct {
		Result           remoteObject `json:"result"`
		ExceptionDetails *exception   `json:"exceptionDetails"`
	}
	if err := json.Unmarshal(answer, &a); err != nil {
		return result, err
	}

	if a.ExceptionDetails != nil {
		text := clipText(a.ExceptionDetails.text())
		// A script that runs may also throw a SyntaxError. That is "Uncaught (in promise)".
		syntax := a.ExceptionDetails.Text == "Uncaught" && strings.HasPrefix(text, "SyntaxError")

		return result, &scriptError{text, syntax}
	}

	return a.Result, nil
}

// ensureWorld returns the id of the isolated world in the document that the main frame
// shows. It creates the world if there is none.
func (v *visit) ensureWorld() (id int, err error) {
	v.mu.Lock()
	loader, known := v.main.loader, v.world
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
	v.world = scriptWorld{loader, made.ID}
	v.mu.Unlock()

	return made.ID, nil
}

// quoteJS returns s as a JavaScript string literal.
func quoteJS(s string) string {
	b, _ := json.Marshal(s) // a string never fails
	return string(b)
}
