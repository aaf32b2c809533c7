package chromium_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"presswork/internal/chromium"
	"presswork/internal/fault"
	"presswork/internal/test/browsertest"
	"presswork/internal/test/public"
	"presswork/internal/test/wait"
)

func TestScriptReturnsTheValuesOfItsExpressions(t *testing.T) {
	t.Parallel()

	b := browsertest.Start(t, chromium.Options{})
	for range 2 {
		values, err := b.Script(t.Context(),
			`if (globalThis.calls) throw new Error("the page of the last script is still open"); globalThis.calls = 1`,
			`Promise.resolve({text: "ü\u2028<", at: location.href, body: document.body.outerHTML})`,
			`++globalThis.calls`)

		want := `[{"text":"\u00fc\u2028<","at":"about:blank","body":"<body></body>"} 2]`
		if err != nil || fmt.Sprintf("%s", values) != want {
			t.Fatalf("got %s, %v; want %s", values, err, want)
		}
	}

	values, err := b.Script(t.Context(), "", `1`, `null.x`, `2`)
	if fault.CodeOf(err) != fault.RenderFailed || !strings.Contains(err.Error(), "TypeError") ||
		fmt.Sprintf("%s", values) != "[1]" {
		t.Errorf("a script that throws: %s, %v; want [1] and a TypeError", values, err)
	}
}

// Many expressions together take long on a busy machine, so each has its own time limit.
func TestEveryExpressionHasItsOwnTimeLimit(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t, chromium.Options{ScriptTimeout: 9 * time.Second})
	mustPrint(t, b, page("the browser is up"))

	pauses := slices.Repeat([]string{`new Promise((done) => setTimeout(() => done(1), 1000))`}, 10)
	if values, err := b.Script(t.Context(), "", pauses...); err != nil || len(values) != 10 {
		t.Errorf("got %s, %v; want 10 values", values, err)
	}
}

// Any script must end in time and must not affect later scripts or prints.
func TestBrokenScriptsEndAndAffectNoOtherWork(t *testing.T) {
	t.Parallel()
	dir := public.Dir(t)
	// The time limit of the caller below ends the scripts, not ScriptTimeout.
	b := browsertest.Start(t, chromium.Options{Dir: dir, Tabs: 2, ScriptTimeout: 10 * time.Minute})
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
				ended := make(chan error, 1)

				go func() {
					ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
					defer cancel()
					_, err := b.Script(ctx, "", script)
					ended <- err
				}()

				err := wait.Receive(t, "the end of the script", ended)
				if code := fault.CodeOf(err); code != fault.RenderTimeout && code != fault.RenderFailed {
					t.Errorf("error %v, want render_timeout or render_failed", err)
				}
				mustPrint(t, b, page("after "+name))
			})
		}
	})

	if v, err := b.Script(t.Context(), "", "1"); err != nil || len(v) != 1 || string(v[0]) != "1" {
		t.Errorf("the next script: %s, %v; want 1", v, err)
	}

	if after := browserPIDs(t, dir); !slices.Equal(before, after) {
		t.Errorf("processes of browsers %v, want %v as before", after, before)
	}
}

// browserPIDs returns the main processes of the browsers with a profile below dir.
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
	b := browsertest.Start(t, chromium.Options{})
	address, connections := countConnections(t, "127.0.0.1:0")

	values, err := b.Script(t.Context(), "", `(async () => {
		const url = "http://`+address+`/";
		document.body.innerHTML = '<img src="'+url+'"><iframe src="'+url+'"></iframe><link rel=stylesheet href="'+url+'"><object data="'+url+'"></object>';
		try { new WebSocket("ws://`+address+`/") } catch {}
		try { navigator.sendBeacon(url) } catch {}
		try { open(url) } catch {}
		return fetch(url, {mode: "no-cors"}).then(() => "answered", () => "refused");
	})()`)
	if err != nil && !errors.Is(err, context.Canceled) && fault.CodeOf(err) != fault.RenderFailed ||
		err == nil && string(values[0]) != `"refused"` {
		t.Errorf("fetch: %s, %v; want refused or the end of the page", values, err)
	}

	if n := connections(); n != 0 {
		t.Errorf("%d connections, want none", n)
	}
}
