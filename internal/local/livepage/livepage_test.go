package livepage_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"presswork/internal/local/livepage"
	"presswork/internal/test/wait"
)

// startServer starts a server that is stopped at the end of the test.
func startServer(t *testing.T) *livepage.Server {
	t.Helper()

	s, err := livepage.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), wait.Patience)
		defer cancel()

		if err := s.Stop(ctx); err != nil {
			t.Error(err)
		}
	})

	return s
}

func get(t *testing.T, address string, change ...func(*http.Request)) *http.Response {
	t.Helper()

	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}

	for _, f := range change {
		f(req)
	}

	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { res.Body.Close() })

	return res
}

func body(t *testing.T, res *http.Response) string {
	t.Helper()

	b, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}

	return string(b)
}

func TestTheDocumentIsServedOnlyUnderItsSecretPath(t *testing.T) {
	t.Parallel()

	s := startServer(t)
	if res := get(t, s.URL()+"page"); res.StatusCode != http.StatusNotFound {
		t.Errorf("before Show: got %s, want 404", res.Status)
	}
	s.Show("<p>Secret</p>")

	u, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}

	if u.Hostname() != "127.0.0.1" || len(u.Path) < len("/live//")+26 {
		t.Errorf("the URL is %s, want 127.0.0.1 and a secret path of 26 characters", u)
	}

	for _, path := range []string{"/", "/live/", "/live/x/", "/live/x/page", "/live/x/events", u.Path[:len(u.Path)-2] + "/page", "/assets/../live", "/fonts/none"} {
		t.Run(path, func(t *testing.T) {
			if res := get(t, "http://"+u.Host+path); res.StatusCode != http.StatusNotFound {
				t.Errorf("GET %s: got %s, want 404", path, res.Status)
			}
		})
	}
	// A foreign host name may resolve to this address (DNS rebinding), so it is rejected.
	for _, host := range []string{"evil.example", "evil.example:" + u.Port(), "127.0.0.1", "[::1]:" + u.Port()} {
		t.Run(host, func(t *testing.T) {
			res := get(t, s.URL()+"page",
				func(r *http.Request) { r.Host = host })
			if res.StatusCode != http.StatusMisdirectedRequest || strings.Contains(body(t, res), "Secret") {
				t.Errorf("got %s, want 421 without the document", res.Status)
			}
		})
	}

	res := get(t, s.URL()+"page", func(r *http.Request) { r.Host = "localhost:" + u.Port() })
	if body(t, res) != "<p>Secret</p>" {
		t.Errorf("as localhost: got %s, want the document", res.Status)
	}
}

// The test reads the policies. internal/test/studio checks them in a browser.
func TestPoliciesForbidScriptsOfTheDocument(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	s.Show("<script>alert(1)</script>")

	for path, want := range map[string][]string{
		"page":       {"sandbox;", "default-src 'none'"},
		"":           {"script-src 'self'", "default-src 'none'", "require-trusted-types-for"},
		"../preview": {"/preview"},
	} {
		t.Run(path, func(t *testing.T) {
			res := get(t, s.URL()+path)

			policy := res.Header.Get("Content-Security-Policy") + res.Request.URL.Path
			for _, w := range want {
				if !strings.Contains(policy, w) {
					t.Errorf("got %s with the policy %q, want %q in it", res.Status, policy, w)
				}
			}

			if strings.Contains(policy, "unsafe-eval") || res.Header.Get("Referrer-Policy") != "no-referrer" ||
				res.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("got headers %v; want no-referrer, no-store and no unsafe-eval", res.Header)
			}
		})
	}
}

func TestEveryChangeIsSentToTheLivePage(t *testing.T) {
	t.Parallel()
	s := startServer(t)
	events := bufio.NewScanner(get(t, s.URL()+"events").Body)
	// next returns the data of the next event, or "the end".
	next := func() string {
		for events.Scan() {
			if data, ok := strings.CutPrefix(events.Text(), "data: "); ok {
				return data
			}
		}

		return "the end"
	}
	wantEvent := func(want string) {
		t.Helper()

		if got := next(); got != want {
			t.Errorf("got event %s, want %s", got, want)
		}
	}
	s.Show("<p>1</p>")

	wantEvent(`{"error":""}`)
	s.Fail("line 3: no")

	wantEvent(`{"error":"line 3: no"}`)
	// After a failure, the server still serves the last page.
	if got := body(t, get(t, s.URL()+"page")); got != "<p>1</p>" {
		t.Errorf("the page is %s, want the first one", got)
	}
	s.Show("<p>2</p>")

	wantEvent(`{"error":""}`)

	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()

	if err := s.Stop(ctx); err != nil {
		t.Error(err)
	}

	wantEvent("the end")
}
