package api_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/redis/go-redis/v9"

	"presswork/api"
	"presswork/internal/fault"
	"presswork/internal/inference/meter"
	"presswork/internal/keyfile"
	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
)

func basic(key string) string {
	return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte("anybody:"+key))
}

func TestKeysOpenTheirRoutes(t *testing.T) {
	t.Parallel()
	h := serve(
		t,
		keysFile(t, "keys:\n  - name: alice\n    key: alices\n"),
		func(o *api.Options) { o.Monitor = page("monitor") },
	)

	h.key = ""

	for i, tc := range []struct {
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
		{"/api/themes", basic(testKey), 401, fault.InvalidAPIKey},
		{"/metrics", basic(testKey), 200, ""},
		{"/metrics", "X-API-Key: " + testKey, 200, ""},
		{"/metrics", "X-API-Key: alices", 403, fault.Forbidden},
		{"/metrics", "X-None: x", 401, fault.InvalidAPIKey},
		{"/metrics", "Authorization: Basic !!", 401, fault.InvalidAPIKey},
		{"/monitor", basic(testKey), 200, ""},
		{"/monitor/api/queues", basic("alices"), 403, fault.Forbidden},
		{"/healthz", "X-None: x", 200, ""},
		{"/readyz", "X-API-Key: wrong", 200, ""},
		{"/openapi.yaml", "X-None: x", 200, ""},
	} {
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
			res := h.get(tc.path, tc.header)
			res.want(t, tc.status, tc.code)

			if challenge := res.Header.Get("WWW-Authenticate"); (tc.status == 401) != (challenge != "") {
				t.Errorf("%s: WWW-Authenticate %q", tc.path, challenge)
			}
		})
	}
}

// page is a net/http page that says what it got.
func page(text string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := new(strings.Builder)
		if _, err := copyTo(body, r); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		w.Write([]byte(text + " " + r.Method + " " + r.URL.Path + " " + body.String()))
	})
}

func TestPagesOfOtherSitesCannotWriteToTheMonitor(t *testing.T) {
	t.Parallel()
	h := serve(t, func(o *api.Options) { o.Monitor = page("monitor") })

	h.key = ""
	for i, tc := range []struct {
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
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
			res := h.do(
				http.MethodPost,
				"/monitor/api/x",
				strings.NewReader("data"),
				append(tc.headers, basic(testKey))...)
			res.want(t, tc.status, "")

			if tc.status == 200 && string(res.body) != "monitor POST /monitor/api/x data" {
				t.Errorf("%s", res.body)
			}
		})
	}
	h.get("/monitor", basic(testKey), "Sec-Fetch-Site: cross-site").want(t, http.StatusOK, "")
	serve(t).get("/monitor").want(t, http.StatusNotFound, fault.NotFound)
}

func TestAServerWithoutKeysRefusesForeignPages(t *testing.T) {
	t.Parallel()
	h := serve(t, open, func(o *api.Options) { o.AllowedOrigins = []string{"https://app.example"} })

	h.key = ""
	for i, tc := range []struct {
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
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
			if res := h.get("/api/themes", tc.headers...); res.StatusCode != tc.status {
				t.Errorf("%q: %d, want %d: %s", tc.headers, res.StatusCode, tc.status, res.body)
			}
		})
	}
	h.get("/healthz", "Host: pod.cluster").want(t, http.StatusOK, "")

	if s := h.submit(); s.JobID == "" {
		t.Error("no job")
	}
}

func TestCrossOriginRequests(t *testing.T) {
	t.Parallel()
	h := serve(t, func(o *api.Options) { o.AllowedOrigins = []string{"https://app.example"} })
	h.key = ""
	preflight := func(origin, headers string) reply {
		return h.do(
			http.MethodOptions,
			"/api/conversion",
			nil,
			"Origin: "+origin,
			"Access-Control-Request-Method: POST",
			"Access-Control-Request-Headers: "+headers,
		)
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
			t.Errorf("%s: %q", name, got)
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
		t.Errorf("Vary %q", got.Header.Get("Vary"))
	}
	// An error must be readable from there, too.
	if res := h.get("/api/themes", "Origin: https://app.example"); res.Header.Get("Access-Control-Allow-Origin") == "" {
		t.Error("the 401 has no CORS header")
	}

	if res := h.get(
		"/api/themes",
		"Origin: https://evil.example",
		"X-API-Key: "+testKey,
	); res.StatusCode != 200 ||
		res.Header.Get("Access-Control-Allow-Origin") != "" {
		t.Error("a key counts from any origin, without CORS headers")
	}

	everybody := serve(t, func(o *api.Options) { o.AllowedOrigins = []string{"*"} })
	if res := everybody.get(
		"/api/themes",
		"Origin: https://any.example",
	); res.Header.Get(
		"Access-Control-Allow-Origin",
	) != "*" {
		t.Error("* allows nobody")
	}
}

