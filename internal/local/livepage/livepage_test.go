package livepage_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"presswork/internal/local/livepage"
	"presswork/internal/test/wait"
)

func start(t *testing.T) *livepage.Server {
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

func TestTheDocumentIsAtItsOwnAddressOnly(t *testing.T) {
	t.Parallel()

	s := start(t)
	if res := get(t, s.URL()+"page"); res.StatusCode != http.StatusNotFound {
		t.Errorf("a page that is to come: %s", res.Status)
	}
	s.Show("<p>Secret</p>")

	u, err := url.Parse(s.URL())
	if err != nil {
		t.Fatal(err)
	}

	if u.Hostname() != "127.0.0.1" || len(u.Path) < len("/live//")+26 {
		t.Errorf("it is at %s", u)
	}

	for i, path := range []string{"/", "/live/", "/live/x/", "/live/x/page", "/live/x/events", u.Path[:len(u.Path)-2] + "/page", "/assets/../live", "/fonts/none"} {
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
			if res := get(t, "http://"+u.Host+path); res.StatusCode != http.StatusNotFound {
				t.Errorf("%s: %s", path, res.Status)
			}
		})
	}
	// A foreign host name that resolves to this address is refused.
	for i, host := range []string{"evil.example", "evil.example:" + u.Port(), "127.0.0.1", "[::1]:" + u.Port()} {
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
			if res := get(t, s.URL()+"page",
				func(r *http.Request) { r.Host = host }); res.StatusCode != http.StatusMisdirectedRequest ||
				strings.Contains(body(t, res), "Secret") {
				t.Errorf("as %s: %s", host, res.Status)
			}
		})
	}

	if res := get(t, s.URL()+"page", func(r *http.Request) { r.Host = "localhost:" + u.Port() }); body(
		t,
		res,
	) != "<p>Secret</p>" {
		t.Errorf("as localhost: %s", res.Status)
	}
}

// TestShownDocumentRunsNoScripts reads the policies; the visit of internal/test/studio
// tries them.
func TestShownDocumentRunsNoScripts(t *testing.T) {
	t.Parallel()
	s := start(t)
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
					t.Errorf("%q: %s: the policy is %q", path, res.Status, policy)
				}
			}

			if strings.Contains(policy, "unsafe-eval") || res.Header.Get("Referrer-Policy") != "no-referrer" ||
				res.Header.Get("Cache-Control") != "no-store" {
				t.Errorf("%q: %v", path, res.Header)
			}
		})
	}
}

func TestEveryChangeIsSentToTheLivePage(t *testing.T) {
	t.Parallel()
	s := start(t)
	events := bufio.NewScanner(get(t, s.URL()+"events").Body)
	next := func() string {
		for events.Scan() {
			if data, ok := strings.CutPrefix(events.Text(), "data: "); ok {
				return data
			}
		}

		return "the end"
	}
	s.Show("<p>1</p>")

	if got := next(); got != `{"error":""}` {
		t.Errorf("told %s", got)
	}
	s.Fail("line 3: no")

	if got := next(); got != `{"error":"line 3: no"}` {
		t.Errorf("told %s", got)
	}
	// The last page that there was stays.
	if got := body(t, get(t, s.URL()+"page")); got != "<p>1</p>" {
		t.Errorf("the page is %s", got)
	}
	s.Show("<p>2</p>")

	if got := next(); got != `{"error":""}` {
		t.Errorf("told %s", got)
	}

	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()

	if err := s.Stop(ctx); err != nil {
		t.Error(err)
	}

	if got := next(); got != "the end" {
		t.Errorf("told %s", got)
	}
}
