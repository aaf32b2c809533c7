package api_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"presswork/api"
	"presswork/internal/fault"
	"presswork/internal/ready"
)

func TestPagesNeedNoKeyAndHaveAPolicy(t *testing.T) {
	t.Parallel()

	h := serve(t)
	for path, policy := range map[string]string{"/": "require-trusted-types-for 'script'", "/docs": "script-src 'self'", "/preview": "sandbox allow-same-origin"} {
		t.Run(path, func(t *testing.T) {
			res := h.get(path, "-X-API-Key: ")
			res.want(t, http.StatusOK, "")

			if got := res.Header.Get("Content-Type"); got != "text/html; charset=utf-8" {
				t.Errorf("Content-Type is %q, want HTML", got)
			}

			got := res.Header.Get("Content-Security-Policy")
			if !strings.Contains(got, policy) || !strings.Contains(got, "default-src 'none'") ||
				strings.Contains(got, "script-src 'self' '") {
				t.Errorf("the policy is %q, want %q and default-src 'none'", got, policy)
			}

			if cache := res.Header.Get("Cache-Control"); cache != "no-cache" {
				t.Errorf("Cache-Control is %q, want no-cache", cache)
			}

			if inline := regexp.MustCompile(`<script(?:>| [^>]*>[^<])|\son\w+=|<style`).Find(res.body); inline != nil {
				t.Errorf("the page contains %s, which its policy forbids", inline)
			}
		})
	}
	studio := h.get("/")

	nonce := regexp.MustCompile(`'nonce-([^']+)'`).FindStringSubmatch(studio.Header.Get("Content-Security-Policy"))
	if nonce == nil || !strings.Contains(string(studio.body), `nonce="`+nonce[1]+`"`) {
		t.Errorf("the page does not have the nonce of its policy %q", studio.Header.Get("Content-Security-Policy"))
	}
}

func TestAssetsAreCompressedAndKept(t *testing.T) {
	t.Parallel()
	h := serve(t)

	script := regexp.MustCompile(`<script type="module" src="([^"]+)"`).FindSubmatch(h.get("/").body)
	if script == nil {
		t.Fatal("the studio has no script")
	}
	path := string(script[1])
	plain := h.get(path, "-X-API-Key: ", "Accept-Encoding: identity")
	plain.want(t, http.StatusOK, "")
	packed := h.get(path, "Accept-Encoding: br, gzip")
	packed.want(t, http.StatusOK, "")

	if got := packed.Header.Get("Content-Encoding"); got != "gzip" {
		t.Fatalf("Content-Encoding is %q, want gzip", got)
	}

	unpacked, err := gzip.NewReader(bytes.NewReader(packed.body))
	if err != nil {
		t.Fatal(err)
	}

	body, err := io.ReadAll(unpacked)
	if err != nil || !bytes.Equal(body, plain.body) {
		t.Errorf("the compressed and the plain asset differ (%v)", err)
	}

	for _, res := range []reply{plain, packed} {
		if got := res.Header.Get("Cache-Control"); got != "public, max-age=31536000, immutable" {
			t.Errorf("Cache-Control is %q, want a year", got)
		}

		if !strings.Contains(res.Header.Get("Vary"), "Accept-Encoding") ||
			!strings.HasPrefix(res.Header.Get("Content-Type"), "text/javascript") {
			t.Errorf("the headers are %v, want Vary and text/javascript", res.Header)
		}
	}
	h.get(path, "If-None-Match: "+plain.Header.Get("ETag")).want(t, http.StatusNotModified, "")

	for _, missing := range []string{"/assets/studio-OLD.js", "/assets/..%2findex.html", "/assets/", "/nowhere"} {
		h.get(missing, "Accept: text/html").want(t, http.StatusNotFound, fault.NotFound)
	}
	h.do(http.MethodPost, "/", nil).want(t, http.StatusMethodNotAllowed, fault.MethodNotAllowed)
}

func TestPagesAreCompressedAndRevalidated(t *testing.T) {
	t.Parallel()
	h := serve(t)

	for path, unchanging := range map[string]bool{"/docs": true, "/docs/markdown": true, "/admin": true, "/": false} {
		t.Run(path, func(t *testing.T) {
			packed := h.get(path, "Accept-Encoding: gzip")
			packed.want(t, http.StatusOK, "")

			if len(packed.body) > 1400 && packed.Header.Get("Content-Encoding") != "gzip" {
				t.Errorf("%d bytes are not compressed", len(packed.body))
			}

			if again := h.get(path, "If-None-Match: "+packed.Header.Get("ETag")); unchanging {
				again.want(t, http.StatusNotModified, "")

				if again.Header.Get("Content-Security-Policy") != packed.Header.Get("Content-Security-Policy") {
					t.Error("the answer without the page has another policy")
				}
			} else {
				again.want(t, http.StatusOK, "")
			}
		})
	}
}

func TestPagesOfAnOpenServerRejectOtherSites(t *testing.T) {
	t.Parallel()
	h := serve(t, withoutKeys)
	h.get("/", "Host: evil.example").want(t, http.StatusForbidden, fault.Forbidden)
	h.get("/", "Sec-Fetch-Site: cross-site").want(t, http.StatusForbidden, fault.OriginNotAllowed)
	h.get("/", "Origin: http://evil.example").want(t, http.StatusForbidden, fault.OriginNotAllowed)
	h.get("/", "Sec-Fetch-Site: none").want(t, http.StatusOK, "")
}

