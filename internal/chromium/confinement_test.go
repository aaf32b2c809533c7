package chromium_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"presswork/internal/chromium"
	"presswork/internal/chromium/printable"
	"presswork/internal/fault"
	"presswork/internal/test/browsertest"
	"presswork/internal/test/public"
	"presswork/internal/test/wait"
)

// countConnections listens on a free port of address. count returns the number of connections, and may be called once.
// It makes a connection itself and waits for it, so that all earlier ones are counted.
func countConnections(t *testing.T, address string) (host string, count func() int) {
	t.Helper()

	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	var mu sync.Mutex
	from := map[string]bool{}

	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			from[c.RemoteAddr().String()] = true
			mu.Unlock()
			c.Close()
		}
	}()

	return l.Addr().String(), func() (n int) {
		t.Helper()

		c, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		wait.Until(t, "the listener has accepted the last connection", func() bool {
			mu.Lock()
			defer mu.Unlock()
			n = len(from) - 1

			return from[c.LocalAddr().String()]
		})

		return n
	}
}

// hostile are attempts of a page to make connections. HOST is their target.
var hostile = []string{
	`<img src="http://HOST/img">`,
	`<img srcset="http://HOST/srcset 2x">`,
	`<img loading=lazy src="http://HOST/lazy">`,
	`<picture><source srcset="http://HOST/source"><img></picture>`,
	`<iframe src="http://HOST/iframe"></iframe>`,
	`<iframe srcdoc="<img src=http://HOST/srcdoc>"></iframe>`,
	`<iframe src="data:text/html,<img src=http://HOST/data>"></iframe>`,
	`<link rel=stylesheet href="http://HOST/css">`,
	`<style>@import "http://HOST/import"; @font-face{font-family:f;src:url(http://HOST/font)} p{font-family:f;background:url(http://HOST/bg)} li{list-style-image:url(http://HOST/li)} p::before{content:url(http://HOST/before)}</style><p>text<ul><li>x</ul>`,
	`<style>@page{@top-left{content:url(http://HOST/margin)}}</style>`,
	`<link rel=prefetch href="http://HOST/prefetch"><link rel=preload as=image href="http://HOST/preload"><link rel=prerender href="http://HOST/prerender">`,
	`<link rel=preconnect href="http://HOST/"><link rel=dns-prefetch href="//HOST/"><link rel=modulepreload href="http://HOST/m.js">`,
	`<link rel=icon href="http://HOST/icon"><link rel=manifest href="http://HOST/manifest"><link rel=search href="http://HOST/search">`,
	`<video src="http://HOST/video" poster="http://HOST/poster" autoplay></video><audio src="http://HOST/audio" autoplay></audio>`,
	`<video autoplay><source src="http://HOST/vsource"><track default src="http://HOST/track"></video>`,
	`<object data="http://HOST/object"></object><embed src="http://HOST/embed">`,
	`<svg><image href="http://HOST/svgimage"/><use href="http://HOST/use#a"/><script href="http://HOST/svgscript"></script></svg>`,
	`<svg><filter id=f><feImage href="http://HOST/feimage"/></filter><rect filter="url(#f)" width=9 height=9 /></svg>`,
	`<img src="data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg'><image href='http://HOST/insvg'/></svg>">`,
	`<input type=image src="http://HOST/input"><form action="http://HOST/form"><button autofocus>x</button></form>`,
	`<body background="http://HOST/body"><table background="http://HOST/table"><tr><td>x</table>`,
	`<a href="http://HOST/a" ping="http://HOST/ping">a</a>`,
	`<script src="http://HOST/script"></script><script>fetch("http://HOST/fetch");new WebSocket("ws://HOST/ws");navigator.sendBeacon("http://HOST/beacon");new Image().src="http://HOST/new"</script>`,
	`<img src=x onerror="fetch('http://HOST/onerror')"><svg onload="fetch('http://HOST/onload')"></svg>`,
	`<script>new RTCPeerConnection({iceServers:[{urls:"stun:HOST"}]}).createDataChannel("x")</script>`,
	`<base href="http://HOST/"><img src="base">`,
	`<img src="ftp://HOST/ftp"><img src="https://HOST/https"><img src="//HOST/relative">`,
	`<img src="http://HOST/%zz"><img src="http://x/%zz">`,
	`<meta http-equiv=refresh content="0;url=http://HOST/refresh">`,
	`<meta http-equiv=refresh content="0;url=file:///etc/passwd">`,
	`<meta http-equiv="Content-Security-Policy-Report-Only" content="default-src 'none'; report-uri http://HOST/csp">`,
	`<frameset><frame src="http://HOST/frame"></frameset>`,
	`<portal src="http://HOST/portal"></portal><fencedframe src="https://HOST/fenced"></fencedframe>`,
}

