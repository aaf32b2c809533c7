package chromium_test

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"presswork/internal/chromium"
	"presswork/internal/export"
	"presswork/internal/fault"
	"presswork/internal/guard"
)

// ways are pages that make their browser connect. HOST is the target, and the path of its address is the name of the
// way. All of them reach a host that is allowed.
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
	"imagebutton":   `<input type=image src="http://HOST/imagebutton">`,
	"mask":          `<style>u{mask:url(http://HOST/mask)}</style><u>x</u>`,
	"speculation":   `<script type=speculationrules>{"prefetch":[{"urls":["http://HOST/speculation"],"eagerness":"immediate"}]}</script>`,
	"linkheader":    `<iframe src="/header?Link=%3Chttp://HOST/linkheader%3E;rel=preload;as=image"></iframe>`,
	"cspreport":     `<iframe src="/header?Content-Security-Policy=img-src%20'none';report-uri%20http://HOST/cspreport"></iframe>`,
	"refresh":       `<iframe src="/header?Refresh=0;url=http://HOST/refresh"></iframe>`,
}

// closedWays are ways that Presswork closes for every host.
var closedWays = map[string]string{
	"popup":   `<script>open("http://HOST/popup")</script>`,
	"stun":    `<script>gather("stun:HOST")</script>`,
	"turn":    `<script>gather("turn:HOST?transport=udp")</script>`,
	"turntcp": `<script>gather("turn:HOST?transport=tcp")</script>`,
	"peer": `<script>(async () => {
		const [p, q] = [new RTCPeerConnection, new RTCPeerConnection]
		p.createDataChannel("x")
		await p.setLocalDescription(await p.createOffer()); await q.setRemoteDescription(p.localDescription)
		await q.setLocalDescription(await q.createAnswer()); await p.setRemoteDescription(q.localDescription)
		const port = "HOST".split(":")[1], at = {sdpMid: "0", sdpMLineIndex: 0}
		p.addIceCandidate({candidate: "candidate:1 1 tcp 1518280447 127.0.0.1 " + port + " typ host tcptype passive", ...at})
		p.addIceCandidate({candidate: "candidate:2 1 udp 2113937151 127.0.0.1 " + port + " typ host", ...at})
	})()</script>`,
	"webtransport": `<script>new WebTransport("https://HOST/").ready.catch(() => {})</script>`,
}

// gather defines the function of closedWays that collects the candidates of a WebRTC server.
const gather = `<script>function gather(server) {
	const p = new RTCPeerConnection({iceServers: [{urls: server, username: "u", credential: "c"}]})
	p.onicecandidate = e => { if (e.candidate) document.body.append(" candidate " + e.candidate.candidate) }
	p.createDataChannel("x"); p.createOffer().then(o => p.setLocalDescription(o))
}</script>`

// inside tries to reach files, the browser's own pages and devices. Chromium forbids that to every page of the web.
const inside = `
	<link rel=dns-prefetch href="//leak.test/"><link rel=preconnect href="https://HOST/"><img src="ftp://HOST/">
	<iframe src="file:///etc/passwd"></iframe><iframe src="view-source:http://HOST/"></iframe><iframe src="chrome://version"></iframe>
	<object data="file:///etc/passwd"></object><embed src="file:///etc/passwd"><img src="file:///etc/passwd"><link rel=stylesheet href="file:///etc/passwd">
	<iframe src="\\localhost\etc\passwd"></iframe><iframe src="FILE:///etc/passwd"></iframe><iframe src="filesystem:file:///etc/passwd"></iframe>
	<script>
	try { open("file:///etc/passwd") } catch {}
	try { fetch("file:///etc/passwd").then(r => r.text()).then(x => document.body.append(x)).catch(() => {}) } catch {}
	try { navigator.geolocation.getCurrentPosition(() => document.body.append("located")) } catch {}
	try { Notification.requestPermission().then(p => document.body.append("notified-" + p)) } catch {}
	try { const i = document.createElement("input"); i.type = "file"; i.click() } catch {}
	try { const a = document.createElement("a"); a.href = "/download"; a.download = "x"; a.click() } catch {}
	</script>`