func keysFile(t *testing.T, text string) func(*api.Options) {
	t.Helper()

	path := filepath.Join(t.TempDir(), "keys.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}

	return func(o *api.Options) {
		o.KeysFile = path
		o.Getenv = func(name string) string { return map[string]string{"BOB": "bobs"}[name] }
	}
}

func TestNamedKeys(t *testing.T) {
	t.Parallel()
	var path string
	h := serve(t, open, keysFile(t, `keys:
  - name: bob
    key: ${BOB}
    admin: true
    rpm: 10
    models: ["openai/*"]
  # sha256 of "carols"
  - {name: carol, sha256: 7f4e865860a21ee70e1ccfbcb20e0fa59fb03efdb1c5a01c1cef46a7c58d6265, concurrency: 3}
`), func(o *api.Options) { path = o.KeysFile })
	h.key = ""
	h.get("/api/themes").want(t, http.StatusUnauthorized, fault.InvalidAPIKey)
	h.get("/metrics", "X-API-Key: bobs").want(t, http.StatusOK, "")
	res := h.post(`{"content":"x"}`, "X-API-Key: bobs")
	res.want(t, http.StatusAccepted, "")

	if got := h.queue.last().Owner; got != "bob" {
		t.Errorf("owner %q", got)
	}
	location := res.Header.Get("Location")
	// Rotation: the name keeps the jobs.
	if err := os.WriteFile(path, []byte("keys: [{name: bob, key: new}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	wait.Until(
		t,
		"the new key is taken",
		func() bool { return h.get(location, "X-API-Key: new").StatusCode == http.StatusOK },
	)
	h.get(location, "X-API-Key: bobs").want(t, http.StatusUnauthorized, fault.InvalidAPIKey)
}

func TestARunningServerTakesAKeyThatIsAdded(t *testing.T) {
	t.Parallel()
	var path string
	h := serve(
		t,
		keysFile(t, "# ours\nkeys:\n  - {name: bob, key: bobs}\n"),
		func(o *api.Options) { path = o.KeysFile },
	)
	status := func(key string) int { return h.get("/api/themes", "X-API-Key: "+key).StatusCode }

	sum := sha256.Sum256([]byte("anns"))
	if err := keyfile.Add(path, keyfile.Entry{Name: "ann", SHA256: hex.EncodeToString(sum[:])}); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the new key is taken", func() bool { return status("anns") == http.StatusOK })

	if got := status("bobs"); got != http.StatusOK {
		t.Errorf("the key before it: %d", got)
	}

	if _, err := keyfile.Remove(path, "ann"); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the revoked key is refused", func() bool { return status("anns") == http.StatusUnauthorized })
}

func TestAFileOfKeysThatAppearsIsHeldTo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys.yaml")
	h := serve(t, open, func(o *api.Options) { o.KeysFile, o.KeysFileOptional = path, true })
	h.key = ""
	h.get("/api/themes").want(t, http.StatusOK, "")

	if err := os.WriteFile(path, []byte("keys: [{name: bob, key: bobs}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	wait.Until(
		t,
		"a key is asked for",
		func() bool { return h.get("/api/themes").StatusCode == http.StatusUnauthorized },
	)
	// The file may have been read before anything was in it.
	wait.Until(
		t,
		"the key is taken",
		func() bool { return h.get("/api/themes", "X-API-Key: bobs").StatusCode == http.StatusOK },
	)

	o := options(t)

	o.Addr, o.KeysFile, o.KeysFileOptional = "0.0.0.0:0", path+".none", true
	if _, err := api.New(o); err == nil || !strings.Contains(err.Error(), "no key is set") {
		t.Errorf("open to the world: %v", err)
	}
}

func TestAFileOfKeysThatOthersReadIsNamed(t *testing.T) {
	t.Parallel()

	for mode, warned := range map[os.FileMode]bool{0o600: false, 0o640: true, 0o604: true} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			var log bytes.Buffer
			o := options(t)
			keysFile(t, "keys: []")(&o)

			o.Log = slog.New(slog.NewTextHandler(&log, nil))
			if err := os.Chmod(o.KeysFile, mode); err != nil {
				t.Fatal(err)
			}

			if _, err := api.New(o); err != nil {
				t.Fatal(err)
			}

			if got := strings.Contains(log.String(), "chmod 600 "+o.KeysFile); got != warned {
				t.Errorf("%o: warned %v: %s", mode, got, &log)
			}
		})
	}
	o := options(t)

	o.KeysFile = filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(o.KeysFile, 0o600); err != nil {
		t.Fatal(err)
	}

	if _, err := api.New(o); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a pipe: %v", err)
	}
}