func TestPrintedPagesMakeNoConnections(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t, chromium.Options{Tabs: 2})
	v4, count4 := countConnections(t, "127.0.0.1:0")
	v6, count6 := countConnections(t, "[::1]:0")
	_, port, _ := net.SplitHostPort(v4)
	hosts := []string{
		v4,
		v6,
		"localhost:" + port,
		"2130706433:" + port,
		"0x7f.1:" + port,
		"[::ffff:127.0.0.1]:" + port,
		"0.0.0.0:" + port,
	}
	var all strings.Builder

	for _, way := range hostile {
		for _, host := range hosts {
			all.WriteString(strings.ReplaceAll(way, "HOST", host))
		}
		// Try each alone as well, because a page that navigates away ends the others.
		_, err := b.Print(t.Context(), page(strings.ReplaceAll(way, "HOST", v4)))
		if err != nil && fault.CodeOf(err) != fault.RenderFailed {
			t.Errorf("%s: error %v, want none or render_failed", way, err)
		}

		if got := text(t, mustPrint(t, b, page("<p>next"))); got != "next" {
			t.Errorf("after %s: text of the next print %q, want next", way, got)
		}
	}
	b.Print(t.Context(), page(all.String()))

	if got := text(t, mustPrint(t, b, page("<p>next"))); got != "next" {
		t.Errorf("text of the next print %q, want next", got)
	}

	if n := count4() + count6(); n != 0 {
		t.Errorf("%d connections, want none", n)
	}

	if s := b.Stats(); s.Launches != 1 || s.Crashes != 0 {
		t.Errorf("stats %+v, want one launch and no crash", s)
	}
}

func TestPagesCannotReadFiles(t *testing.T) {
	t.Parallel()
	dir := public.Dir(t)
	b := browsertest.Start(t, chromium.Options{Tabs: 1, Dir: dir})

	secret := filepath.Join(dir, "secret.html")
	if err := os.WriteFile(secret, []byte("<p>a secret"), 0o644); err != nil {
		t.Fatal(err)
	}

	for _, target := range []string{"file://" + secret, "file://localhost" + secret, "FILE:" + secret, "view-source:file://" + secret, "filesystem:file://" + secret, `\\localhost` + secret, "chrome://version"} {
		t.Run(target, func(t *testing.T) {
			for _, way := range []string{"<iframe src=%q></iframe>", "<object data=%q></object>", "<embed src=%q>", "<link rel=import href=%q>", "<meta http-equiv=refresh content='0;url=%s'>", "<svg><use href=%q /></svg>"} {
				t.Run(way, func(t *testing.T) {
					out, err := b.Print(t.Context(), page("<p>page "+fmt.Sprintf(way, target)))
					if err == nil && text(t, out) != "page" {
						t.Errorf("%s to %s: text %q, want page", way, target, text(t, out))
					}
				})
			}
		})
	}
}