// attackSite serves a page that tries all ways to a host at once.
func attackSite(host string) pages {
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(ways)) {
		all.WriteString(ways[name])
	}

	return pages{
		"/to": func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.RawQuery, http.StatusFound) },
		"/header": func(w http.ResponseWriter, r *http.Request) {
			name, value, _ := strings.Cut(r.URL.RawQuery, "=")
			value, _ = url.PathUnescape(value)
			w.Header().Set(name, value)
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprint(w, "<img src=/x>")
		},
		"/ok":     "<p>next",
		"/all":    "<p>page</p>" + strings.ReplaceAll(all.String(), "HOST", host),
		"/inside": "<p>inside</p>" + strings.ReplaceAll(inside, "HOST", host),
		"/download": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Disposition", "attachment; filename=x")
			w.Write(make([]byte, 1<<20))
		},
		"/worker": "<p>page</p><script>navigator.serviceWorker.register('/sw.js')</script>",
		"/sw.js": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/javascript")
			fmt.Fprintf(w, "fetch('http://%s/serviceworker',{mode:'no-cors'})", host)
		},
		"/meta":   "<meta http-equiv=refresh content='0;url=http://" + host + "/meta'>",
		"/script": "<script>location='http://" + host + "/jump'</script>",
		"/form":   "<form method=post action='http://" + host + "/form'></form><script>document.forms[0].submit()</script>",
		"/late":   "<script>onload=()=>setTimeout(()=>location='http://" + host + "/late',50)</script>",
		"/twice": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/to?http://"+host+"/twice", http.StatusTemporaryRedirect)
		},
		"/escape":   "<p>page</p><img src='http://" + host + "/escape%20/%zz'>",
		"/tofile":   "<p>stays</p><script>location='file:///etc/passwd'</script>",
		"/todata":   "<p>stays</p><script>location='data:text/html,<p>data'</script>",
		"/toview":   "<p>stays</p><script>location='view-source:http://" + host + "/'</script>",
		"/tochrome": "<p>stays</p><script>location='chrome://version'</script><meta http-equiv=refresh content='0;url=chrome://crash'>",
		"/toblob":   "<script>location=URL.createObjectURL(new Blob(['<p>blob'],{type:'text/html'}))</script>",
	}
}

// spellings are names of this machine, which all work in the plain browser of TestAttacksWorkInAPlainBrowser.
// unroutable are addresses that no exemption allows.
var spellings, unroutable = []string{
	"127.0.0.1",
	"2130706433",
	"0x7f.1",
	"0177.0.0.1",
	"127.1",
	"①②⑦.0.0.1",
	"127.0.0.1.",
	"[::1]",
	"[::ffff:127.0.0.1]",
	"[::ffff:7f00:1]",
	"localhost",
	"LOCALHOST.",
	"a.localhost",
	"rebound.test",
	"0.0.0.0",
	"[::]",
}, []string{"[64:ff9b::7f00:1]", "[2002:7f00:1::]", "[::127.0.0.1]", "169.254.169.254"}

// pageForHosts returns a page that requests a picture, a frame and more from each host. The paths end with the number
// of the host.
func pageForHosts(hosts []string, port string) string {
	var b strings.Builder
	b.WriteString("<p>page</p>")

	for n, host := range hosts {
		fmt.Fprintf(
			&b,
			`<img src="http://%[1]s:%[2]s/img%[3]d"><iframe src="/to?http://%[1]s:%[2]s/frame%[3]d"></iframe><img src="https://%[1]s:%[2]s/">`,
			host,
			port,
			n,
		)
		fmt.Fprintf(
			&b,
			`<script>fetch("http://%[1]s:%[2]s/fetch%[3]d",{mode:"no-cors"}).catch(()=>{});new WebSocket("ws://%[1]s:%[2]s/ws%[3]d")</script>`,
			host,
			port,
			n,
		)
	}

	return b.String()
}

