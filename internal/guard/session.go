package guard

import (
	"cmp"
	"context"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"sync"
	"sync/atomic"
	"time"

	"presswork/internal/fault"
)

// Session is one page's proxy: it forwards plain requests and upgrades, and
// tunnels by CONNECT. Connections to a server are kept for its later requests.
// It must be closed.
type Session struct {
	proxy     *Proxy
	gate      *Gate
	server    *http.Server
	forward   *httputil.ReverseProxy
	transport *http.Transport

	life   context.Context
	end    context.CancelCauseFunc
	served sync.WaitGroup
	shut   func() // closes every connection, once; done when it returns

	bytes, requests atomic.Int64

	mu       sync.Mutex
	conns    map[io.Closer]struct{} // what http.Server does not close
	failures map[string]error       // by host:port
}

// maxFailures is how many servers a session remembers the failure of.
const maxFailures = 256

func newSession(ctx context.Context, gate *Gate) *Session {
	s := &Session{proxy: gate.proxy, gate: gate, conns: map[io.Closer]struct{}{}, failures: map[string]error{}}
	s.life, s.end = context.WithCancelCause(ctx)
	s.transport = &http.Transport{
		DialContext:            s.dial,
		DisableCompression:     true, // bodies pass as they are
		MaxIdleConnsPerHost:    32,
		IdleConnTimeout:        time.Minute,
		MaxResponseHeaderBytes: 256 << 10,
	}
	quiet := log.New(io.Discard, "", 0)
	s.forward = &httputil.ReverseProxy{
		Rewrite:       rewrite,
		Transport:     s.transport,
		FlushInterval: -1, // event streams
		BufferPool:    &s.proxy.buffers,
		ErrorHandler: func(w http.ResponseWriter, r *http.Request, err error) {
			s.failed(r.Context(), serverOf(r.URL), err)
			refuseRequest(w, err)
		},
		ErrorLog: quiet,
	}
	s.server = &http.Server{
		Handler:           s,
		ReadHeaderTimeout: 30 * time.Second,
		MaxHeaderBytes:    256 << 10,
		BaseContext:       func(net.Listener) context.Context { return s.life },
		ErrorLog:          quiet,
	}
	s.served.Go(func() { _ = s.server.Serve(acceptStopper{gate.listener}) })
	s.shut = sync.OnceFunc(s.closeAll)
	context.AfterFunc(s.life, s.shut)

	return s
}

// Addr is where the session listens, as host:port.
func (s *Session) Addr() string { return s.gate.Addr() }

// Done is closed when the session has ended; Err returns why.
func (s *Session) Done() <-chan struct{} { return s.life.Done() }

// Err is nil while the session is open. Errors: PageError when the page took
// more than the options allow, the cause of Open's ctx otherwise.
func (s *Session) Err() error { return context.Cause(s.life) }

// Failure is why the server at host:port gave no answer, or nil:
// AddressNotAllowed, or the error of resolving, connecting or reading.
func (s *Session) Failure(hostport string) error {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.failures[hostport]
}

// Failures are those of all servers that gave no answer, by host:port.
func (s *Session) Failures() map[string]error {
	s.mu.Lock()
	defer s.mu.Unlock()

	return maps.Clone(s.failures)
}

// Usage is what a session has taken.
type Usage struct {
	// Requests are counted as by ProxyOptions.MaxRequests; Bytes are of both
	// directions.
	Requests, Bytes int64
}

// Usage returns the counters.
func (s *Session) Usage() Usage { return Usage{Requests: s.requests.Load(), Bytes: s.bytes.Load()} }

// End ends the session and all its connections. It keeps the port, and answers
// nobody there, so that no other server of this machine gets it while a browser
// still sends to it what its page asks for.
func (s *Session) End() {
	s.end(net.ErrClosed)
	s.shut()
	s.served.Wait()
}

// Close ends the session and gives its port back. Twice is harmless.
func (s *Session) Close() {
	s.End()
	s.gate.Close()
}

// acceptStopper is a listener that Close keeps from accepting more; its port stays
// taken until the gate is closed.
type acceptStopper struct{ *net.TCPListener }

func (l acceptStopper) Close() error { return l.SetDeadline(time.Unix(1, 0)) }

func (s *Session) closeAll() {
	s.server.Close()
	s.mu.Lock()
	conns := s.conns
	s.conns = nil
	s.mu.Unlock()

	for c := range conns {
		c.Close()
	}
	s.transport.CloseIdleConnections()
}

// dial connects where the policy allows, counts what is carried, and remembers
// who is not reached.
func (s *Session) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := s.proxy.policy.DialContext(ctx, network, address)
	if err != nil {
		s.proxy.count(err)
		s.failed(ctx, address, err)

		return nil, err
	}

	counted := &countedConn{Conn: conn, session: s}
	if !s.track(conn) {
		conn.Close()
		return nil, net.ErrClosed
	}

	return counted, nil
}

// failed remembers the first reason why a server, host:port, gave no answer.
func (s *Session) failed(ctx context.Context, server string, err error) {
	if ctx.Err() != nil {
		return // it is we who gave up
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.failures[server] == nil && len(s.failures) < maxFailures {
		s.failures[server] = err
	}
}

// track has closeAll close c; it is false when that has happened.
func (s *Session) track(c io.Closer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.conns == nil {
		return false
	}
	s.conns[c] = struct{}{}

	return true
}

func (s *Session) untrack(c io.Closer) {
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
}

// countedConn is a connection to a server.
type countedConn struct {
	net.Conn
	session *Session
}

func (c *countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	return n, cmp.Or(c.session.carried(n), err)
}

func (c *countedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	return n, cmp.Or(c.session.carried(n), err)
}

func (c *countedConn) Close() error {
	c.session.untrack(c.Conn)
	return c.Conn.Close()
}

func (c *countedConn) CloseWrite() error { return closeWrite(c.Conn) }

// carried counts, and ends the session that has its fill.
func (s *Session) carried(n int) error {
	most := s.proxy.opts.MaxBytes
	if s.bytes.Add(int64(n)) <= most {
		return nil
	}
	s.end(fault.Errorf(fault.PageError, "the page loads more than %d MiB", most>>20))

	return net.ErrClosed
}
