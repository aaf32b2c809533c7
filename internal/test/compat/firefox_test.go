//go:build compat

package compat

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/fasthttp/websocket"

	"presswork/internal/test/e2e"
	"presswork/internal/test/public"
	"presswork/internal/test/wait"
)

// TestPagesWorkInFirefox opens the pages, converts a document, and clicks on the page. It needs Debian's package
// firefox-esr.
func TestPagesWorkInFirefox(t *testing.T) {
	exe, err := exec.LookPath("firefox-esr")
	if err != nil {
		t.Fatal("firefox-esr was not found on the PATH; on Debian `make compat` installs it")
	}
	_, c := e2e.Serve(t, nil)
	f := startFirefox(t, exe)

	for _, row := range []struct{ path, sign string }{
		{"/docs", `document.querySelector("h1") && document.querySelector("nav a")`},
		{"/docs/api/conversion", `document.querySelector("#listJobs .try button")`},
		{"/admin", `document.querySelector(".worker header b")`},
		{"/monitor", `document.body.innerText.includes("render")`},
		{"/", `document.querySelector(".cm-content") &&
			document.querySelector("iframe.sheet").contentDocument.body.innerText.includes("quiet craft")`},
	} {
		f.open(c.Base + row.path)
		f.until(row.path, row.sign)
	}

	f.eval(`document.querySelector(".action .primary").click()`)
	f.until("the document is converted", `document.querySelector(".job[data-status=completed]")`)

	// A click on the page leads to its line.
	f.eval(`document.querySelector("iframe.sheet").contentDocument.querySelector("h2").click()`)
	f.until("the cursor is at the heading",
		`document.querySelector(".cm-activeLine").innerText.includes("What it supports")`)

	if errs := f.logged; len(errs) > 0 {
		t.Errorf("the pages logged %s, want no errors", strings.Join(errs, "\n"))
	}
}

// firefox is a browser with one tab that obeys commands of WebDriver BiDi.
type firefox struct {
	t       *testing.T
	conn    *websocket.Conn
	id      int
	context string
	logged  []string // the errors of the pages
}

// startFirefox runs Firefox until the test ends.
func startFirefox(t *testing.T, exe string) *firefox {
	cmd := exec.Command(exe, "--headless", "--remote-debugging-port", "0", "--profile", public.Dir(t), "--no-remote")
	cmd.Env = append(os.Environ(), "HOME="+public.Dir(t), "MOZ_CRASHREPORTER_DISABLE=1")

	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}

	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	address := make(chan string, 1)

	go func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if _, url, ok := strings.Cut(lines.Text(), "WebDriver BiDi listening on "); ok {
				address <- strings.TrimSpace(url)
			}
		}
	}()

	f := &firefox{t: t}
	url := wait.Receive(t, "the address of Firefox", address)

	if f.conn, _, err = websocket.DefaultDialer.Dial(url+"/session", nil); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.conn.Close() })
	f.call("session.new", map[string]any{"capabilities": map[string]any{}})
	f.call("session.subscribe", map[string]any{"events": []string{"log.entryAdded"}})
	var tab struct{ Context string }
	f.read(f.call("browsingContext.create", map[string]any{"type": "tab"}), &tab)
	f.context = tab.Context

	return f
}

// call sends a command and returns its result.
func (f *firefox) call(method string, params any) json.RawMessage {
	f.t.Helper()
	f.id++

	if err := f.conn.WriteJSON(map[string]any{"id": f.id, "method": method, "params": params}); err != nil {
		f.t.Fatal(err)
	}

	for {
		f.conn.SetReadDeadline(time.Now().Add(wait.Patience))
		var m struct {
			ID             int
			Type, Message  string
			Method         string
			Result, Params json.RawMessage
		}

		if err := f.conn.ReadJSON(&m); err != nil {
			f.t.Fatalf("%s: %v", method, err)
		}

		if m.Method == "log.entryAdded" {
			var entry struct{ Level, Text string }
			if f.read(m.Params, &entry); entry.Level == "error" {
				f.logged = append(f.logged, entry.Text)
			}
		}

		switch {
		case m.ID != f.id:
		case m.Type == "error":
			f.t.Fatalf("%s: %s", method, m.Message)
		default:
			return m.Result
		}
	}
}

// read decodes a result.
func (f *firefox) read(data json.RawMessage, into any) {
	f.t.Helper()

	if err := json.Unmarshal(data, into); err != nil {
		f.t.Fatal(err)
	}
}

// open shows an address and waits until it has loaded.
func (f *firefox) open(url string) {
	f.t.Helper()
	f.call("browsingContext.navigate", map[string]any{"context": f.context, "url": url, "wait": "complete"})
}

// eval evaluates an expression in the page and reports whether its value is true.
func (f *firefox) eval(js string) bool {
	f.t.Helper()
	var got struct {
		Type   string
		Result struct{ Value any }
	}
	f.read(f.call("script.evaluate", map[string]any{
		"expression":   fmt.Sprintf("!!(%s)", js),
		"target":       map[string]any{"context": f.context},
		"awaitPromise": false,
	}), &got)

	return got.Result.Value == true
}

// until waits until an expression of the page is true.
func (f *firefox) until(what, js string) {
	f.t.Helper()
	wait.Until(f.t, what, func() bool { return f.eval(js) })
}
