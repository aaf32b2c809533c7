package api_test

import (
	"cmp"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"testing"

	"presswork/api"
	"presswork/internal/fault"
)

// basicAuth returns the header of HTTP Basic authentication with a key as password.
func basicAuth(key string) string {
	return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("anybody:"+key))
}

func TestKeysOpenTheirRoutes(t *testing.T) {
	t.Parallel()
	h := serve(t, keysFile(t, "keys:\n  - name: alice\n    key: alices\n"),
		func(o *api.Options) { o.Monitor = echoHandler("monitor") })

	h.key = ""

	for _, tc := range []struct {
		path, header string
		status       int
		code         fault.Code
	}{
		{"/api/themes", "X-None: x", 401, fault.InvalidAPIKey},
		{"/api/themes", "X-API-Key: " + testKey, 200, ""},
		{"/api/themes", "X-API-Key: alices", 200, ""},
		{"/api/themes", "X-API-Key: " + testKey + "x", 401, fault.InvalidAPIKey},
		{"/api/themes", "Authorization: Bearer " + testKey, 200, ""},
		{"/api/themes", "Authorization: bearer  " + testKey, 200, ""},
		{"/api/themes", "Authorization: " + testKey, 401, fault.InvalidAPIKey},
		{"/api/themes", basicAuth(testKey), 401, fault.InvalidAPIKey},
		{"/metrics", basicAuth(testKey), 200, ""},
		{"/metrics", "X-API-Key: " + testKey, 200, ""},
		{"/metrics", "X-API-Key: alices", 403, fault.Forbidden},
		{"/metrics", "X-None: x", 401, fault.InvalidAPIKey},
		{"/metrics", "Authorization: Basic !!", 401, fault.InvalidAPIKey},
		{"/monitor", basicAuth(testKey), 200, ""},
		{"/monitor/api/queues", basicAuth("alices"), 403, fault.Forbidden},
		{"/healthz", "X-None: x", 200, ""},
		{"/readyz", "X-API-Key: wrong", 200, ""},
		{"/openapi.yaml", "X-None: x", 200, ""},
	} {
		t.Run(tc.path+" with "+tc.header, func(t *testing.T) {
			res := h.get(tc.path, tc.header)
			res.want(t, tc.status, tc.code)

			if challenge := res.Header.Get("WWW-Authenticate"); (tc.status == 401) != (challenge != "") {
				t.Errorf("%s: WWW-Authenticate is %q, want one: %v", tc.path, challenge, tc.status == 401)
			}
		})
	}
}

// echoHandler answers with text and with the method, path and body of the request.
func echoHandler(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := new(strings.Builder)
		if _, err := io.Copy(body, r.Body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		w.Write([]byte(text + " " + r.Method + " " + r.URL.Path + " " + body.String()))
	})
}

func TestPagesOfOtherSitesCannotWriteToTheMonitor(t *testing.T) {
	t.Parallel()
	h := serve(t, func(o *api.Options) { o.Monitor = echoHandler("monitor") })

	h.key = ""
	for _, tc := range []struct {
		headers []string
		status  int
	}{
		{nil, 200},
		{[]string{"Sec-Fetch-Site: same-origin", "Origin: http://" + h.server.Address()}, 200},
		{[]string{"Sec-Fetch-Site: cross-site"}, 403},
		{[]string{"Sec-Fetch-Site: same-site"}, 403},
		{[]string{"Origin: https://evil.example"}, 403},
		{[]string{"Origin: null"}, 403},
	} {
		t.Run(cmp.Or(strings.Join(tc.headers, ", "), "no header"), func(t *testing.T) {
			res := h.do(
				http.MethodPost,
				"/monitor/api/x",
				strings.NewReader("data"),
				append(tc.headers, basicAuth(testKey))...)
			res.want(t, tc.status, "")

			if tc.status == 200 && string(res.body) != "monitor POST /monitor/api/x data" {
				t.Errorf("the handler echoes %s, want monitor POST /monitor/api/x data", res.body)
			}
		})
	}
	h.get("/monitor", basicAuth(testKey), "Sec-Fetch-Site: cross-site").want(t, http.StatusOK, "")
	serve(t).get("/monitor").want(t, http.StatusNotFound, fault.NotFound)
}

