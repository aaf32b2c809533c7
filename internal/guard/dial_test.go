package guard_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"presswork/internal/fault"
	"presswork/internal/guard"
	"presswork/internal/test/wait"
)

// loopbackListener is a listener on loopback that counts its connections.
type loopbackListener struct {
	port string
	n    atomic.Int64
}

// connections returns the number of connections made before the call. It makes one more itself: the listener accepts
// connections in order, so when that one is closed, all earlier ones are counted.
func (c *loopbackListener) connections(t *testing.T) int64 {
	t.Helper()

	conn, err := net.Dial("tcp", "127.0.0.1:"+c.port)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()

	if _, err := io.Copy(io.Discard, conn); err != nil {
		t.Fatal(err)
	}

	return c.n.Add(-1) // without the connection of this call
}

// listenLoopback starts a loopbackListener.
func listenLoopback(t *testing.T) *loopbackListener {
	t.Helper()

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	c := &loopbackListener{port: port}

	done := make(chan struct{})
	go func() {
		defer close(done)

		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			c.n.Add(1)
			conn.Close()
		}
	}()
	t.Cleanup(func() { l.Close(); <-done })

	return c
}

// resolveTo returns a resolver. Its calls return the lists of addresses in order, and the last list from then on.
func resolveTo(lists ...string) func(context.Context, string) ([]netip.Addr, error) {
	var calls atomic.Int64

	return func(context.Context, string) ([]netip.Addr, error) {
		n := min(int(calls.Add(1)), len(lists))

		var out []netip.Addr
		for a := range strings.FieldsSeq(lists[n-1]) {
			out = append(out, netip.MustParseAddr(a))
		}

		return out, nil
	}
}

func TestARebindingNameReachesNothing(t *testing.T) {
	t.Parallel()

	listener := listenLoopback(t)
	for name, lookup := range map[string]func(context.Context, string) ([]netip.Addr, error){
		"private":            resolveTo("127.0.0.1"),
		"IPv4-mapped":        resolveTo("::ffff:127.0.0.1"),
		"one of several":     resolveTo("93.184.216.34 127.0.0.1"),
		"IPv6 loopback last": resolveTo("2606:4700:4700::1111 ::1"),
		"unspecified":        resolveTo("0.0.0.0"),
	} {
		t.Run(name, func(t *testing.T) {
			p := policy(t, guard.Options{Allow: "evil.test:1, 93.184.216.34:" + listener.port, Lookup: lookup})

			client := p.Client(guard.ClientOptions{Timeout: wait.Patience, MaxRedirects: 5})
			for range 2 {
				resp, err := client.Get("http://evil.test:" + listener.port + "/")
				if err == nil {
					resp.Body.Close()
				}

				if fault.CodeOf(err) != fault.AddressNotAllowed {
					t.Errorf("got %v, want %s", err, fault.AddressNotAllowed)
				}
			}
		})
	}

	if n := listener.connections(t); n != 0 {
		t.Errorf("%d connections reached loopback, want none", n)
	}
}

func TestCheckedAddressIsDialled(t *testing.T) {
	t.Parallel()
	listener := listenLoopback(t)
	// The first address may be dialled, but nothing listens there. A second lookup after the check would reach the
	// listener.
	p := policy(t, guard.Options{Allow: "127.0.0.2", Lookup: resolveTo("127.0.0.2", "127.0.0.1")})
	if _, err := p.DialContext(t.Context(), "tcp", "twice.test:"+listener.port); fault.CodeOf(err) != fault.Internal {
		t.Errorf("got %v, want the dial of 127.0.0.2 to fail", err)
	}

	if n := listener.connections(t); n != 0 {
		t.Errorf("%d connections reached the listener, want none", n)
	}
}

func TestDialTriesTheNextAddress(t *testing.T) {
	t.Parallel()
	listener := listenLoopback(t)
	// Nothing listens on 127.0.0.2 at that port.
	p := policy(t, guard.Options{Allow: "true", Lookup: resolveTo("127.0.0.2 127.0.0.1")})

	conn, err := p.DialContext(t.Context(), "tcp", "both.test:"+listener.port)
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
}

func TestExemptNameMayBePrivateButNotMetadata(t *testing.T) {
	t.Parallel()
	listener := listenLoopback(t)
	allow := "hook.internal:" + listener.port

	conn, err := policy(
		t,
		guard.Options{Allow: allow, Lookup: resolveTo("127.0.0.1")},
	).DialContext(t.Context(), "tcp", "HOOK.internal.:"+listener.port)
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()

	p := policy(t, guard.Options{Allow: allow, Lookup: resolveTo("169.254.169.254")})

	_, err = p.DialContext(t.Context(), "tcp", "hook.internal:"+listener.port)
	if fault.CodeOf(err) != fault.AddressNotAllowed {
		t.Errorf("an exempt name that resolves to metadata: got %v, want %s", err, fault.AddressNotAllowed)
	}
}

