package chromium_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"presswork"
	"presswork/internal/chromium"
)

func TestScriptReturnsItsValue(t *testing.T) {
	t.Parallel()
	b := start(t, chromium.Options{})
	for range 2 {
		value, err := b.Script(t.Context(), `if (globalThis.left) throw new Error("the last page is still here"); globalThis.left = true`,
			`Promise.resolve({text: "ü\u2028<", at: location.href, body: document.body.outerHTML})`)
		if want := `{"text":"\u00fc\u2028<","at":"about:blank","body":"<body></body>"}`; err != nil || string(value) != want {
			t.Fatalf("%s, %v; want %s", value, err, want)
		}
	}
	_, err := b.Script(t.Context(), "", `null.x`)
	if presswork.CodeOf(err) != presswork.RenderFailed || !strings.Contains(err.Error(), "TypeError") {
		t.Errorf("a script that throws: %v", err)
	}
}

// A script may do what it likes: it ends in time, and neither the next script
// nor a print feels it.
func TestScriptsThatBreakTheirPage(t *testing.T) {
	t.Parallel()
	dir := publicDir(t)
	b := start(t, chromium.Options{Dir: dir, Tabs: 2})
	mustPrint(t, b, page("before"))
	before := browserPIDs(t, dir)
	t.Run("each", func(t *testing.T) {
		for name, script := range map[string]string{
			"loop":       `for (;;) {}`,
			"microtasks": `(function again() { Promise.resolve().then(again) })()`,
			"never":      `new Promise(() => {})`,
			"navigation": `location.href = "http://elsewhere.test/"; new Promise(() => {})`,
			"memory":     `(() => { const all = []; for (;;) all.push(new Array(1e6).fill({})) })()`,
			"timers":     `setInterval(() => { for (;;) {} }); new Promise(() => {})`,
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
				defer cancel()
				begun := time.Now()
				value, err := b.Script(ctx, "", script)
				if code := presswork.CodeOf(err); code != presswork.RenderTimeout && code != presswork.RenderFailed {
					t.Errorf("%s, %v", value, err)
				}
				if took := time.Since(begun); took > 10*time.Second {
					t.Errorf("took %s", took)
				}
				mustPrint(t, b, page("after "+name))
			})
		}
	})
	if v, err := b.Script(t.Context(), "", "1"); err != nil || string(v) != "1" {
		t.Errorf("a script afterwards: %s, %v", v, err)
	}
	if after := browserPIDs(t, dir); !slices.Equal(before, after) {
		t.Errorf("the browser was replaced: process %v, before %v", after, before)
	}
}

func browserPIDs(t *testing.T, dir string) (pids []int) {
	t.Helper()
	for _, p := range processes(t, dir) {
		if p.kind() == "browser" && strings.Contains(p.cmdline, "--headless") {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

func TestScriptHasNoNetwork(t *testing.T) {
	t.Parallel()
	b := start(t, chromium.Options{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var visits atomic.Int32
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			visits.Add(1)
			c.Close()
		}
	}()
	at := l.Addr().String()
	value, err := b.Script(t.Context(), "", `(async () => {
		const url = "http://`+at+`/";
		document.body.innerHTML = '<img src="'+url+'"><iframe src="'+url+'"></iframe><link rel=stylesheet href="'+url+'"><object data="'+url+'"></object>';
		try { new WebSocket("ws://`+at+`/") } catch {}
		try { navigator.sendBeacon(url) } catch {}
		try { open(url) } catch {}
		return fetch(url, {mode: "no-cors"}).then(() => "answered", () => "refused");
	})()`)
	if err != nil && !errors.Is(err, context.Canceled) && presswork.CodeOf(err) != presswork.RenderFailed || err == nil && string(value) != `"refused"` {
		t.Errorf("fetch: %s, %v", value, err)
	}
	if n := visits.Load(); n != 0 {
		t.Errorf("%d connections got out", n)
	}
}
