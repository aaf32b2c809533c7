package guard_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	"presswork/internal/fault"
	"presswork/internal/guard"
	"presswork/internal/test/wait"
)

// openSession opens a session and returns it with a client that uses it as proxy.
func openSession(t testing.TB, p *guard.Policy, o guard.ProxyOptions) (*guard.Session, *http.Client) {
	t.Helper()

	s, err := guard.NewProxy(p, o).Open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)

	return s, clientOf(t, s)
}

// clientOf returns a client that uses the session as proxy.
func clientOf(t testing.TB, s *guard.Session) *http.Client {
	transport := &http.Transport{
		Proxy:           http.ProxyURL(&url.URL{Scheme: "http", Host: s.Addr()}),
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
	}
	t.Cleanup(transport.CloseIdleConnections)

	return &http.Client{Transport: transport, Timeout: wait.Patience}
}

// echoSite answers with the request. An upgraded connection echoes its bytes.
var echoSite = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Upgrade") != "" {
		conn, buf, _ := http.NewResponseController(w).Hijack()
		defer conn.Close()
		fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		io.Copy(conn, buf)

		return
	}
	body, _ := io.ReadAll(r.Body)
	fmt.Fprintf(w, "%s %s host=%s body=%s proxy=%s%s xff=%s", r.Method, r.RequestURI, r.Host, body,
		r.Header.Get("Proxy-Connection"), r.Header.Get("Proxy-Authorization"), r.Header.Get("X-Forwarded-For"))
})

// hostOf returns the host and port of a server.
func hostOf(t testing.TB, s *httptest.Server) string {
	t.Helper()

	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}

	return u.Host
}

// get returns the status and the body of a page.
func get(t testing.TB, c *http.Client, url string) (status int, body string) {
	t.Helper()

	resp, err := c.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()

	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}

	return resp.StatusCode, string(b)
}

func TestProxyForwardsAndTunnels(t *testing.T) {
	t.Parallel()

	plain, secure := httptest.NewServer(echoSite), httptest.NewTLSServer(echoSite)
	defer plain.Close()
	defer secure.Close()

	s, client := openSession(t, policy(t, guard.Options{Allow: hostOf(t, plain) + "," + hostOf(t, secure)}),
		guard.ProxyOptions{})
	for _, server := range []*httptest.Server{plain, secure} {
		req, _ := http.NewRequest("POST", server.URL+"/a%2Fb/c?q=1;2&%zz", strings.NewReader("hello"))
		req.Header.Set("Proxy-Connection", "keep-alive")

		resp, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()

		proxyConnection := ""
		if server == secure {
			proxyConnection = "keep-alive" // a tunnel passes all headers
		}

		want := "POST /a%2Fb/c?q=1;2&%zz host=" + hostOf(t, server) + " body=hello proxy=" + proxyConnection + " xff="
		if string(b) != want {
			t.Errorf("got %q, want %q", b, want)
		}
	}
	// The proxy counts the plain request, the CONNECT, and each TLS record of application data in the tunnel. The end of
	// the handshake is such a record, and so are the parts of the request and the end of the connection.
	if u := s.Usage(); u.Requests < 4 || u.Requests > 6 || u.Bytes < 500 {
		t.Errorf("the usage is %+v, want 4 to 6 requests and 500 bytes or more", u)
	}
}

func TestProxyPassesUpgradedConnections(t *testing.T) {
	t.Parallel()

	server := httptest.NewServer(echoSite)
	defer server.Close()
	host := hostOf(t, server)

	s, _ := openSession(t, policy(t, guard.Options{Allow: host}), guard.ProxyOptions{})
	for name, head := range map[string]string{
		"forwarded": "GET http://" + host + "/ws HTTP/1.1\r\nHost: " + host + "\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n",
		"tunnelled": "CONNECT " + host + " HTTP/1.1\r\nHost: " + host + "\r\n\r\nGET /ws HTTP/1.1\r\nHost: " + host + "\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", s.Addr())
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			conn.SetDeadline(time.Now().Add(wait.Patience))
			fmt.Fprint(conn, head)

			r := bufio.NewReader(conn)
			for {
				line, err := r.ReadString('\n')
				if err != nil {
					t.Fatal(err)
				}

				if line == "ping\n" {
					break
				}

				if strings.HasPrefix(line, "Upgrade:") {
					r.ReadString('\n')
					fmt.Fprint(conn, "ping\n")
				}
			}
		})
	}
}

