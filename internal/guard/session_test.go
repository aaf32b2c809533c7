package guard_test

import (
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"presswork/internal/guard"
	"presswork/internal/test/wait"
)

func TestEndedSessionKeepsItsPortUntilItIsClosed(t *testing.T) {
	t.Parallel()

	s, err := guard.NewProxy(policy(t, guard.Options{}), guard.ProxyOptions{}).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.End()

	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatalf("connecting to the port: got %v, want a connection", err)
	}
	defer conn.Close()

	if l, err := net.Listen("tcp", s.Addr()); err == nil {
		l.Close()
		t.Error("another listener took the port, want an error")
	}
	s.Close()
	s.Close()
	awaitFree(t, s.Addr())
}

// awaitFree waits until a port is free. Another process may use it for a moment.
func awaitFree(t *testing.T, address string) {
	t.Helper()
	wait.Until(t, "the port is free", func() bool {
		l, err := net.Listen("tcp", address)
		if err != nil {
			return false
		}
		l.Close()

		return true
	})
}

func TestGateServesNothingBeforeItsSession(t *testing.T) {
	t.Parallel()
	requested := make(chan string, 2)

	server := httptest.NewServer(
		http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { requested <- r.URL.Path }),
	)
	defer server.Close()
	p := guard.NewProxy(policy(t, guard.Options{Allow: hostOf(t, server)}), guard.ProxyOptions{})
	// request sends a request for a page of the server through a gate.
	request := func(g *guard.Gate) net.Conn {
		t.Helper()

		conn, err := net.Dial("tcp", g.Addr())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		fmt.Fprintf(conn, "GET %s/%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", server.URL, g.Addr())

		return conn
	}
	reserve := func() *guard.Gate {
		t.Helper()

		g, err := p.Reserve()
		if err != nil {
			t.Fatal(err)
		}

		return g
	}
	closedGate, openGate := reserve(), reserve()
	unanswered := request(closedGate)

	s := openGate.Open(t.Context())
	defer s.Close()

	if b, err := io.ReadAll(request(openGate)); err != nil || <-requested != "/"+openGate.Addr() {
		t.Fatalf("the open gate answered %q, %v; want the page", b, err)
	}
	closedGate.Close()
	closedGate.Close()

	if b, err := io.ReadAll(unanswered); len(b) > 0 || len(requested) > 0 {
		t.Errorf("the closed gate answered %q, %v, and sent %d requests; want none", b, err, len(requested))
	}
}

func TestProxyCountsRejections(t *testing.T) {
	t.Parallel()
	p := guard.NewProxy(
		policy(t, guard.Options{
			Lookup:    resolveTo("127.0.0.1"),
			DenyHosts: "denied.test",
			Never:     []string{"127.0.0.1:7"},
			Allow:     "own.test",
		}),
		guard.ProxyOptions{},
	)

	s, err := p.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()

	for _, host := range []string{"127.0.0.1", "10.0.0.1", "169.254.169.254", "1.1.1.1:22", "denied.test", "own.test:7"} {
		get(t, clientOf(t, s), "http://"+host)
	}

	want := map[guard.Reason]int64{guard.NotPublic: 2, guard.Never: 1, guard.Port: 1, guard.Host: 1, guard.Own: 1}
	if got := p.Refusals(); !maps.Equal(got, want) {
		t.Errorf("counted %v, want %v", got, want)
	}
}

func TestProxyAddsNoHeaders(t *testing.T) {
	t.Parallel()

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Content-Type"] = nil
		fmt.Fprintf(w, "<html>%q", r.Header)
	}))
	defer server.Close()
	_, client := openSession(t, policy(t, guard.Options{Allow: hostOf(t, server)}), guard.ProxyOptions{})
	req, _ := http.NewRequest("GET", server.URL, nil)
	req.Header.Set("X-Forwarded-Proto", "https")
	req.Header.Set("User-Agent", "u")
	req.Header.Set("Accept-Encoding", "identity")

	// net/http guesses a type only if the body arrives before the head is sent, so one response proves little.
	for range 3000 {
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()

		want := `<html>map["Accept-Encoding":["identity"] "User-Agent":["u"] "X-Forwarded-Proto":["https"]]`
		if string(b) != want {
			t.Fatalf("the server saw %s, want %s", b, want)
		}

		if got, ok := resp.Header["Content-Type"]; ok {
			t.Fatalf("the response has the type %q, want none as from the server", got)
		}
	}
}
