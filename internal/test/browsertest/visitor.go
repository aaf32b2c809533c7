package browsertest

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-rod/rod"
	"github.com/go-rod/rod/lib/proto"

	"presswork/internal/chromium"
	"presswork/internal/test/public"
	"presswork/internal/test/wait"
)

// Visitor is an ordinary browser with scripts that can reach loopback addresses only.
type Visitor struct {
	t       testing.TB
	browser *rod.Browser
}

// NewVisitor starts a browser that ends with the test.
func NewVisitor(t testing.TB) *Visitor {
	t.Helper()

	if testing.Short() {
		t.Skip("needs Chromium; `make test` runs this test")
	}

	exe, err := chromium.Find("")
	if err != nil {
		t.Fatal(err)
	}

	args := []string{
		"--headless",
		"--remote-debugging-port=0",
		"--user-data-dir=" + public.Dir(t),
		"--no-first-run",
		"--disable-gpu",
		"--disable-background-networking",
		"--disable-component-update",
		"--disable-dev-shm-usage",
		"--force-color-profile=srgb",
		"--lang=en-US",
		"--hide-scrollbars",
		"--use-fake-device-for-media-stream",
		"--use-fake-ui-for-media-stream",
		"--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
	}
	if os.Geteuid() == 0 {
		args = append(args, "--no-sandbox")
	}

	b := rod.New().ControlURL(StartDevTools(t, exec.Command(exe, append(args, "about:blank")...))).NoDefaultDevice()
	if err := b.Connect(); err != nil {
		t.Fatal(err)
	}

	return &Visitor{t: t, browser: b}
}

// StartDevTools runs a browser until the test ends, and returns the address of its DevTools.
func StartDevTools(t testing.TB, browser *exec.Cmd) (url string) {
	t.Helper()

	stderr, err := browser.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}

	if err := browser.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { browser.Process.Kill(); browser.Wait() })
	address := make(chan string, 1)

	go func() {
		for lines := bufio.NewScanner(stderr); lines.Scan(); {
			if _, url, ok := strings.Cut(lines.Text(), "DevTools listening on "); ok {
				address <- strings.TrimSpace(url)
			}
		}
	}()

	return wait.Receive(t, "the address of the browser's DevTools", address)
}

// For returns a Visitor of the same browser that fails t, such as a subtest.
func (v *Visitor) For(t testing.TB) *Visitor { return &Visitor{t: t, browser: v.browser} }

// Visit is an open page. Console errors, exceptions and requests to other origins fail the test when it ends.
type Visit struct {
	t    testing.TB
	Page *rod.Page
	// Allow lists parts of console messages that do not fail this test.
	Allow []string

	mu       sync.Mutex
	problems []string
	requests []string
}

// Open shows an address in a window of width by height pixels with its own session. dark selects the preferred colour
// scheme.
func (v *Visitor) Open(address string, width, height int, dark bool) *Visit {
	v.t.Helper()

	b, err := v.browser.Incognito()
	if err != nil {
		v.t.Fatal(err)
	}

	return v.open(b, address, width, height, dark)
}

// OpenAlso opens an address in another window of the session of first.
func (v *Visitor) OpenAlso(first *Visit, address string) *Visit {
	v.t.Helper()
	return v.open(first.Page.Browser(), address, 1280, 800, false)
}

// open opens an address in a window and records the errors of its console.
func (v *Visitor) open(b *rod.Browser, address string, width, height int, dark bool) *Visit {
	v.t.Helper()

	p, err := b.Page(proto.TargetCreateTarget{})
	if err != nil {
		v.t.Fatal(err)
	}
	p = p.WithPanic(func(err any) {
		v.t.Helper()
		v.t.Fatal(err)
	})
	visit := &Visit{t: v.t, Page: p}
	host, _, _ := strings.Cut(strings.TrimPrefix(address, "http://"), "/")

	go p.EachEvent(
		func(e *proto.RuntimeExceptionThrown) {
			visit.note("exception: " + e.ExceptionDetails.Text + describe(e.ExceptionDetails))
		},
		func(e *proto.RuntimeConsoleAPICalled) {
			if e.Type == proto.RuntimeConsoleAPICalledTypeError {
				visit.note(fmt.Sprintf("console.error: %v", e.Args))
			}
		},
		func(e *proto.LogEntryAdded) {
			if e.Entry.Level == proto.LogLogEntryLevelError {
				visit.note("log: " + e.Entry.Text + " " + e.Entry.URL)
			}
		},
		func(e *proto.NetworkRequestWillBeSent) { visit.request(e.Request, host) },
	)()

	scheme := "light"
	if dark {
		scheme = "dark"
	}

	for _, enable := range []interface{ Call(proto.Client) error }{
		proto.LogEnable{},
		proto.NetworkEnable{},
		proto.EmulationSetDeviceMetricsOverride{Width: width, Height: height, DeviceScaleFactor: 1},
		proto.EmulationSetEmulatedMedia{
			Features: []*proto.EmulationMediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		},
	} {
		if err := enable.Call(p); err != nil {
			v.t.Fatal(err)
		}
	}
	v.t.Cleanup(visit.end)

	if err := p.Timeout(wait.Patience).Navigate(address); err != nil {
		v.t.Fatal(err)
	}

	if err := p.Timeout(wait.Patience).WaitLoad(); err != nil {
		v.t.Fatal(err)
	}

	return visit
}