func TestPrintsShareNoState(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t, chromium.Options{Tabs: 1})

	first := page(
		`<style>p{display:none} @page{size:100mm 100mm}</style><p>first<base href="data:text/plain,x"><meta http-equiv=set-cookie content="a=b">
		<script>document.cookie="a=b";localStorage.x=1;window.name="first";document.body.innerHTML="script ran"</script>`,
	)
	if got := text(t, mustPrint(t, b, first)); got != "" {
		t.Errorf("text of the first page %q, want none", got)
	}

	out := mustPrint(t, b, page(
		"<p>second <script>document.body.append(document.cookie+window.name)</script><noscript>no script</noscript>",
	))
	if got := text(t, out); got != "second no script" {
		t.Errorf("text of the second page %q, want no state of the first", got)
	}

	if got := info(t, out, "Page size"); !strings.Contains(got, "A4") {
		t.Errorf("size of the second page %s, want A4", got)
	}
}

func TestPrintIsNotReplacedByANavigation(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t, chromium.Options{Tabs: 1})
	navigate := `<meta http-equiv=refresh content="0;url=http://x/">`
	round := 0
	wait.Until(t, "a page navigates away during its print", func() bool {
		round++
		// A print returns its own page or fails. It never returns the page of the navigation.
		out, err := b.Print(t.Context(), page(navigate+slow.HTML))
		if err == nil && !strings.HasPrefix(text(t, out), "some cells") {
			t.Errorf("text %.100q, want that of the page", text(t, out))
		} else if err != nil {
			wantCode(t, err, fault.RenderFailed)
		}
		// A navigation that one page began must not replace the next page.
		b.Print(t.Context(), page(navigate))

		if got := text(t, mustPrint(t, b, slow)); !strings.HasPrefix(got, "some cells") {
			t.Errorf("text of the next print %.100q, want that of its page", got)
		}

		return round >= 3 && b.Stats().TabsLost > 0
	})
}

func TestLargePDFsAreRejected(t *testing.T) {
	t.Parallel()
	b := browsertest.Start(t, chromium.Options{Tabs: 1, MaxPDFBytes: 100 << 10})

	large := strings.Repeat("<p style='break-before:page'>page", 1000)
	// The second page is so large that it is sent in pieces.
	for _, p := range []printable.Page{page(large), page(large + "<!--" + strings.Repeat("x", 2<<20))} {
		_, err := b.Print(t.Context(), p)

		e, _ := errors.AsType[*fault.Error](err)
		if e == nil || e.Code != fault.RenderFailed || !strings.Contains(e.Message, "larger than") {
			t.Errorf("error %v, want render_failed because the PDF is too large", err)
		}
		mustPrint(t, b, page("<p>next"))
	}

	if s := b.Stats(); s.Launches != 1 {
		t.Errorf("stats %+v, want one launch", s)
	}
}

// status returns the fields of /proc/PID/status by name. It is empty for a process that has ended.
func status(pid int) map[string]string {
	fields := map[string]string{}

	b, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(b)) {
		name, value, _ := strings.Cut(line, ":")
		fields[name] = strings.TrimSpace(value)
	}

	return fields
}

func TestBrowserRunsUnprivilegedAndSandboxed(t *testing.T) {
	t.Parallel()
	dir := public.Dir(t)
	b := browsertest.Start(t, chromium.Options{Tabs: 1, Dir: dir, UID: 60911})
	mustPrint(t, b, page("x"))

	if on, reason := b.Sandbox(); !on {
		t.Errorf("the sandbox is off, want it on: %s", reason)
	}

	uid := os.Getuid()
	if uid == 0 {
		uid = 60911
	}
	renderers := 0

	for _, p := range processes(t, dir) {
		s, want := status(p.pid), fmt.Sprintf("%d\t%d\t%d\t%d", uid, uid, uid, uid)
		if len(s) == 0 {
			continue // the process has ended
		}

		if s["Uid"] != want {
			t.Errorf("%s runs as %q, want %q", p.kind(), s["Uid"], want)
		}

		if os.Getuid() == 0 && s["Groups"] != "" {
			t.Errorf("%s has the groups %s, want none", p.kind(), s["Groups"])
		}

		if p.kind() == "renderer" {
			renderers++

			if s["Seccomp"] != "2" {
				t.Errorf("renderer's seccomp mode %s, want 2", s["Seccomp"])
			}
		}
	}

	if renderers == 0 {
		t.Error("no renderer is running, want one")
	}

	if helpers := pids(t, dir, "utility"); len(helpers) > 0 {
		t.Errorf("%d utility processes, want none: the network needs no process", len(helpers))
	}

	profiles, _ := filepath.Glob(filepath.Join(dir, "presswork-chromium-*", "data"))
	if len(profiles) != 1 {
		t.Fatalf("profiles %v, want one", profiles)
	}

	if fi, err := os.Stat(profiles[0]); err != nil || fi.Mode().Perm() != 0o700 {
		t.Errorf("mode of the profile %v, %v; want 0700", fi.Mode(), err)
	}
}

