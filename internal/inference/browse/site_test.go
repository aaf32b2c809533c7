package browse_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"presswork/internal/inference/browse"
)

func TestRobotsTxtIsObeyed(t *testing.T) {
	t.Parallel()
	rules := "User-agent: *\nDisallow: /\n\nUser-agent: Presswork\nDisallow: /private\nDisallow: /*.secret$\nAllow: /private/open\nDisallow: /q?x=\n"
	var robots atomic.Int64

	pages := map[string]http.HandlerFunc{
		"/robots.txt": func(w http.ResponseWriter, _ *http.Request) { robots.Add(1); fmt.Fprint(w, rules) },
	}
	for _, path := range []string{"/", "/private", "/private/open", "/a.secret", "/q", "/to-private"} {
		pages[path] = serveText("text/plain", "text")
	}
	pages["/to-private"] = serveRedirect("/private/x")
	s := serve(t, pages)

	b := browser(t, s, nil)
	for path, allowed := range map[string]bool{
		"/": true, "/private": false, "/private/open": true, "/a.secret": false, "/q?x=1": false, "/q?y=1": true,
		"/to-private": false,
	} {
		t.Run(path, func(t *testing.T) {
			r := open(t, b.Session(), s.url(path))
			if r.Failed == allowed || !allowed && !strings.Contains(r.Output, "asks programs not to read /") {
				t.Errorf("got %+v, want allowed: %v", r, allowed)
			}
		})
	}

	if n := robots.Load(); n != 1 {
		t.Errorf("robots.txt was read %d times, want once", n)
	}

	others := browser(t, s, func(o *browse.Options) { o.UserAgent = "Other/1" })
	if r := open(t, others.Session(), s.url("/")); !r.Failed {
		t.Error("a program without rules of its own read /; want the rules for *")
	}

	// A site without readable rules allows everything, but a server that fails may have rules.
	for name, c := range map[string]struct {
		robots  http.HandlerFunc
		allowed bool
	}{
		"forbidden":                       {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusForbidden) }, true},
		"failing":                         {func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusBadGateway) }, false},
		"a web page":                      {serveHTML("<h1>Not found"), true},
		"redirected to a private address": {serveRedirect("http://169.254.169.254/robots.txt"), true},
		"endless":                         {serveEndless("text/plain", []byte("Disallow: /x\n"), new(atomic.Int64)), true},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, map[string]http.HandlerFunc{"/robots.txt": c.robots, "/": serveText("text/plain", "text")})
			if r := open(t, browser(t, s, nil).Session(), s.url("/")); r.Failed == c.allowed {
				t.Errorf("got %+v, want allowed: %v", r, c.allowed)
			}
		})
	}
}

func TestRequestsToASiteAreSpaced(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()

		times := browse.RequestTimes(t.Context(), 12)
		if n := len(times); n != 12 {
			t.Fatalf("%d requests may be sent, want 12", n)
		}

		// Six requests are sent at once, then two a second.
		if at := times[5].Sub(began); at != 0 {
			t.Errorf("the sixth request waited %s, want 0s", at)
		}

		if at := times[11].Sub(began); at != 3*time.Second {
			t.Errorf("the twelfth request waited %s, want 3s", at)
		}
	})
}