func TestProxyRejectsForbiddenTargets(t *testing.T) {
	t.Parallel()
	listener := listenLoopback(t)
	lookup := func(_ context.Context, host string) ([]netip.Addr, error) {
		if host == "gone.test" {
			return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
		}

		return resolveTo("93.184.216.34 127.0.0.1")(context.Background(), host)
	}
	s, client := openSession(t, policy(t, guard.Options{Lookup: lookup, DenyHosts: "*.denied.test"}),
		guard.ProxyOptions{})

	for _, host := range []string{
		"127.0.0.1", "2130706433", "0x7f.1", "0177.0.0.1", "[::1]", "[::ffff:127.0.0.1]", "[64:ff9b::7f00:1]", "127.0.0.1.", "localhost", "localhost.",
		"rebound.test", "a.denied.test", "169.254.169.254", "metadata.google.internal", "[fe80::1]", "0.0.0.0",
	} {
		t.Run(host, func(t *testing.T) {
			for _, scheme := range []string{"http", "https"} {
				target := host + ":" + listener.port

				resp, err := client.Get(scheme + "://" + target + "/")
				if err == nil {
					resp.Body.Close()

					if resp.StatusCode != http.StatusForbidden {
						t.Errorf("%s://%s: got %s, want 403", scheme, target, resp.Status)
					}
				} else if scheme == "http" || !strings.Contains(err.Error(), "Forbidden") {
					t.Errorf("%s://%s: got %v, want 403", scheme, target, err)
				}

				if err := s.Failure(target); fault.CodeOf(err) != fault.AddressNotAllowed {
					t.Errorf("the failure of %s is %v, want %s", target, err, fault.AddressNotAllowed)
				}
			}
		})
	}

	if status, _ := get(t, client, "http://gone.test/"); status != http.StatusBadGateway {
		t.Errorf("a name that does not resolve: got %d, want 502", status)
	}

	if _, ok := errors.AsType[*net.DNSError](s.Failure("gone.test:80")); !ok {
		t.Errorf("the failure is %v, want a DNS error", s.Failure("gone.test:80"))
	}

	if n := listener.connections(t); n != 0 {
		t.Errorf("%d connections reached the listener, want none", n)
	}
}