func TestPagesCannotReachThisMachine(t *testing.T) {
	t.Parallel()
	secret := newSecret(t)
	hosts := slices.Concat(spellings, unroutable)
	site, rebinding := attackSite("127.0.0.1:"+secret.port), attackSite("rebound.test:"+secret.port)
	site["/hosts"] = pageForHosts(hosts, secret.port)
	site["/shut"] = "<p>shut</p>" + gather + closedWaysTo(func(string) string { return "127.0.0.1:" + secret.port })
	ports := []string{serve(t, site), serve(t, rebinding)}
	base, other := "http://site.test:"+ports[0], "http://site.test:"+ports[1]
	e := startExporter(t, chromium.ExporterOptions{Browser: chromium.Options{Tabs: 3}},
		guard.Options{Allow: "site.test:" + ports[0] + ",site.test:" + ports[1], Lookup: resolveToLoopback})
	var jobs []job
	// wantError exports a page and expects an error with the code.
	wantError := func(address string, o export.PDFOptions, code fault.Code) {
		jobs = append(jobs, job{address, func(t *testing.T) {
			_, err := e.PDF(t.Context(), chromium.Visit{URL: address}, o)
			wantCodeFor(t, address, err, code)
		}})
	}
	// wantText exports a page. Its text must begin with words and have nothing from a forbidden address. The next page
	// must still work.
	wantText := func(address string, o export.PDFOptions, words string) {
		jobs = append(jobs, job{address, func(t *testing.T) {
			out, err := e.PDF(t.Context(), chromium.Visit{URL: address}, o)
			if err != nil {
				t.Errorf("%s: error %v, want none", address, err)
				return
			}

			got := text(t, out.Data)
			for _, leak := range []string{"secret", "root:", "located", "granted", "candidate"} {
				if !strings.HasPrefix(got, words) || strings.Contains(got, leak) {
					t.Errorf("%s: text %q, want %q first and not %q", address, got, words, leak)
				}
			}

			out, err = e.PDF(t.Context(), chromium.Visit{URL: base + "/ok"}, withTimeout(90_000))
			if err != nil || text(t, out.Data) != "next" {
				t.Errorf("the next page after %s: %v, want its text", address, err)
			}
		}})
	}
	later := withTimeout(90_000) // exports the page 500 ms after it has loaded, so that scripts can run
	later.WaitForTimeout = 500

	// Export the secret by each of its names.
	for _, host := range hosts {
		for _, address := range []string{"http://" + host + ":" + secret.port + "/", "https://" + host + ":" + secret.port, base + "/to?http://" + host + ":" + secret.port} {
			wantError(address, withTimeout(90_000), fault.AddressNotAllowed)
		}
	}

	for _, address := range []string{
		"file:///etc/passwd", "FILE:///etc/passwd", "view-source:http://site.test", "chrome://version", "data:text/html,x", "ftp://site.test/", "about:blank",
		"javascript:alert(1)", "http://a:b@site.test/", "http://site.test\x00.example/", "site.test", "",
	} {
		wantError(address, withTimeout(90_000), fault.InvalidURL)
	}
	// Export a page that redirects or navigates to the secret.
	for _, path := range []string{"/meta", "/script", "/form", "/twice", "/to?file:///etc/passwd", "/to?data:text/html,x", "/to?chrome://version"} {
		wantError(base+path, withTimeout(90_000), fault.AddressNotAllowed)
	}
	// For these schemes Chromium reports that there is no page.
	wantError(base+"/to?ftp://site.test/", later, fault.PageError)
	wantError(base+"/to?view-source:http://site.test/", later, fault.PageError)
	late := withTimeout(90_000)
	late.WaitForTimeout = 5_000 // the page navigates after 50 ms; a busy machine is slower
	wantError(base+"/late", late, fault.AddressNotAllowed)

	for path, words := range map[string]string{"/tofile": "stays", "/todata": "stays", "/toview": "stays", "/tochrome": "stays", "/toblob": "blob", "/escape": "page"} {
		wantText(base+path, withTimeout(90_000), words)
	}
	// Export a page that loads parts from the secret. The export must succeed without them.
	wantText(base+"/all", later, "page")
	wantText(other+"/all", later, "page")
	wantText(base+"/hosts", withTimeout(90_000), "page")
	wantText(base+"/worker", later, "page")
	wantText(base+"/shut", later, "shut")
	wantText(base+"/inside", later, "inside")
	// Load the secret from a header template, which Chromium either prints or rejects.
	requests := ways["img"] + ways["css"] + ways["import"] + ways["background"] + ways["svgimage"]
	for name, template := range map[string]string{
		"requests": requests + "<img src=file:///etc/passwd>",
		"inside":   inside,
		"iframe":   ways["iframe"],
	} {
		template = strings.ReplaceAll(template, "HOST", "127.0.0.1:"+secret.port)
		jobs = append(jobs, job{"template/" + name, func(t *testing.T) {
			out, err := e.PDF(t.Context(), chromium.Visit{URL: base + "/ok"}, export.PDFOptions{
				DisplayHeaderFooter: new(true),
				HeaderTemplate:      template,
				FooterTemplate:      template,
				Margin:              export.Margin{Top: "2cm", Bottom: "2cm"},
			})
			if err != nil && fault.CodeOf(err) != fault.PageError {
				t.Errorf("error %v, want none or page_error", err)
			} else if err == nil && text(t, out.Data) != "next" {
				t.Errorf("text %q, want next", text(t, out.Data))
			}
		}})
	}
	runThree(t, jobs)

	if n := secret.count(); n != 0 {
		t.Errorf("%d connections to the secret, want none: %v", n, secret.paths)
	}

	if s := e.Stats(); s.Launches != 1 || s.Crashes != 0 {
		t.Errorf("stats %+v, want one launch and no crash", s)
	}

	if n := e.Refusals()[guard.NotPublic]; n < 100 {
		t.Errorf("%d connections were rejected, want at least 100: the attacks do not work", n)
	}
}

// closedWaysTo returns a page with all closedWays. host returns the target of each.
func closedWaysTo(host func(name string) string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(closedWays)) {
		b.WriteString(strings.ReplaceAll(closedWays[name], "HOST", host(name)))
	}

	return b.String()
}

// wantCodeFor checks the code of an error of what.
func wantCodeFor(t *testing.T, what string, err error, code fault.Code) {
	t.Helper()

	if fault.CodeOf(err) != code {
		t.Errorf("%s: error %v, want code %s", what, err, code)
	}
}