func TestAServerWithoutKeysRejectsForeignPages(t *testing.T) {
	t.Parallel()
	h := serve(t, withoutKeys, func(o *api.Options) { o.AllowedOrigins = []string{"https://app.example"} })

	h.key = ""
	for _, tc := range []struct {
		headers []string
		status  int
	}{
		{nil, 200},
		{[]string{"Authorization: Bearer anything"}, 200},
		{[]string{"Host: localhost:8000"}, 200},
		{[]string{"Host: LOCALHOST"}, 200},
		{[]string{"Host: x.localhost:1"}, 200},
		{[]string{"Host: [::1]:8000"}, 200},
		{[]string{"Host: 192.168.1.5:8000"}, 200},
		{[]string{"Host: app.example"}, 200},
		{[]string{"Host: evil.example"}, 403},
		{[]string{"Host: localhost.evil.example"}, 403},
		{[]string{"Host: 127.0.0.1.nip.io"}, 403},
		{[]string{"Origin: https://evil.example"}, 403},
		{[]string{"Origin: null"}, 403},
		{[]string{"Origin: http://localhost:3000"}, 403},
		{[]string{"Origin: http://" + h.server.Address()}, 200},
		{[]string{"Origin: https://app.example", "Sec-Fetch-Site: cross-site"}, 200},
		{[]string{"Sec-Fetch-Site: cross-site"}, 403},
		{[]string{"Sec-Fetch-Site: same-origin"}, 200},
		{[]string{"Sec-Fetch-Site: none"}, 200},
		{[]string{"X-Forwarded-Host: localhost", "Host: evil.example"}, 403},
	} {
		t.Run(cmp.Or(strings.Join(tc.headers, ", "), "no header"), func(t *testing.T) {
			if res := h.get("/api/themes", tc.headers...); res.StatusCode != tc.status {
				t.Errorf("%q: %d, want %d: %s", tc.headers, res.StatusCode, tc.status, res.body)
			}
		})
	}
	h.get("/healthz", "Host: pod.cluster").want(t, http.StatusOK, "")

	if s := h.submit(); s.JobID == "" {
		t.Error("the submission got no job ID, want one")
	}
}

func TestCrossOriginRequests(t *testing.T) {
	t.Parallel()
	h := serve(t, func(o *api.Options) { o.AllowedOrigins = []string{"https://app.example"} })
	h.key = ""
	preflight := func(origin, headers string) reply {
		return h.do(http.MethodOptions, "/api/conversion", nil, "Origin: "+origin,
			"Access-Control-Request-Method: POST", "Access-Control-Request-Headers: "+headers)
	}
	res := preflight(
		"https://app.example",
		"x-api-key, Authorization,content-type,idempotency-key,last-event-id,prefer,if-none-match,x-stainless-os,x-evil",
	)
	res.want(t, http.StatusNoContent, "")

	for name, want := range map[string]string{
		"Access-Control-Allow-Origin":  "https://app.example",
		"Access-Control-Allow-Methods": "GET, HEAD, POST, DELETE, OPTIONS",
		"Access-Control-Allow-Headers": "x-api-key, authorization, content-type, idempotency-key, last-event-id, prefer, if-none-match, x-stainless-os",
	} {
		if got := res.Header.Get(name); got != want {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	preflight("https://evil.example", "x-api-key").want(t, http.StatusForbidden, fault.OriginNotAllowed)

	if res := preflight("https://evil.example", ""); res.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("a foreign origin is allowed")
	}
	got := h.get("/api/themes", "Origin: https://app.example", "X-API-Key: "+testKey)
	got.want(t, http.StatusOK, "")

	for _, name := range []string{"Location", "ETag", "X-Request-Id", "Retry-After", "Content-Disposition", "X-Job-Id", "Content-Location", "Content-Range", "X-Ratelimit-"} {
		if !strings.Contains(got.Header.Get("Access-Control-Expose-Headers"), name) {
			t.Errorf("%s is not exposed", name)
		}
	}

	if got.Header.Get("Vary") != "Origin" {
		t.Errorf("Vary is %q, want Origin", got.Header.Get("Vary"))
	}
	// Pages of allowed origins must be able to read errors as well.
	if res := h.get("/api/themes", "Origin: https://app.example"); res.Header.Get("Access-Control-Allow-Origin") == "" {
		t.Error("the 401 has no CORS header")
	}

	res = h.get("/api/themes", "Origin: https://evil.example", "X-API-Key: "+testKey)
	if res.StatusCode != 200 || res.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("a key from a foreign origin: got %d %v, want 200 without CORS headers", res.StatusCode, res.Header)
	}

	anyOrigin := serve(t, func(o *api.Options) { o.AllowedOrigins = []string{"*"} })

	res = anyOrigin.get("/api/themes", "Origin: https://any.example")
	if res.Header.Get("Access-Control-Allow-Origin") != "*" {
		t.Error("* allows no origin")
	}
}

func TestForwardingHeadersOfUntrustedPeersAreIgnored(t *testing.T) {
	t.Parallel()
	// X-Forwarded-Host counts only if the peer is a trusted proxy.
	trusting := serve(t, withoutKeys, func(o *api.Options) { o.TrustedProxies = []string{"127.0.0.0/8"} })
	trusting.get("/api/themes", "X-Forwarded-Host: evil.example").want(t, http.StatusForbidden, fault.Forbidden)
	trusting.get("/api/themes", "X-Forwarded-Host: localhost", "Host: behind.example").want(t, http.StatusOK, "")
	distrusting := serve(t, withoutKeys)
	distrusting.get("/api/themes", "X-Forwarded-Host: evil.example").want(t, http.StatusOK, "")
	o := options(t)

	o.TrustedProxies = []string{"proxy"}
	if _, err := api.New(o); err == nil {
		t.Error("New with the trusted proxy \"proxy\": got no error, want one: it is no address")
	}
}
