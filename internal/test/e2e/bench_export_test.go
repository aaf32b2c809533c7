package e2e_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"presswork/internal/guard"
	"presswork/internal/test/e2e"
)

// serveResources serves a page with a style sheet, a script and n - 2 pictures, and returns its address.
func serveResources(b *testing.B, n int) string {
	b.Helper()
	var body strings.Builder
	body.WriteString(`<!doctype html><html lang=en><title>Resources</title>` +
		`<link rel=stylesheet href=/style.css><script defer src=/app.js></script>`)

	for i := range n - 2 {
		fmt.Fprintf(&body, "<h2>Part %d</h2><img src=/%d.svg><p>%s</p>", i, i,
			strings.Repeat("Some words of a paragraph. ", 20))
	}
	write := func(w http.ResponseWriter, kind, text string) {
		w.Header().Set("Content-Type", kind)
		fmt.Fprint(w, text)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) { write(w, "text/html", body.String()) })
	mux.HandleFunc("/style.css", func(w http.ResponseWriter, _ *http.Request) {
		write(w, "text/css", "body{font:14px/1.5 sans-serif}img{width:90px}")
	})
	mux.HandleFunc("/app.js", func(w http.ResponseWriter, _ *http.Request) {
		write(w, "text/javascript", "document.body.append('scripted')")
	})
	mux.HandleFunc("/{picture}", func(w http.ResponseWriter, _ *http.Request) {
		write(w, "image/svg+xml",
			"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 9 9'><circle cx='4' cy='4' r='4'/></svg>")
	})
	s := httptest.NewServer(mux)
	b.Cleanup(s.Close)

	return s.URL
}

// export prints the page at an address by bare commands in a new browser context. It uses no proxy if proxy is "".
func (r *raw) export(b *testing.B, address, proxy string) time.Duration {
	b.Helper()

	context := map[string]any{"proxyServer": "direct://", "proxyBypassList": "*"}
	if proxy != "" {
		context = map[string]any{"proxyServer": "http://" + proxy, "proxyBypassList": "<-loopback>"}
	}
	began := time.Now()

	made := r.call(b, "", "Target.createBrowserContext", context)
	defer r.call(b, "", "Target.disposeBrowserContext", map[string]any{"browserContextId": made["browserContextId"]})
	target := r.call(b, "", "Target.createTarget",
		map[string]any{"url": "about:blank", "browserContextId": made["browserContextId"]})
	attached := r.call(b, "", "Target.attachToTarget", map[string]any{"targetId": target["targetId"], "flatten": true})
	session := fmt.Sprint(attached["sessionId"])
	r.call(b, session, "Page.navigate", map[string]any{"url": address})
	r.call(b, session, "Runtime.evaluate", map[string]any{
		"awaitPromise": true,
		"expression":   "new Promise(r=>document.readyState=='complete'?r():addEventListener('load',()=>r()))",
	})
	res := r.call(b, session, "Page.printToPDF", map[string]any{"printBackground": true, "generateTaggedPDF": true})

	data, _ := res["data"].(string)
	if pdf, err := base64.StdEncoding.DecodeString(data); err != nil || len(pdf) < 1000 {
		b.Errorf("the raw browser printed %d bytes (%v), want at least 1000", len(pdf), err)
	}

	return time.Since(began)
}

// inParallel calls do n times, four at a time, and returns the number of calls per second.
func inParallel(n int, do func()) float64 {
	began := time.Now()

	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range n / 4 {
				do()
			}
		})
	}
	wg.Wait()

	return float64(n) / time.Since(began).Seconds()
}

// BenchmarkPageExport compares the export of a page with the same work by bare DevTools commands, one at a time and four
// at a time.
func BenchmarkPageExport(b *testing.B) {
	const blocks, inARow, inAll = 8, 6, 16 // inAll exports are made four at a time
	address := serveResources(b, 20)
	body := []byte(`{"url":"` + address + `/"}`)
	_, c := e2e.Serve(b,
		map[string]string{"EXPORT_ALLOW_PRIVATE": strings.TrimPrefix(address, "http://"), "WORKERS": "4"})
	raw := startRaw(b, "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1")

	ours := func() time.Duration {
		began := time.Now()

		status, _, got, err := c.Try("POST", "/export-pdf", "application/json", body)
		if err != nil || status != http.StatusOK {
			b.Errorf("export: status %d, %.200s, %v; want 200", status, got, err)
		}

		return time.Since(began)
	}
	for b.Loop() {
		ours()
		raw.export(b, address, "")
		// Each kind runs several times in a row, and the first run is not counted. Otherwise work that one kind leaves
		// for later would be counted for the other.
		var exports, bare []time.Duration

		for range blocks {
			for n := range inARow + 1 {
				if took := ours(); n > 0 {
					exports = append(exports, took)
				}
			}

			for n := range inARow + 1 {
				if took := raw.export(b, address, ""); n > 0 {
					bare = append(bare, took)
				}
			}
		}
		mine, floor := quantile(exports, 0.5), quantile(bare, 0.5)
		report(
			b,
			"export of a local page of 20 resources, POST to PDF, against bare DevTools commands in a fresh context",
			fmt.Sprintf("%.2f × (%s against %s)", mine.Seconds()/floor.Seconds(), mine.Round(time.Millisecond),
				floor.Round(time.Millisecond)),
			"≤ 1.3 ×",
		)
		var ratios, speeds []float64

		for range 3 {
			floor := inParallel(inAll, func() { raw.export(b, address, "") })
			speed := inParallel(inAll, func() { ours() })
			ratios, speeds = append(ratios, speed/floor), append(speeds, speed)
		}
		report(
			b,
			"the same, four at a time, against the raw browser four at a time",
			fmt.Sprintf("%.2f × (%.1f/s, %.1f × as many as one by one on %d cores)",
				median(ratios), median(speeds), median(speeds)*mine.Seconds(), runtime.NumCPU()),
			"≥ 0.77 ×",
		)
	}
}

// BenchmarkGuardOverhead measures how much longer the raw browser takes for a page if its requests go through the guard.
func BenchmarkGuardOverhead(b *testing.B) {
	const rounds, parts = 12, 100
	address := serveResources(b, parts)

	policy, err := guard.New(guard.Options{Allow: strings.TrimPrefix(address, "http://")})
	if err != nil {
		b.Fatal(err)
	}
	proxy := guard.NewProxy(policy, guard.ProxyOptions{})
	raw := startRaw(b, "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1")

	guarded := func() time.Duration {
		session, err := proxy.Open(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		defer session.Close()

		return raw.export(b, address, session.Addr())
	}
	for b.Loop() {
		guarded()

		var with, without []time.Duration
		for range rounds {
			without, with = append(without, raw.export(b, address, "")), append(with, guarded())
		}
		guardedTime, directTime := quantile(with, 0.5), quantile(without, 0.5)
		report(
			b,
			"the guard, on a page of 100 sub-resources, for each request",
			fmt.Sprintf("%.2f ms (the page: %s with it, %s without)", (guardedTime-directTime).Seconds()*1000/(parts+1),
				guardedTime.Round(time.Millisecond), directTime.Round(time.Millisecond)),
			"< 2 ms",
		)
	}
}
