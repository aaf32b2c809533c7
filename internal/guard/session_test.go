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
)

func TestAnEndedSessionKeepsItsPort(t *testing.T) {
	t.Parallel()
	s, err := guard.NewProxy(policy(t, guard.Options{}), guard.ProxyOptions{}).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.End()
	conn, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatalf("the port is not held: %v", err)
	}
	defer conn.Close()
	if l, err := net.Listen("tcp", s.Addr()); err == nil {
		l.Close()
		t.Error("somebody else can have the port")
	}
	s.Close()
	s.Close()
	l, err := net.Listen("tcp", s.Addr())
	if err != nil {
		t.Fatalf("the port is held for ever: %v", err)
	}
	l.Close()
}

func TestProxyCountsRefusals(t *testing.T) {
	t.Parallel()
	p := guard.NewProxy(policy(t, guard.Options{Lookup: answers("127.0.0.1"), DenyHosts: "denied.test", Never: []string{"127.0.0.1:7"}, Allow: "own.test"}), guard.ProxyOptions{})
	s, err := p.Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, host := range []string{"127.0.0.1", "10.0.0.1", "169.254.169.254", "1.1.1.1:22", "denied.test", "own.test:7"} {
		get(t, through(t, s), "http://"+host)
	}
	want := map[guard.Reason]int64{guard.NotPublic: 2, guard.Never: 1, guard.Port: 1, guard.Host: 1, guard.Own: 1}
	if got := p.Refusals(); !maps.Equal(got, want) {
		t.Errorf("counted %v, want %v", got, want)
	}
}

func TestProxyAddsNothing(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Content-Type"] = nil
		fmt.Fprintf(w, "<html>%q", r.Header)
	}))
	defer server.Close()
	_, client := session(t, policy(t, guard.Options{Allow: hostOf(t, server)}), guard.ProxyOptions{})
	req, _ := http.NewRequest("GET", server.URL, nil)
	req.Header.Set("X-Forwarded-Proto", "https")
	req.Header.Set("User-Agent", "u")
	req.Header.Set("Accept-Encoding", "identity")
	for range 3000 { // net/http guesses a type only when the body is faster than the head
		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if want := `<html>map["Accept-Encoding":["identity"] "User-Agent":["u"] "X-Forwarded-Proto":["https"]]`; string(b) != want {
			t.Fatalf("the server saw %s, want %s", b, want)
		}
		if got, ok := resp.Header["Content-Type"]; ok {
			t.Fatalf("the type %q was made up", got)
		}
	}
}