func TestOpenAPIIsServedInJSON(t *testing.T) {
	t.Parallel()
	var doc struct {
		OpenAPI string                    `json:"openapi"`
		Paths   map[string]map[string]any `json:"paths"`
	}
	res := serve(t).get("/openapi.json", "-X-API-Key: ")
	res.want(t, http.StatusOK, "")
	res.decode(t, &doc)

	if doc.OpenAPI != "3.1.0" || len(doc.Paths) < len(api.Routes(t))/2 {
		t.Errorf("got OpenAPI %s with %d paths, want 3.1.0 with all paths", doc.OpenAPI, len(doc.Paths))
	}
}

func TestPreviewsHaveTheFontsOfThePrint(t *testing.T) {
	t.Parallel()
	h := serve(t)
	sheet := h.get("/fonts/faces.css", "-X-API-Key: ")
	sheet.want(t, http.StatusOK, "")

	faces := regexp.MustCompile(`@font-face\{font-family:"[^"]+";font-weight:[1-9]00;font-style:(?:normal|italic);`+
		`src:url\(([^)/]+)\)(?:;unicode-range:[U+0-9A-F,-]+)?\}`).
		FindAllSubmatch(sheet.body, -1)
	if len(faces) != bytes.Count(sheet.body, []byte("@font-face")) || len(faces) < 80 {
		t.Errorf("%d of %d font faces have the expected form, want all of 80 or more", len(faces),
			bytes.Count(sheet.body, []byte("@font-face")))
	}
	face := h.get("/fonts/"+string(faces[0][1]), "-X-API-Key: ")
	face.want(t, http.StatusOK, "")

	if !bytes.HasPrefix(face.body, []byte("wOF2")) || face.Header.Get("Content-Type") != "font/woff2" {
		t.Errorf("%s has the type %q and begins with % x, want WOFF 2", faces[0][1],
			face.Header.Get("Content-Type"), face.body[:4])
	}

	if kept := face.Header.Get("Cache-Control"); kept != "public, max-age=31536000, immutable" {
		t.Errorf("%s is kept: %s", faces[0][1], kept)
	}
	h.get("/fonts/..%2ffonts.go").want(t, http.StatusNotFound, fault.NotFound)
}

func TestHealthAndMetrics(t *testing.T) {
	t.Parallel()
	var down atomic.Bool
	h := serve(t, func(o *api.Options) {
		o.Metrics = prometheus.NewRegistry()
		o.Stats = (&fakeStats{}).stats
		o.Checks = []ready.Check{
			{Name: "workers", Optional: true, Probe: func(context.Context) (map[string]any, error) {
				return map[string]any{"count": 0}, errors.New("none")
			}},
			{Name: "redis", Probe: func(context.Context) (map[string]any, error) {
				if down.Load() {
					return nil, fault.Errorf(fault.QueueUnavailable, "down")
				}

				return nil, nil
			}},
		}
	})
	res := h.get("/readyz", "-X-API-Key")
	res.want(t, http.StatusOK, "")

	want := `{"status":"ready","checks":{"redis":{"ok":true},"workers":{"count":0,"error":"unavailable","ok":false}}}`
	if string(res.body) != want {
		t.Errorf("readyz: got %s, want %s", res.body, want)
	}
	down.Store(true)
	h.get("/readyz").want(t, http.StatusServiceUnavailable, "")

	if got := string(h.get("/healthz").body); got != `{"status":"ok"}` {
		t.Errorf("healthz: got %s, want the status ok", got)
	}
	h.get("/nothing")

	metrics := string(h.get("/metrics").body)
	for _, line := range []string{
		`presswork_http_requests_total{method="GET",route="/readyz",status="503"} 1`,
		`presswork_http_requests_total{method="GET",route="unmatched",status="404"} 1`,
		`presswork_http_request_seconds_count{route="/healthz"} 1`,
		`presswork_streams_open{kind="websocket"} 0`,
		`presswork_queue_pending{queue="render"} 7`,
		`presswork_queue_oldest_seconds{queue="render"} 1.5`,
		`presswork_queue_oldest_open_seconds{queue="render"} 60`,
		`presswork_queue_open{queue="render"} 12`,
		`presswork_queue_paused{queue="render"} 0`,
		`presswork_dead_letters 4`,
		`presswork_http_requests_running 1`,
	} {
		if !strings.Contains(metrics, line+"\n") {
			t.Errorf("the metrics lack the line %s:\n%s", line, metrics)
		}
	}
}

func TestJSONIsCompressedForClientsThatAcceptIt(t *testing.T) {
	t.Parallel()
	h := serve(t)

	// The client accepts gzip by itself, and unpacks it.
	packed, plain := h.get("/api/themes"), h.get("/api/themes", "Accept-Encoding: identity")
	if !packed.Uncompressed || plain.Header.Get("Content-Encoding") != "" || !bytes.Equal(packed.body, plain.body) {
		t.Errorf("got compressed %v with gzip and the encoding %q without; want true, none, and equal bodies",
			packed.Uncompressed, plain.Header.Get("Content-Encoding"))
	}

	if vary := plain.Header.Get("Vary"); !strings.Contains(vary, "Accept-Encoding") {
		t.Errorf("got Vary %q, want Accept-Encoding in it", vary)
	}
}