func TestProxyIsNotItsOwnTarget(t *testing.T) {
	t.Parallel()
	// "true" allows loopback and private addresses.
	p := guard.NewProxy(policy(t, guard.Options{Allow: "true"}), guard.ProxyOptions{})
	var sessions []*guard.Session

	for range 2 {
		s, err := p.Open(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		sessions = append(sessions, s)
	}

	for _, target := range sessions {
		_, port, _ := net.SplitHostPort(target.Addr())

		for _, host := range []string{"127.0.0.1", "127.9.9.9", "localhost"} {
			t.Run(host, func(t *testing.T) {
				status, _ := get(t, clientOf(t, sessions[0]), "http://"+host+":"+port+"/")
				if status != http.StatusForbidden {
					t.Errorf("%s:%s: got %d, want 403", host, port, status)
				}
			})
		}
	}
}

func TestProxyRejectsInvalidRequests(t *testing.T) {
	t.Parallel()

	server := httptest.NewServer(echoSite)
	defer server.Close()
	host := hostOf(t, server)

	s, _ := openSession(t, policy(t, guard.Options{Allow: host}), guard.ProxyOptions{})
	for name, test := range map[string]struct {
		head   string
		status int
	}{
		"a path":                  {"GET / HTTP/1.1\r\nHost: " + host + "\r\n\r\n", http.StatusBadRequest},
		"https without a tunnel":  {"GET https://" + host + "/ HTTP/1.1\r\nHost: x\r\n\r\n", http.StatusBadRequest},
		"a file":                  {"GET file:///etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n", http.StatusBadRequest},
		"a password":              {"GET http://a:b@" + host + "/ HTTP/1.1\r\nHost: x\r\n\r\n", http.StatusBadRequest},
		"an invalid escape":       {"GET http://" + host + "/%zz HTTP/1.1\r\nHost: x\r\n\r\n", http.StatusBadRequest},
		"two lengths":             {"POST http://" + host + "/ HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc", http.StatusBadRequest},
		"a NUL":                   {"GET http://" + host + "/\x00 HTTP/1.1\r\nHost: x\r\n\r\n", http.StatusBadRequest},
		"a tunnel without a port": {"CONNECT nowhere HTTP/1.1\r\nHost: x\r\n\r\n", http.StatusBadGateway},
		"a tunnel to a path":      {"CONNECT /x HTTP/1.1\r\nHost: x\r\n\r\n", http.StatusBadGateway},
	} {
		t.Run(name, func(t *testing.T) {
			conn, err := net.Dial("tcp", s.Addr())
			if err != nil {
				t.Fatal(err)
			}
			conn.SetDeadline(time.Now().Add(wait.Patience))
			fmt.Fprint(conn, test.head)

			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Fatal(err)
			}

			if resp.StatusCode != test.status {
				t.Errorf("got %s, want %d", resp.Status, test.status)
			}
			conn.Close()
		})
	}
}

func TestProxySessionEndsAtItsLimits(t *testing.T) {
	t.Parallel()
	endless := func(w http.ResponseWriter, _ *http.Request) {
		for {
			if _, err := w.Write(make([]byte, 64<<10)); err != nil {
				return
			}
		}
	}

	plain, secure := httptest.NewServer(http.HandlerFunc(endless)), httptest.NewTLSServer(http.HandlerFunc(endless))
	defer plain.Close()
	defer secure.Close()

	p := policy(t, guard.Options{Allow: hostOf(t, plain) + "," + hostOf(t, secure)})
	for _, server := range []*httptest.Server{plain, secure} {
		s, client := openSession(t, p, guard.ProxyOptions{MaxBytes: 4 << 20})

		resp, err := client.Get(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, resp.Body)
		resp.Body.Close()

		if err == nil || n > 5<<20 {
			t.Errorf("got %d bytes, %v; want an error after about 4 MiB", n, err)
		}
		<-s.Done()

		if fault.CodeOf(s.Err()) != fault.PageError || !strings.Contains(s.Err().Error(), "4 MiB") {
			t.Errorf("the session ended with %v, want %s with \"4 MiB\"", s.Err(), fault.PageError)
		}
	}

	small := httptest.NewServer(echoSite)
	defer small.Close()

	s, client := openSession(t, policy(t, guard.Options{Allow: hostOf(t, small)}), guard.ProxyOptions{MaxRequests: 3})
	for range 3 {
		get(t, client, small.URL)
	}

	if resp, err := client.Get(small.URL); err == nil {
		resp.Body.Close()
	}
	<-s.Done()

	if fault.CodeOf(s.Err()) != fault.PageError {
		t.Errorf("the session ended with %v, want %s", s.Err(), fault.PageError)
	}
}

func TestProxyCloseEndsItsConnections(t *testing.T) {
	t.Parallel()
	ended := make(chan struct{})

	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.NewResponseController(w).Flush()
		<-r.Context().Done()
		close(ended)
	}))
	defer server.Close()
	s, client := openSession(t, policy(t, guard.Options{Allow: hostOf(t, server)}), guard.ProxyOptions{})

	resp, err := client.Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	s.Close()
	<-ended
	awaitFree(t, s.Addr())
}
