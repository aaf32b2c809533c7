package chromium_test

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"presswork"
	"presswork/internal/chromium"
	"presswork/internal/guard"
)

// ways are what a page can do to make its browser connect: HOST is where to,
// and the path names the way. All of them reach a host that may be reached.
var ways = map[string]string{
	"img":           `<img src="http://HOST/img">`,
	"srcset":        `<img srcset="http://HOST/srcset 1x">`,
	"lazy":          `<div style="height:9000px"></div><img loading=lazy src="http://HOST/lazy">`,
	"iframe":        `<iframe src="http://HOST/iframe"></iframe>`,
	"srcdoc":        `<iframe srcdoc="<img src=http://HOST/srcdoc>"></iframe>`,
	"dataframe":     `<iframe src="data:text/html,<img src=http://HOST/dataframe>"></iframe>`,
	"sandboxed":     `<iframe sandbox="allow-scripts" srcdoc="<script>fetch('http://HOST/sandboxed',{mode:'no-cors'})</script>"></iframe>`,
	"css":           `<link rel=stylesheet href="http://HOST/css">`,
	"import":        `<style>@import "http://HOST/import";</style>`,
	"font":          `<style>@font-face{font-family:f;src:url(http://HOST/font)} q{font-family:f}</style><q>text</q>`,
	"background":    `<style>i{background:url(http://HOST/background)}</style><i>x</i>`,
	"printonly":     `<style>@media print{s{background:url(http://HOST/printonly)}}</style><s>x</s>`,
	"script":        `<script src="http://HOST/script"></script>`,
	"module":        `<script>import("http://HOST/module").catch(()=>{})</script>`,
	"fetch":         `<script>fetch("http://HOST/fetch",{mode:"no-cors"}).catch(()=>{})</script>`,
	"keepalive":     `<script>fetch("http://HOST/keepalive",{mode:"no-cors",keepalive:true}).catch(()=>{})</script>`,
	"xhr":           `<script>{const x=new XMLHttpRequest;x.open("GET","http://HOST/xhr");x.send()}</script>`,
	"syncxhr":       `<script>try{const x=new XMLHttpRequest;x.open("GET","http://HOST/syncxhr",false);x.send()}catch{}</script>`,
	"beacon":        `<script>navigator.sendBeacon("http://HOST/beacon","x")</script>`,
	"eventsource":   `<script>new EventSource("http://HOST/eventsource")</script>`,
	"websocket":     `<script>new WebSocket("ws://HOST/websocket")</script>`,
	"worker":        `<script>new Worker(URL.createObjectURL(new Blob(["fetch('http://HOST/worker',{mode:'no-cors'})"])))</script>`,
	"workersocket":  `<script>new Worker(URL.createObjectURL(new Blob(["new WebSocket('ws://HOST/workersocket')"])))</script>`,
	"importscripts": `<script>new Worker(URL.createObjectURL(new Blob(["importScripts('http://HOST/importscripts')"])))</script>`,
	"sharedworker":  `<script>new SharedWorker(URL.createObjectURL(new Blob(["fetch('http://HOST/sharedworker',{mode:'no-cors'})"])))</script>`,
	"prefetch":      `<link rel=prefetch href="http://HOST/prefetch">`,
	"preload":       `<link rel=preload as=image href="http://HOST/preload">`,
	"modulepreload": `<link rel=modulepreload href="http://HOST/modulepreload">`,
	"video":         `<video preload=auto src="http://HOST/video"></video>`,
	"poster":        `<video poster="http://HOST/poster"></video>`,
	"audio":         `<audio preload=auto src="http://HOST/audio"></audio>`,
	"object":        `<object data="http://HOST/object"></object>`,
	"embed":         `<embed src="http://HOST/embed">`,
	"svgimage":      `<svg><image href="http://HOST/svgimage"/></svg>`,
	"ping":          `<a id=ping href="#" ping="http://HOST/ping">a</a><script>ping.click()</script>`,
	"formframe":     `<iframe name=f></iframe><form target=f action="http://HOST/formframe"></form><script>document.forms[0].submit()</script>`,
	"frameredirect": `<iframe src="/to?http://HOST/frameredirect"></iframe>`,
	"imgredirect":   `<img src="/to?http://HOST/imgredirect">`,
	"fetchredirect": `<script>fetch("/to?http://HOST/fetchredirect",{mode:"no-cors"}).catch(()=>{})</script>`,
	"history":       `<script>history.pushState({},"","/elsewhere");fetch("//HOST/history",{mode:"no-cors"}).catch(()=>{})</script>`,
	"escape":        `<img src="http://HOST/escape%20/%zz">`,
}