func TestWrongKeyFilesAreNamedByLine(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct{ text, says string }{
		"unknown key":   {"keys:\n  - name: a\n    secret: hush\n", "line 3"},
		"top level":     {"key:\n  - name: a\n", "line 1"},
		"no secret":     {"keys:\n  - name: a\n    key: x\n  - name: b\n", `line 4: key "b" needs either key or sha256`},
		"both":          {"keys: [{name: a, key: hush, sha256: aa}]", "either key or sha256"},
		"bad name":      {"keys: [{name: 'a b', key: hush}]", "line 1: name must be"},
		"bad digest":    {"keys: [{name: a, sha256: zz}]", "64 hex digits"},
		"unset":         {"keys: [{name: a, key: '${NOPE}'}]", "${NOPE}, which is not set"},
		"no tier":       {"keys: [{name: a, key: hush, tiers: [performanc]}]", "did you mean \"performance\""},
		"negative":      {"keys: [{name: a, key: hush, rpm: -1}]", "negative"},
		"wrong type":    {"keys:\n  - name: a\n    key: hush\n    rpm: many\n", "line 4"},
		"same secret":   {"keys:\n  - {name: a, key: hush}\n  - {name: b, key: hush}\n", "line 3: another entry has the same key"},
		"not YAML":      {"keys: [\n  {name: hush", "keys.yaml"},
		"not a mapping": {"- hush", "keys.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			keysFile(t, tc.text)(&o)

			_, err := api.New(o)
			if err == nil || !strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), "hush") {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}

func TestAKeyHasItsRequestsPerMinute(t *testing.T) {
	t.Parallel()

	o, err := redis.ParseURL(redistest.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(o)
	t.Cleanup(func() { client.Close() })
	h := serve(t, keysFile(t, "keys: [{name: alice, key: alices, rpm: 2}]"), func(o *api.Options) {
		o.Meter, o.RateLimitRPM = meter.New(client, slog.New(slog.DiscardHandler)), 3
	})

	for key, want := range map[string]int{"alices": 2, testKey: 3} {
		for range 9 { // a look does not count
			h.get("/api/themes", "X-API-Key: "+key).want(t, http.StatusOK, "")
		}

		for n := range want {
			body, status := `{"content":"x"}`, http.StatusAccepted
			if n == 0 { // what is refused counts
				body, status = `{"content":""}`, http.StatusBadRequest
			}
			res := h.post(body, "X-API-Key: "+key)
			res.want(t, status, "")

			if got := res.Header; got.Get("X-Ratelimit-Limit-Requests") != fmt.Sprint(want) ||
				got.Get("X-Ratelimit-Remaining-Requests") != fmt.Sprint(want-1-n) {
				t.Errorf("request %d: %v", n+1, got)
			}
		}
		res := h.post(`{"content":"x"}`, "X-API-Key: "+key)
		res.want(t, http.StatusTooManyRequests, fault.RateLimited)
		seconds, _ := strconv.Atoi(res.Header.Get("Retry-After"))
		ms, _ := strconv.Atoi(res.Header.Get("Retry-After-Ms"))
		// The bucket refills evenly: the next request is due after its share of a
		// minute, wherever the clock stands.
		if share := 60_000 / want; ms <= share-20_000 || ms > share || seconds != (ms+999)/1000 {
			t.Errorf("%d ms, %d s", ms, seconds)
		}

		if res := h.get(
			"/api/themes",
			"X-API-Key: "+key,
		); res.StatusCode != http.StatusOK ||
			res.Header.Get("X-Ratelimit-Remaining-Requests") != "0" {
			t.Errorf("a look after the limit: %d %v", res.StatusCode, res.Header)
		}
	}

	if err := client.FlushAll(context.Background()).Err(); err != nil {
		t.Fatal(err)
	}
	client.Close()
	h.post(`{"content":"x"}`).want(t, http.StatusAccepted, "")
}

func TestForwardingHeadersCountFromTrustedProxiesOnly(t *testing.T) {
	t.Parallel()
	trusting := serve(t, open, func(o *api.Options) { o.TrustedProxies = []string{"127.0.0.0/8"} })
	trusting.get("/api/themes", "X-Forwarded-Host: evil.example").want(t, http.StatusForbidden, fault.Forbidden)
	trusting.get("/api/themes", "X-Forwarded-Host: localhost", "Host: behind.example").want(t, http.StatusOK, "")
	wary := serve(t, open)
	wary.get("/api/themes", "X-Forwarded-Host: evil.example").want(t, http.StatusOK, "")
	o := options(t)

	o.TrustedProxies = []string{"proxy"}
	if _, err := api.New(o); err == nil {
		t.Error("a name is taken for an address")
	}
}
