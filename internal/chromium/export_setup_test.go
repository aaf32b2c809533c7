package chromium_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"presswork/internal/chromium"
	"presswork/internal/export"
	"presswork/internal/guard"
	"presswork/internal/test/freeport"
	"presswork/internal/test/public"
	"presswork/internal/test/wait"
)

// startExporter starts an Exporter whose pages may connect to the addresses that rule allows.
func startExporter(t testing.TB, o chromium.ExporterOptions, rule guard.Options) *chromium.Exporter {
	t.Helper()

	if testing.Short() {
		t.Skip("needs Chromium; `make test` runs this test")
	}

	policy, err := guard.New(rule)
	if err != nil {
		t.Fatal(err)
	}

	o.Policy = policy
	if o.Browser.Dir == "" {
		o.Browser.Dir = public.Dir(t)
	}
	o.Browser.Log = slog.New(slog.NewTextHandler(t.Output(), nil))

	e := chromium.NewExporter(o)
	if err := e.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), wait.Patience)
		defer cancel()

		if err := e.Stop(ctx); err != nil {
			t.Errorf("Stop: %v", err)
		}
	})

	return e
}

// resolveToLoopback is a look-up that returns 127.0.0.1 for every name, such as site.test.
func resolveToLoopback(context.Context, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

// pages serves HTML by path. A path may have a handler instead.
type pages map[string]any

func (p pages) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch page := p[r.URL.Path].(type) {
	case string:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprint(w, "<!doctype html><html lang=en><title>T</title><body>"+page)
	case func(http.ResponseWriter, *http.Request):
		page(w, r)
	default:
		http.NotFound(w, r)
	}
}

// serve starts a server on loopback and returns its port.
func serve(t testing.TB, h http.Handler) (port string) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)

	_, port, err := net.SplitHostPort(strings.TrimPrefix(s.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}

	return port
}

// secret is a service of this machine that no page may reach. It counts connections by TCP over both families and
// packets by UDP, and records requests.
type secret struct {
	port string

	mu       sync.Mutex
	contacts int
	packets  int // of the contacts, by UDP
	paths    map[string]bool
}

// newSecret starts a secret on a free port, by TCP and UDP.
func newSecret(t testing.TB) *secret {
	t.Helper()
	s := &secret{paths: map[string]bool{}, port: freeport.Take(t)}

	v4, err := net.Listen("tcp", "127.0.0.1:"+s.port)
	if err != nil {
		t.Fatal(err)
	}

	v6, err := net.Listen("tcp", "[::1]:"+s.port)
	if err != nil {
		t.Fatal(err)
	}

	udp, err := net.ListenPacket("udp", "127.0.0.1:"+s.port)
	if err != nil {
		t.Fatal(err)
	}

	server := &http.Server{Handler: s, ConnState: func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			s.contact()
		}
	}}
	go server.Serve(v4)
	go server.Serve(v6)
	go func() {
		for buf := make([]byte, 64); ; {
			if _, _, err := udp.ReadFrom(buf); err != nil {
				return
			}
			s.contact()
			s.mu.Lock()
			s.packets++
			s.mu.Unlock()
		}
	}()
	t.Cleanup(func() {
		server.Close()
		udp.Close()
	})

	return s
}

// contact counts a connection or packet.
func (s *secret) contact() {
	s.mu.Lock()
	s.contacts++
	s.mu.Unlock()
}

func (s *secret) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.paths[r.URL.Path] = true
	s.mu.Unlock()
	w.Header().Set("Access-Control-Allow-Origin", "*")
	w.Header().Set("Content-Type", "text/html")
	fmt.Fprint(w, "<p>the secret")
}

// count returns the number of connections and packets.
func (s *secret) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.contacts
}

// byUDP returns the number of packets.
func (s *secret) byUDP() int {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.packets
}

// requested reports whether a path was requested.
func (s *secret) requested(path string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.paths[path]
}

// job is one export of a test.
type job struct {
	name string
	run  func(t *testing.T)
}

// runThree runs jobs as subtests, three at a time, to find pages that disturb each other.
func runThree(t *testing.T, jobs []job) {
	t.Helper()

	var work sync.WaitGroup

	todo := make(chan job, len(jobs))
	for _, j := range jobs {
		todo <- j
	}
	close(todo)

	for range 3 {
		work.Go(func() {
			for j := range todo {
				t.Run(j.name, j.run)
			}
		})
	}
	work.Wait()
}

// mustExport exports a page. It uses the longest time limit unless o has one, because a busy machine is slow.
func mustExport(t testing.TB, e *chromium.Exporter, url string, o export.PDFOptions) chromium.Exported {
	t.Helper()

	if o.Timeout == nil {
		o.Timeout = new(int(export.MaxTimeout.Milliseconds()))
	}

	out, err := e.PDF(t.Context(), chromium.Visit{URL: url}, o)
	if err != nil {
		t.Fatalf("export of %s: error %v, want nil", url, err)
	}

	return out
}

// withTimeout returns options with a time limit in milliseconds.
func withTimeout(ms int) export.PDFOptions {
	return export.PDFOptions{VisitOptions: export.VisitOptions{Timeout: &ms}}
}