// fakeBrowser writes a shell script that is started instead of the browser, and returns its path.
func fakeBrowser(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(public.Dir(t), "browser")
	public.Program(t, path, "#!/bin/sh\n"+body)

	return path
}

// headlessShell is the browser of Debian.
const headlessShell = "/usr/lib/chromium/chromium-headless-shell"

func TestBrowserWithoutAWorkingSandboxStartsUnsandboxed(t *testing.T) {
	t.Parallel()
	path := fakeBrowser(t, `case "$*" in *--no-sandbox*) exec `+headlessShell+` "$@";; esac
		echo "[1:1:FATAL:zygote_host_impl_linux.cc(1)] No usable sandbox!" >&2; exit 1`)
	b := browsertest.Start(t, chromium.Options{Path: path, Tabs: 1})
	mustPrint(t, b, page("x"))

	if on, reason := b.Sandbox(); on || !strings.Contains(reason, "No usable sandbox!") {
		t.Errorf("Sandbox() = %v, %q; want false with the message of the browser", on, reason)
	}
}

func TestFailedLaunchIsRetried(t *testing.T) {
	t.Parallel()
	dir := public.Dir(t)
	ready := filepath.Join(dir, "ready")
	path := fakeBrowser(
		t,
		`[ -e `+ready+` ] && exec `+headlessShell+` "$@"; echo "cannot open shared object file" >&2; exit 127`,
	)
	b := browsertest.Start(t, chromium.Options{Path: path, Tabs: 1})
	_, err := b.Print(t.Context(), page("x"))
	wantCode(t, err, fault.BrowserUnavailable)

	if !strings.Contains(err.Error(), "cannot open shared object file") {
		t.Errorf("error %v, want one with the message of the browser", err)
	}

	if err := b.Health(t.Context()); err == nil {
		t.Error("Health without a browser succeeds, want an error")
	}

	if err := os.WriteFile(ready, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "healthy again", func() bool { return b.Health(t.Context()) == nil })
	mustPrint(t, b, page("x"))
}

func TestSilentBrowserFailsTheLaunch(t *testing.T) {
	t.Parallel()
	dir := public.Dir(t)
	b := browsertest.Start(
		t,
		chromium.Options{Path: fakeBrowser(t, "sleep 1000"), Tabs: 1, Dir: dir, StartTimeout: 200 * time.Millisecond},
	)

	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()
	_, err := b.Print(ctx, page("x"))
	wantCode(t, err, fault.BrowserUnavailable)
	wait.Until(t, "no process is left", func() bool { return len(processes(t, dir)) == 0 })
}

func TestTabKeepsItsContentSecurityPolicy(t *testing.T) {
	t.Parallel()

	b := browsertest.Start(t, chromium.Options{Tabs: 1})
	for n := range 5 {
		// The policy forbids style sheets from data: addresses; the browser alone allows them.
		got := text(t, mustPrint(t, b, page(`<link rel=stylesheet href="data:text/css,p{display:none}"><p>shown`)))
		if got != "shown" {
			t.Fatalf("print %d: text %q, want shown: the policy must block the style sheet", n, got)
		}
	}
}