// closed are ways out that are shut for every host.
const closed = `
	<link rel=dns-prefetch href="//HOST/"><link rel=preconnect href="https://HOST/">
	<img src="ftp://HOST/"><iframe src="file:///etc/passwd"></iframe><iframe src="view-source:http://HOST/"></iframe><iframe src="chrome://version"></iframe>
	<object data="file:///etc/passwd"></object><embed src="file:///etc/passwd"><img src="file:///etc/passwd"><link rel=stylesheet href="file:///etc/passwd">
	<iframe src="\\localhost\etc\passwd"></iframe><iframe src="FILE:///etc/passwd"></iframe><iframe src="filesystem:file:///etc/passwd"></iframe>
	<script>
	for (const server of ["stun:HOST", "turn:HOST?transport=udp", "turn:HOST?transport=tcp", "turns:HOST?transport=tcp"])
		try {
			const p = new RTCPeerConnection({iceServers: [{urls: server, username: "u", credential: "c"}]})
			p.createDataChannel("x"); p.createOffer().then(o => p.setLocalDescription(o))
		} catch {}
	try { new WebTransport("https://HOST/").ready.catch(() => {}) } catch {}
	try { window.open("http://HOST/popup"); window.open("file:///etc/passwd") } catch {}
	try { fetch("file:///etc/passwd").then(r => r.text()).then(x => document.body.append(x)).catch(() => {}) } catch {}
	try { navigator.serviceWorker.register("/sw.js").catch(() => {}) } catch {}
	try { navigator.geolocation.getCurrentPosition(() => document.body.append("located")) } catch {}
	try { Notification.requestPermission().then(p => document.body.append("notified-" + p)) } catch {}
	try { const i = document.createElement("input"); i.type = "file"; i.click() } catch {}
	try { const a = document.createElement("a"); a.href = "/download"; a.download = "x"; a.click() } catch {}
	</script>`

// attackSite serves the ways to a host, one by one and all at once.
func attackSite(host string) pages {
	site := pages{
		"/to": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.RawQuery, http.StatusFound)
		},
		"/ok":     "<p>next",
		"/closed": "<p>closed</p>" + strings.ReplaceAll(closed, "HOST", host),
		"/sw.js": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprintf(w, "fetch('http://%s/serviceworker',{mode:'no-cors'});importScripts('http://%s/serviceworker')", host, host)
		},
		"/download": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Disposition", "attachment; filename=x")
			w.Write(make([]byte, 1<<20))
		},
		"/meta":     "<meta http-equiv=refresh content='0;url=http://" + host + "/meta'>",
		"/script":   "<script>location='http://" + host + "/jump'</script>",
		"/form":     "<form method=post action='http://" + host + "/form'></form><script>document.forms[0].submit()</script>",
		"/late":     "<script>onload=()=>setTimeout(()=>location='http://" + host + "/late',50)</script>",
		"/twice":    func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/to?http://"+host+"/twice", 307) },
		"/tofile":   "<p>stays</p><script>location='file:///etc/passwd'</script>",
		"/todata":   "<p>stays</p><script>location='data:text/html,<p>data'</script>",
		"/toview":   "<p>stays</p><script>location='view-source:http://" + host + "/'</script>",
		"/tochrome": "<p>stays</p><script>location='chrome://version'</script><meta http-equiv=refresh content='0;url=chrome://crash'>",
		"/toblob":   "<script>location=URL.createObjectURL(new Blob(['<p>blob'],{type:'text/html'}))</script>",
		"/rebound":  "<p>page</p><iframe src='http://rebound.test:80/'></iframe>",
	}
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(ways)) {
		way := strings.ReplaceAll(ways[name], "HOST", host)
		site["/one/"+name] = "<p>page</p>" + way
		all.WriteString(way)
	}
	site["/all"] = "<p>page</p>" + all.String()
	return site
}