func TestDialRejectsDisguisedHosts(t *testing.T) {
	t.Parallel()
	listener := listenLoopback(t)

	p := policy(t, guard.Options{})
	for _, host := range []string{"127.0.0.1", "2130706433", "0x7f.1", "0177.0.0.1", "①②⑦.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "127.0.0.1.", "localhost", "metadata.google.internal"} {
		t.Run(host, func(t *testing.T) {
			_, err := p.DialContext(t.Context(), "tcp", host+":"+listener.port)
			if fault.CodeOf(err) != fault.AddressNotAllowed {
				t.Errorf("got %v, want %s", err, fault.AddressNotAllowed)
			}
		})
	}

	for _, network := range []string{"udp", "unix"} {
		if _, err := p.DialContext(t.Context(), network, "1.1.1.1:80"); err == nil {
			t.Errorf("the network %s was dialled, want an error", network)
		}
	}

	if n := listener.connections(t); n != 0 {
		t.Errorf("%d connections reached the listener, want none", n)
	}
}

func TestUnresolvableNameIsAnInternalError(t *testing.T) {
	t.Parallel()
	errNotFound := &net.DNSError{Err: "no such host", Name: "gone.test", IsNotFound: true}
	p := policy(
		t,
		guard.Options{Lookup: func(context.Context, string) ([]netip.Addr, error) { return nil, errNotFound }},
	)

	_, err := p.DialContext(t.Context(), "tcp", "gone.test:80")
	if fault.CodeOf(err) != fault.Internal || !errors.Is(err, errNotFound) {
		t.Errorf("got %v, want %s with the error of the resolver", err, fault.Internal)
	}
}

func TestRedirectsAreCheckedHopByHop(t *testing.T) {
	t.Parallel()
	secret := listenLoopback(t)
	var referred atomic.Bool // a request had a Referer

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Referer") != "" {
			referred.Store(true)
		}

		switch r.URL.Path {
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/once":
			http.Redirect(w, r, "/end", http.StatusMovedPermanently)
		case "/end":
		default:
			http.Redirect(w, r, r.URL.Query().Get("to"), http.StatusFound)
		}
	}))
	defer server.Close()
	target := server.URL
	u, _ := url.Parse(target)
	p := policy(t, guard.Options{Allow: u.Host})

	client := p.Client(guard.ClientOptions{MaxRedirects: 5})

	for to, code := range map[string]fault.Code{
		"http://127.0.0.1:" + secret.port:                  fault.AddressNotAllowed,
		"http://0x7f.1:" + secret.port:                     fault.AddressNotAllowed,
		"http://[::ffff:127.0.0.1]:" + secret.port:         fault.AddressNotAllowed,
		"http://localhost:" + secret.port:                  fault.AddressNotAllowed,
		"http://169.254.169.254/latest":                    fault.AddressNotAllowed,
		"file:///etc/passwd":                               fault.InvalidURL,
		"http://user:pw@" + u.Host + "/end":                fault.InvalidURL,
		target + "/x?to=http://127.0.0.1:" + secret.port:   fault.AddressNotAllowed,
		target + "/loop":                                   fault.InvalidURL,
		"gopher://127.0.0.1:" + secret.port + "/_FLUSHALL": fault.InvalidURL,
	} {
		t.Run(to, func(t *testing.T) {
			resp, err := client.Get(target + "/go?to=" + url.QueryEscape(to))
			if err == nil {
				resp.Body.Close()
			}

			if fault.CodeOf(err) != code {
				t.Errorf("a redirect to %s: got %v, want %s", to, err, code)
			}
		})
	}

	resp, err := client.Get(target + "/once")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()

	if resp.StatusCode != http.StatusOK || referred.Load() {
		t.Errorf("a redirect: status %d, Referer sent: %v; want 200 without Referer", resp.StatusCode, referred.Load())
	}

	resp, err = p.Client(guard.ClientOptions{}).Get(target + "/once")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()

	if resp.StatusCode != http.StatusMovedPermanently {
		t.Errorf("without MaxRedirects: status %d, want 301", resp.StatusCode)
	}

	if n := secret.connections(t); n != 0 {
		t.Errorf("%d connections reached the listener, want none", n)
	}
}

func TestProxyOfTheEnvironmentIsIgnored(t *testing.T) {
	proxy := listenLoopback(t)
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:"+proxy.port)
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:"+proxy.port)

	p := policy(t, guard.Options{Lookup: resolveTo("127.0.0.1")})
	if _, err := p.Client(guard.ClientOptions{}).Get("http://x.test/"); fault.CodeOf(err) != fault.AddressNotAllowed {
		t.Errorf("got %v, want %s", err, fault.AddressNotAllowed)
	}

	if n := proxy.connections(t); n != 0 {
		t.Errorf("%d connections to the proxy, want none", n)
	}
}
