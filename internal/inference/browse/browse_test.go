package browse_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"presswork/internal/guard"
	"presswork/internal/inference"
	"presswork/internal/inference/browse"
	"presswork/internal/test/wait"
)

// site is a web site on this machine. Every host name resolves to it.
type site struct {
	handlers  map[string]http.HandlerFunc // by path
	port      string
	requested chan string // every path, except robots.txt
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if h := s.handlers[r.URL.Path]; h != nil {
		if r.URL.Path != "/robots.txt" {
			s.requested <- r.URL.Path
		}
		h(w, r)

		return
	}
	http.NotFound(w, r)
}

// url returns the address of a path of the site.
func (s *site) url(path string) string { return "http://site.test:" + s.port + path }

// serve starts a site.
func serve(t testing.TB, handlers map[string]http.HandlerFunc) *site {
	t.Helper()
	s := &site{handlers: handlers, requested: make(chan string, 1000)}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	_, s.port, _ = net.SplitHostPort(server.Listener.Addr().String())

	return s
}

// policy returns a policy that allows site.test at the given ports, and no other address of this machine.
func policy(t testing.TB, ports ...string) *guard.Policy {
	t.Helper()

	var allow []string
	for _, port := range ports {
		allow = append(allow, "site.test:"+port)
	}

	p, err := guard.New(guard.Options{
		Allow:   strings.Join(allow, ","),
		Setting: "OUTBOUND_ALLOW_PRIVATE",
		Lookup: func(_ context.Context, host string) ([]netip.Addr, error) {
			if addr, err := netip.ParseAddr(host); err == nil {
				return []netip.Addr{addr}, nil
			}

			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}

	return p
}

// browser returns a Browser that may reach the site. change may edit its options; nil leaves them unchanged.
func browser(t testing.TB, s *site, change func(*browse.Options)) *browse.Browser {
	t.Helper()

	o := browse.Options{Policy: policy(t, s.port), UserAgent: "Presswork/test", Timeout: wait.Patience}
	if change != nil {
		change(&o)
	}

	return browse.New(o)
}

// serveText answers with a body of this type.
func serveText(contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		fmt.Fprint(w, body)
	}
}

func serveHTML(body string) http.HandlerFunc { return serveText("text/html; charset=utf-8", body) }

// call runs a function of the session. The arguments alternate between name and value.
func call(t testing.TB, s *browse.Session, function string, arguments ...any) inference.ToolResult {
	t.Helper()

	object := map[string]any{}
	for i := 0; i < len(arguments); i += 2 {
		object[arguments[i].(string)] = arguments[i+1]
	}

	raw, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}

	result, err := s.Call(t.Context(), inference.BuiltinCall{Name: function, Arguments: string(raw)})
	if err != nil {
		t.Fatal(err)
	}

	return result
}

// open opens a page by its address, or a link of the current page by its number.
func open(t testing.TB, s *browse.Session, id any) inference.ToolResult {
	t.Helper()
	return call(t, s, inference.OpenFunction, "id", id)
}

// lines splits a view into its numbered lines, without the numbers, and the other lines.
func lines(t testing.TB, r inference.ToolResult) (numbered []string, frame string) {
	t.Helper()
	number := regexp.MustCompile(`^L\d+: `)
	var rest []string

	for line := range strings.SplitSeq(r.Output, "\n") {
		if prefix := number.FindString(line); prefix != "" {
			numbered = append(numbered, line[len(prefix):])
		} else {
			rest = append(rest, line)
		}
	}

	return numbered, strings.Join(rest, "\n")
}

// textOf returns the numbered lines of a view, without the numbers.
func textOf(t testing.TB, r inference.ToolResult) string {
	t.Helper()
	numbered, _ := lines(t, r)

	return strings.Join(numbered, "\n")
}