func TestNoPageReachesThisMachine(t *testing.T) {
	t.Parallel()
	secret := newSecret(t)
	hosts := []string{
		"127.0.0.1", "2130706433", "0x7f.1", "0177.0.0.1", "127.1", "①②⑦.0.0.1", "127.0.0.1.", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]",
		"[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[::127.0.0.1]", "0.0.0.0", "[::]", "localhost", "LOCALHOST.", "a.localhost", "rebound.test", "169.254.169.254",
	}
	sites := map[string]string{}
	var allow []string
	for _, host := range hosts {
		port := serve(t, attackSite(host+":"+secret.port))
		sites[host] = "http://site.test:" + port
		allow = append(allow, "site.test:"+port)
	}
	e := exporter(t, chromium.ExporterOptions{Browser: chromium.Options{Tabs: 2}}, guard.Options{Allow: strings.Join(allow, ","), Lookup: byName})

	// As the page itself: however it is written.
	for _, host := range hosts {
		for _, url := range []string{"http://" + host + ":" + secret.port + "/", "https://" + host + ":" + secret.port, sites[host] + "/to?http://" + host + ":" + secret.port} {
			_, err := e.PDF(t.Context(), chromium.Visit{URL: url}, within(10_000))
			wantCodeFor(t, url, err, presswork.AddressNotAllowed)
		}
	}
	for _, url := range []string{
		"file:///etc/passwd", "FILE:///etc/passwd", "view-source:http://site.test", "chrome://version", "data:text/html,x", "ftp://site.test/", "about:blank",
		"javascript:alert(1)", "http://a:b@site.test/", "http://site.test\x00.example/", "site.test", "",
	} {
		_, err := e.PDF(t.Context(), chromium.Visit{URL: url}, within(10_000))
		wantCodeFor(t, url, err, presswork.InvalidURL)
	}

	// From within a page: its own export is not harmed by what it may not have.
	for _, host := range hosts {
		out := mustExport(t, e, sites[host]+"/all", within(20_000))
		if got := text(t, out.Data); !strings.HasPrefix(got, "page") || strings.Contains(got, "secret") {
			t.Errorf("%s: %q", host, got)
		}
		if got := text(t, mustExport(t, e, sites[host]+"/ok", within(10_000)).Data); got != "next" {
			t.Errorf("next page: %q", got)
		}
	}
	base := sites["127.0.0.1"]
	for _, name := range slices.Sorted(maps.Keys(ways)) {
		if got := text(t, mustExport(t, e, base+"/one/"+name, within(20_000)).Data); strings.Contains(got, "secret") {
			t.Errorf("%s: %q", name, got)
		}
	}
	wait := presswork.ExportOptions{VisitOptions: presswork.VisitOptions{WaitForTimeout: 500}}
	if got := text(t, mustExport(t, e, base+"/closed", wait).Data); !strings.HasPrefix(got, "closed") || strings.Contains(got, "root:") || strings.Contains(got, "located") || strings.Contains(got, "granted") {
		t.Errorf("closed ways: %q", got)
	}

	// By leading there.
	for _, path := range []string{"/meta", "/script", "/form", "/twice", "/to?file:///etc/passwd", "/to?data:text/html,x", "/to?chrome://version", "/to?ftp://site.test/"} {
		_, err := e.PDF(t.Context(), chromium.Visit{URL: base + path}, within(10_000))
		wantCodeFor(t, path, err, presswork.AddressNotAllowed)
	}
	_, err := e.PDF(t.Context(), chromium.Visit{URL: base + "/to?view-source:http://site.test/"}, wait)
	wantCodeFor(t, "view-source", err, presswork.PageError)
	_, err = e.PDF(t.Context(), chromium.Visit{URL: base + "/late"}, wait)
	wantCodeFor(t, "/late", err, presswork.AddressNotAllowed)
	for path, want := range map[string]string{"/tofile": "stays", "/todata": "stays", "/toview": "stays", "/tochrome": "stays", "/toblob": "blob"} {
		out, err := e.PDF(t.Context(), chromium.Visit{URL: base + path}, within(10_000))
		if err != nil || text(t, out.Data) != want {
			t.Errorf("%s: %v", path, err)
		}
	}
	if n := secret.count(); n != 0 {
		t.Errorf("%d connections reached the secret: %v", n, secret.paths)
	}
	if s := e.Stats(); s.Launches != 1 || s.Crashes != 0 {
		t.Errorf("the browser was harmed: %+v", s)
	}
}

// The same pages where the guard allows the address: each way works, so that
// the test above tests something.
func TestTheWaysAreOpenWithoutTheGuard(t *testing.T) {
	t.Parallel()
	secret := newSecret(t)
	port := serve(t, attackSite("127.0.0.1:"+secret.port))
	e := exporter(t, chromium.ExporterOptions{Browser: chromium.Options{Tabs: 2}}, guard.Options{Allow: "true", Lookup: byName})
	base := "http://127.0.0.1:" + port
	mustExport(t, e, base+"/all", presswork.ExportOptions{VisitOptions: presswork.VisitOptions{WaitForTimeout: 1000}})
	for path, want := range map[string]string{"/meta": "/meta", "/script": "/jump", "/form": "/form", "/twice": "/twice"} {
		if got := text(t, mustExport(t, e, base+path, within(20_000)).Data); got != "the secret" {
			t.Errorf("%s: %q", path, got)
		}
		if !secret.was(want) {
			t.Errorf("%s leads nowhere", path)
		}
	}
	mustExport(t, e, base+"/closed", presswork.ExportOptions{VisitOptions: presswork.VisitOptions{WaitForTimeout: 500}})
	if n := secret.byUDP(); n != 0 {
		t.Errorf("%d packets by UDP", n)
	}
	for name := range ways {
		path := "/" + name
		if name == "escape" {
			continue // the guard takes no %zz over plain HTTP
		}
		if !secret.was(path) {
			t.Errorf("the way %s is none", name)
		}
	}
}

func wantCodeFor(t *testing.T, what string, err error, code presswork.Code) {
	t.Helper()
	if presswork.CodeOf(err) != code {
		t.Errorf("%s: %v, want %s", what, err, code)
	}
}