// describe returns the description of an exception, or "".
func describe(d *proto.RuntimeExceptionDetails) string {
	if d.Exception == nil {
		return ""
	}

	return " " + d.Exception.Description
}

// end reports the problems of the page. If the test has failed, it also logs the text of the page.
func (v *Visit) end() {
	v.mu.Lock()
	defer v.mu.Unlock()

	for _, problem := range v.problems {
		if !v.allowed(problem) {
			v.t.Error(problem)
		}
	}

	if v.t.Failed() {
		v.t.Logf("text of the page: %q", v.Text("body"))
	}
}

// request records a request. A request to another host than host is a problem.
func (v *Visit) request(r *proto.NetworkRequest, host string) {
	v.mu.Lock()
	v.requests = append(v.requests, r.Method+" "+r.URL)
	v.mu.Unlock()

	scheme, rest, _ := strings.Cut(r.URL, ":")
	if scheme == "blob" || scheme == "data" || scheme == "about" {
		return
	}

	if target, _, _ := strings.Cut(strings.TrimPrefix(rest, "//"), "/"); target != host {
		v.note("request to another origin: " + r.URL)
	}
}

// note adds a problem that fails the test at its end.
func (v *Visit) note(problem string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.problems = append(v.problems, problem)
}

// allowed reports whether the test allows a problem.
func (v *Visit) allowed(problem string) bool {
	for _, a := range v.Allow {
		if strings.Contains(problem, a) {
			return true
		}
	}

	return false
}

// Requests returns the requests of the page: "GET http://…".
func (v *Visit) Requests() []string {
	v.mu.Lock()
	defer v.mu.Unlock()

	return append([]string(nil), v.requests...)
}

// visible finds an element and checks in the same step that it is shown, because the page may replace the element
// between two calls.
const visible = `s => { const e = document.querySelector(s); return e?.checkVisibility({visibilityProperty: true}) ` +
	`? e : null }`

// See waits for an element of a CSS selector that is shown, and returns it.
func (v *Visit) See(selector string) *rod.Element {
	v.t.Helper()
	return v.find(selector, nil, visible, selector)
}

// find waits for an element that a function of the page returns and calls do once. The page may replace the
// element or itself in the meantime.
func (v *Visit) find(what string, do func(*rod.Element) error, js string, args ...any) *rod.Element {
	v.t.Helper()

	for p := v.Page.Timeout(wait.Patience); ; time.Sleep(20 * time.Millisecond) {
		e, err := p.ElementByJS(rod.Eval(js, args...))
		if err == nil && do != nil {
			err = do(e)
		}

		if err == nil {
			return e
		}

		if p.GetContext().Err() != nil {
			v.t.Fatalf("no %s: %v", what, err)
		}
	}
}

// click clicks an element with the left mouse button.
func click(e *rod.Element) error { return e.Click(proto.InputMouseButtonLeft, 1) }

// Press waits for an element of a CSS selector that is shown, and clicks it.
func (v *Visit) Press(selector string) {
	v.t.Helper()
	v.find(selector, click, visible, selector)
}

// Click waits for a button, tab or link whose name begins with name, and clicks it. If there are several, it clicks the
// last.
func (v *Visit) Click(name string) {
	v.t.Helper()
	const find = `name => [...document.querySelectorAll("button,a,summary,label")].findLast(e =>
		e.checkVisibility() && !e.disabled && (e.getAttribute("aria-label") ?? e.innerText).replace(/\s+/g, " ").trim().startsWith(name)) ?? null`
	v.find("button "+name, click, find, name)
}

// Eval runs a function in the page and returns what it returns, as text.
func (v *Visit) Eval(js string, args ...any) string {
	v.t.Helper()

	r, err := v.Page.Timeout(wait.Patience).Eval(js, args...)
	if err != nil {
		v.t.Fatalf("%s: %v", js, err)
	}

	return r.Value.String()
}

// Until waits until a function of the page returns true. what names the condition. A function that fails is called
// again: a frame between two documents has no body, and the page may be reloaded.
func (v *Visit) Until(what, js string, args ...any) {
	v.t.Helper()
	p := v.Page.Timeout(wait.Patience)
	var last error

	for {
		err := p.Wait(rod.Eval(js, args...))
		if err == nil {
			return
		}

		if p.GetContext().Err() != nil {
			v.t.Fatalf("%s: %v (before: %v)", what, err, last)
		}
		last = err
		time.Sleep(20 * time.Millisecond)
	}
}

// Reads waits until all words are in the text of the first element of a selector, and returns the text.
func (v *Visit) Reads(selector string, words ...string) string {
	v.t.Helper()
	v.Until(selector+" reads "+strings.Join(words, ", "),
		`(s, words) => words.every(w => document.querySelector(s)?.innerText.includes(w))`, selector, words)

	return v.Text(selector)
}

// Text returns the text of the first element of a selector; "" without one.
func (v *Visit) Text(selector string) string {
	r, err := v.Page.Timeout(wait.Patience).Eval(`s => document.querySelector(s)?.innerText ?? ""`, selector)
	if err != nil {
		return ""
	}

	return r.Value.String()
}

// Picture returns a PNG of the window.
func (v *Visit) Picture() []byte {
	v.t.Helper()

	b, err := v.Page.Timeout(wait.Patience).Screenshot(false, nil)
	if err != nil {
		v.t.Fatal(err)
	}

	return b
}
