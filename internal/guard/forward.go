package guard

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"

	"presswork/internal/fault"
)

// ServeHTTP serves the browser's CONNECT requests and its requests in absolute form.
func (s *Session) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.countRequests(1) {
		return
	}

	switch {
	case r.Method == http.MethodConnect:
		s.tunnel(w, r)
	case r.URL.Scheme == "http" && r.URL.Host != "" && r.URL.User == nil:
		// nil keeps net/http from guessing the content type of an answer without one. The browser has rules of its own
		// for that.
		w.Header()["Content-Type"] = nil
		s.forward.ServeHTTP(w, r)
	default:
		http.Error(w, "this is a proxy for http and CONNECT", http.StatusBadRequest)
	}
}

// countRequests counts n requests. It ends the session when they exceed MaxRequests.
func (s *Session) countRequests(n int64) bool {
	limit := s.proxy.opts.MaxRequests
	if s.requests.Add(n) <= limit {
		return true
	}
	s.end(fault.Errorf(fault.PageError, "the page makes more than %d requests", limit))

	return false
}

// serverOf returns host:port of an http URL.
func serverOf(u *url.URL) string {
	return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "80"))
}

// rewrite prepares the request to a server. httputil has removed the hop-by-hop headers already.
func rewrite(r *httputil.ProxyRequest) {
	r.Out.Host = r.In.URL.Host
	// Undo the cleaning of httputil. The query must stay as the browser sends it. A caller may have set the headers for
	// a site that expects a proxy in front of it.
	r.Out.URL.RawQuery = r.In.URL.RawQuery
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if values, ok := r.In.Header[name]; ok {
			r.Out.Header[name] = values
		}
	}
}

// refuseRequest answers for a server that was not reached. The answer has no body, because the page may show it in a
// frame.
func refuseRequest(w http.ResponseWriter, err error) {
	status := http.StatusBadGateway

	var slow net.Error
	switch {
	case fault.CodeOf(err) == fault.AddressNotAllowed:
		status = http.StatusForbidden
	case errors.As(err, &slow) && slow.Timeout(), errors.Is(err, context.DeadlineExceeded):
		status = http.StatusGatewayTimeout
	}
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
}

// tunnel connects the browser with a server for any protocol.
func (s *Session) tunnel(w http.ResponseWriter, r *http.Request) {
	server, err := s.dial(r.Context(), "tcp", r.Host)
	if err != nil {
		refuseRequest(w, err)
		return
	}
	defer server.Close()

	client, early, err := http.NewResponseController(w).Hijack()
	if err != nil {
		refuseRequest(w, err)
		return
	}
	defer client.Close()

	if !s.track(client) {
		return
	}
	defer s.untrack(client)

	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	var upwards sync.WaitGroup
	upwards.Go(func() {
		s.copyAndClose(server, client, &countedRequests{Reader: fromClient(client, early.Reader), session: s})
	})
	s.copyAndClose(client, server, server)
	upwards.Wait()
}

// fromClient returns a reader of the bytes that followed the CONNECT request, and then of the connection.
func fromClient(client net.Conn, early *bufio.Reader) io.Reader {
	if n := early.Buffered(); n > 0 {
		head, _ := early.Peek(n) // cannot fail: the bytes are buffered
		return io.MultiReader(bytes.NewReader(head), client)
	}

	return client
}

// copyAndClose copies sent to a connection and then closes that connection for writing. If the copy fails, it closes
// from as well, so that the other direction ends.
func (s *Session) copyAndClose(to, from net.Conn, sent io.Reader) {
	buf := s.proxy.buffers.Get()
	defer s.proxy.buffers.Put(buf)
	// The wrappers hide ReadFrom and WriteTo, which would bypass the counting.
	_, err := io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{sent}, buf)
	if err != nil {
		from.Close()
	}
	_ = closeWrite(to)
}

// closeWrite closes a connection for writing, or entirely if it cannot be half-closed.
func closeWrite(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}

	return c.Close()
}

// buffers is a pool of buffers for copying bodies.
type buffers struct{ pool sync.Pool }

// bufferBytes is the size of the buffers through which the proxy copies data.
const bufferBytes = 32 << 10

// Get implements httputil.BufferPool.
func (b *buffers) Get() []byte {
	if p, ok := b.pool.Get().(*[bufferBytes]byte); ok {
		return p[:]
	}

	return make([]byte, bufferBytes)
}

// Put implements httputil.BufferPool.
func (b *buffers) Put(p []byte) { b.pool.Put((*[bufferBytes]byte)(p)) }
