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

// ServeHTTP serves the browser: CONNECT, and requests in absolute form.
func (s *Session) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !s.admit(1) {
		return
	}

	switch {
	case r.Method == http.MethodConnect:
		s.tunnel(w, r)
	case r.URL.Scheme == "http" && r.URL.Host != "" && r.URL.User == nil:
		// An answer without a content type stays without one: net/http would guess
		// it, and what type a page may be taken for is the browser's decision.
		w.Header()["Content-Type"] = nil
		s.forward.ServeHTTP(w, r)
	default:
		http.Error(w, "this is a proxy for http and CONNECT", http.StatusBadRequest)
	}
}

// admit counts requests, and ends the session that has its fill.
func (s *Session) admit(n int64) bool {
	most := s.proxy.opts.MaxRequests
	if s.requests.Add(n) <= most {
		return true
	}
	s.end(fault.Errorf(fault.PageError, "the page makes more than %d requests", most))

	return false
}

// serverOf is host:port of an http URL.
func serverOf(u *url.URL) string {
	return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "80"))
}

// rewrite makes the request a server gets. The headers of this hop are gone
// already.
func rewrite(r *httputil.ProxyRequest) {
	r.Out.Host = r.In.URL.Host
	// Not as httputil cleans it: the browser's words pass as they are, and so do
	// headers a caller set for a site that expects a proxy before it.
	r.Out.URL.RawQuery = r.In.URL.RawQuery
	for _, name := range []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"} {
		if values, ok := r.In.Header[name]; ok {
			r.Out.Header[name] = values
		}
	}
}

// refuseRequest answers for a server that was not reached, without a body: the
// answer may be shown in a frame of the page.
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

// tunnel joins the browser with a server, whatever they speak.
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
		s.pour(server, client, &countedRequests{Reader: fromClient(client, early.Reader), session: s})
	})
	s.pour(client, server, server)
	upwards.Wait()
}

// fromClient reads what came along with the CONNECT, then the connection.
func fromClient(client net.Conn, early *bufio.Reader) io.Reader {
	if n := early.Buffered(); n > 0 {
		head, _ := early.Peek(n) // cannot fail: it is there
		return io.MultiReader(bytes.NewReader(head), client)
	}

	return client
}

// pour copies what from sends until it ends, and shows to that nothing more
// comes. When to is gone, from is of no use either.
func (s *Session) pour(to, from net.Conn, sent io.Reader) {
	buf := s.proxy.buffers.Get()
	defer s.proxy.buffers.Put(buf)
	// Wrapped, so that neither side's own copying, which counts nothing, is used.
	_, err := io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{sent}, buf)
	if err != nil {
		from.Close()
	}
	_ = closeWrite(to)
}

func closeWrite(c net.Conn) error {
	if half, ok := c.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}

	return c.Close()
}

// buffers lends what bodies are copied through.
type buffers struct{ pool sync.Pool }

const bufferBytes = 32 << 10

func (b *buffers) Get() []byte {
	if p, ok := b.pool.Get().(*[bufferBytes]byte); ok {
		return p[:]
	}

	return make([]byte, bufferBytes)
}

func (b *buffers) Put(p []byte) { b.pool.Put((*[bufferBytes]byte)(p)) }
