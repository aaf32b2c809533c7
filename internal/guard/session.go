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

// Session is the proxy of one page. It forwards plain requests and upgrades, and tunnels CONNECT requests. It reuses
// connections to servers. The caller must call Close.
type Session struct {
	proxy     *Proxy
	gate      *Gate // the port that the page uses
	server    *http.Server
	forward   *httputil.ReverseProxy
	transport *http.Transport

	life   context.Context // ends with the session; its cause is the reason
	end    context.CancelCauseFunc
	served sync.WaitGroup
	shut   func() // closes every connection, once

	bytes, requests atomic.Int64

	mu       sync.Mutex
	conns    map[io.Closer]struct{} // connections that http.Server does not close
	failures map[string]error       // by host:port
}

// maxFailures is the number of servers whose failures a session records.
const maxFailures = 256

// newSession starts a session on the gate's port. It ends with ctx.
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
			s.recordFailure(r.Context(), serverOf(r.URL), err)
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

// Addr returns the address on which the session listens, as host:port.
func (s *Session) Addr() string { return s.gate.Addr() }

// Done returns a channel that is closed when the session has ended. Err then returns why.
func (s *Session) Done() <-chan struct{} { return s.life.Done() }

// Err returns nil while the session is open. Errors: PageError when the page exceeded the limits of the options, the
// cause of Open's ctx otherwise.
func (s *Session) Err() error { return context.Cause(s.life) }

// Failure returns why the server at host:port gave no answer, or nil. Errors: AddressNotAllowed, or the error of
// resolving, connecting or reading.
func (s *Session) Failure(hostport string) error {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.failures[hostport]
}

// Failures returns the failures of all servers that gave no answer, by host:port.
func (s *Session) Failures() map[string]error {
	s.mu.Lock()
	defer s.mu.Unlock()

	return maps.Clone(s.failures)
}

// Usage counts what a session has transferred.
type Usage struct {
	// Requests are counted as for ProxyOptions.MaxRequests. Bytes include both directions.
	Requests, Bytes int64
}

// Usage returns the counters.
func (s *Session) Usage() Usage { return Usage{Requests: s.requests.Load(), Bytes: s.bytes.Load()} }

// End ends the session and all its connections. It keeps the port and accepts no connection there. Otherwise another
// server of this machine could get the port while a browser still sends requests to it.
func (s *Session) End() {
	s.end(net.ErrClosed)
	s.shut()
	s.served.Wait()
}

// Close ends the session and frees its port. A second call does nothing.
func (s *Session) Close() {
	s.End()
	s.gate.Close()
}

// acceptStopper is a listener whose Close only stops accepting. The gate frees the port.
type acceptStopper struct{ *net.TCPListener }

// Close makes Accept return an error, by a deadline in the past.
func (l acceptStopper) Close() error { return l.SetDeadline(time.Unix(1, 0)) }

// closeAll closes every connection.
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

// dial connects where the policy allows. The connection counts its bytes. dial records the servers that it does not
// reach.
func (s *Session) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := s.proxy.policy.DialContext(ctx, network, address)
	if err != nil {
		s.proxy.countRefusal(err)
		s.recordFailure(ctx, address, err)

		return nil, err
	}

	counted := &countedConn{Conn: conn, session: s}
	if !s.track(conn) {
		conn.Close()
		return nil, net.ErrClosed
	}

	return counted, nil
}

// recordFailure records the first reason why a server, given as host:port, gave no answer.
func (s *Session) recordFailure(ctx context.Context, server string, err error) {
	if ctx.Err() != nil {
		return // the browser has ended the request, so the server did not fail
	}
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.failures[server] == nil && len(s.failures) < maxFailures {
		s.failures[server] = err
	}
}

// track registers c for closeAll. It returns false if closeAll has already run.
func (s *Session) track(c io.Closer) bool {
	s.mu.Lock()
	defer s.mu.Unlock()

	if s.conns == nil {
		return false
	}
	s.conns[c] = struct{}{}

	return true
}

// untrack removes a connection that is closed.
func (s *Session) untrack(c io.Closer) {
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
}

// countedConn is a connection to a server whose bytes count for the session.
type countedConn struct {
	net.Conn
	session *Session
}

// Read counts the bytes. It fails when the session exceeds its limit.
func (c *countedConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	return n, cmp.Or(c.session.countBytes(n), err)
}

// Write counts the bytes. It fails when the session exceeds its limit.
func (c *countedConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	return n, cmp.Or(c.session.countBytes(n), err)
}

// Close closes the connection.
func (c *countedConn) Close() error {
	c.session.untrack(c.Conn)
	return c.Conn.Close()
}

// CloseWrite closes the connection for writing, so that a tunnel can pass on the end of one direction.
func (c *countedConn) CloseWrite() error { return closeWrite(c.Conn) }

// countBytes counts transferred bytes. It ends the session when they exceed MaxBytes.
func (s *Session) countBytes(n int) error {
	limit := s.proxy.opts.MaxBytes
	if s.bytes.Add(int64(n)) <= limit {
		return nil
	}
	s.end(fault.Errorf(fault.PageError, "the page loads more than %d MiB", limit>>20))

	return net.ErrClosed
}
