package api

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"

	"presswork/api/conn"
	"presswork/api/exchange"
	"presswork/api/metrics"
	"presswork/internal/mcp"
)

// serveMCP answers POST /mcp: a message of the Model Context Protocol. The answer is a stream of events while a tool
// runs.
func (s *Server) serveMCP(c *fiber.Ctx) error {
	meta := exchange.Of(c.Context())
	// The protocol asks for this check even with keys: a page must not use a key that it was given for another server.
	if origin := c.Get(fiber.HeaderOrigin); origin != "" {
		if err := s.origins.Check(origin, meta.Site); err != nil {
			return err
		}
	}

	b, err := s.bodies.Open(c, exchange.JSONLimit(s.MaxContentBytes), "the message")
	if err != nil {
		return err
	}

	data, err := b.ReadAll()
	if err != nil {
		return err
	}

	running, leave, err := s.completions.Join(metrics.MCP)
	if err != nil {
		return err
	}
	ctx, unwatch := conn.WhileConnected(running, c.Context().Conn(), exchange.ErrClientLeft)
	tools := &mcpTools{Server: s, meta: meta, client: exchange.ClientOf(c.Context()), base: s.baseURL(c, meta)}

	req, err := mcpRequest(mcp.With(ctx, tools), data, c.GetReqHeaders())
	if err != nil {
		unwatch()
		leave()

		return err
	}
	answer := newRelayed()

	go func() {
		defer leave()
		defer unwatch()

		s.mcp.ServeHTTP(answer, req)
		answer.end()
	}()
	// The status and the headers are known when the handler writes for the first time.
	<-answer.begun

	for name, values := range answer.header {
		for _, value := range values {
			c.Append(name, value)
		}
	}
	c.Status(answer.status)
	exchange.SetUnbuffered(c)
	c.Context().SetBodyStreamWriter(func(w *bufio.Writer) { answer.copyTo(w, unwatch) })

	return nil
}

// mcpRequest returns a message as a request of net/http, with the headers that the protocol uses. All others, such as
// the key, are left out.
func mcpRequest(ctx context.Context, message []byte, headers map[string][]string) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "/mcp", bytes.NewReader(message))
	if err != nil {
		return nil, err
	}

	for name, values := range headers {
		if canonical := http.CanonicalHeaderKey(name); strings.HasPrefix(canonical, "Mcp-") || canonical == "Accept" ||
			canonical == "Content-Type" {
			req.Header[canonical] = values
		}
	}

	// A client without an Accept header takes everything (RFC 9110, 12.5.1). The SDK rejects it.
	if req.Header.Get("Accept") == "" {
		req.Header.Set("Accept", "*/*")
	}

	return req, nil
}

// baseURL returns the address of this server as the client knows it, without a path.
func (s *Server) baseURL(c *fiber.Ctx, meta *exchange.Meta) string {
	scheme := "http"
	if s.TLSCert != "" || s.proxies.Secure(meta.Peer, c.Get("X-Forwarded-Proto")) {
		scheme = "https"
	}

	return scheme + "://" + string(meta.Site)
}

// relayed is the answer of a net/http handler, which runs in another goroutine than the server that sends the answer.
// fasthttp's own adaptor sends nothing before the handler returns.
type relayed struct {
	header http.Header
	status int
	// begun is closed when header and status are set.
	begun chan struct{}
	once  sync.Once
	// read and write are the ends of a pipe without a buffer: the handler waits until its bytes are sent.
	read  *io.PipeReader
	write *io.PipeWriter
}

// newRelayed returns an answer that has not begun.
func newRelayed() *relayed {
	read, write := io.Pipe()
	return &relayed{header: http.Header{}, status: http.StatusOK, begun: make(chan struct{}), read: read, write: write}
}

// Header implements http.ResponseWriter.
func (r *relayed) Header() http.Header {
	select {
	case <-r.begun:
		return http.Header{} // the headers are sent, and the sender reads them
	default:
		return r.header
	}
}

// WriteHeader implements http.ResponseWriter.
func (r *relayed) WriteHeader(status int) {
	r.once.Do(func() {
		r.status = status
		close(r.begun)
	})
}

// Write implements http.ResponseWriter.
func (r *relayed) Write(p []byte) (int, error) {
	r.WriteHeader(http.StatusOK)
	return r.write.Write(p)
}

// Flush implements http.Flusher. Writes are never buffered here.
func (r *relayed) Flush() { r.WriteHeader(http.StatusOK) }

// end completes the answer, with an empty body if the handler has written nothing.
func (r *relayed) end() {
	r.WriteHeader(http.StatusOK)
	_ = r.write.Close() // it returns no error
}

// copyTo sends the body as it is written. When the client has left it calls left and drops the rest.
func (r *relayed) copyTo(w *bufio.Writer, left context.CancelFunc) {
	buf := make([]byte, 32<<10)

	for {
		n, err := r.read.Read(buf)
		if n > 0 {
			if _, e := w.Write(buf[:n]); e != nil || w.Flush() != nil {
				left()
				_ = r.read.CloseWithError(exchange.ErrClientLeft)

				return
			}
		}

		if err != nil {
			return
		}
	}
}
