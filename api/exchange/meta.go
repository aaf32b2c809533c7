// Package exchange has what every handler of the API needs of one request and its answer:
//   - Begin makes the Meta of a request: its id, trace, client and caller. Of returns it everywhere.
//   - Bodies reads the body within limits of size and time.
//   - EachQuery, QueryBool, OneOf and IdempotencyKey read parameters and headers.
//   - WriteJSON and SendText write answers. SendError writes errors; StatusOf has their HTTP status.
//   - CallContext bounds a call to the queue.
package exchange

import (
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/oklog/ulid/v2"
	"github.com/valyala/fasthttp"
	"go.opentelemetry.io/otel/trace"

	"presswork/api/access"
	"presswork/api/upload"
	"presswork/internal/inference/meter"
)

// Meta holds what the server knows about a request besides its body.
type Meta struct {
	// ID is the X-Request-Id, Trace the traceparent.
	ID, Trace string
	// Method is the method that the client sent, even if no route supports it.
	Method string
	// Route is the pattern of the matching route; "" for none.
	Route string
	// Peer is the address at the other end of the connection.
	Peer netip.Addr
	// Site is the host that the client sent the request to.
	Site access.Site
	// IP is the address of the client, or of the last proxy that is not trusted.
	IP netip.Addr
	// Caller is who sent the request, Began when.
	Caller access.Caller
	Began  time.Time
	// LimitsSent reports whether the x-ratelimit headers of the caller are set.
	LimitsSent bool
	// Held counts the bytes that the body takes from the node's intake.
	Held upload.Hold
	// Grant is the request's share of its key's limits. It is nil without limits, and after a completion has taken
	// it over.
	Grant *meter.Grant
	// Span is the span of the request.
	Span trace.Span

	// bodyRead reports whether the body was read to its end.
	bodyRead bool
}

// metaKey is the key of the Meta among the user values of a request.
type metaKey struct{}

// Begin returns the Meta of a request that has just begun, and stores it in ctx for Of. The caller of the request
// is not known yet.
func Begin(ctx *fasthttp.RequestCtx, proxies access.Proxies) *Meta {
	h := &ctx.Request.Header
	m := &Meta{
		ID:     requestID(string(h.Peek("X-Request-Id"))),
		Trace:  traceParent(string(h.Peek("Traceparent"))),
		Method: string(h.Method()),
		Began:  time.Now(),
	}

	from := access.Forwarded{
		Host:          string(h.Host()),
		ForwardedHost: string(h.Peek("X-Forwarded-Host")),
		ForwardedFor:  string(h.Peek("X-Forwarded-For")),
	}
	if tcp, ok := ctx.RemoteAddr().(*net.TCPAddr); ok {
		from.Peer = tcp.AddrPort().Addr().Unmap()
	}
	m.Peer = from.Peer
	m.IP, m.Site = proxies.Client(from)
	ctx.SetUserValue(metaKey{}, m)

	return m
}

// Of returns the Meta that Begin has stored. It panics for a request without one.
func Of(ctx *fasthttp.RequestCtx) *Meta { return ctx.UserValue(metaKey{}).(*Meta) }

// SetHeaders sets the headers of every answer.
func SetHeaders(ctx *fasthttp.RequestCtx, meta *Meta) {
	h := &ctx.Response.Header
	h.Set("X-Request-Id", meta.ID)

	if MessagesClient(ctx) {
		h.Set("Request-Id", meta.ID)
	}
	h.Set("X-Content-Type-Options", "nosniff")
	// URLs hold tokens, which must not leak to other sites through links.
	h.Set("Referrer-Policy", "no-referrer")
}

// IsMethod reports whether m is a method that Fiber knows.
func IsMethod(m string) bool {
	switch m {
	case fiber.MethodGet, fiber.MethodHead, fiber.MethodPost, fiber.MethodPut, fiber.MethodDelete,
		fiber.MethodConnect, fiber.MethodOptions, fiber.MethodTrace, fiber.MethodPatch:
		return true
	}

	return false
}

// requestID returns the client's request id when it is short and plain, else a new one.
func requestID(incoming string) string {
	const maxLength = 128

	valid := incoming != "" && len(incoming) <= maxLength && strings.IndexFunc(incoming, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.:", r))
	}) < 0
	if valid {
		return incoming
	}

	return "req_" + strings.ToLower(ulid.Make().String())
}

// ClientOf returns the name under which limits count a request: the owner, or the address of a client without a key.
func ClientOf(ctx *fasthttp.RequestCtx) string {
	meta := Of(ctx)
	if meta.Caller.Name != "" {
		return meta.Caller.Name
	}

	return meta.IP.String()
}
