package api

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"presswork/api/conn"
	"presswork/internal/fault"
	"presswork/internal/input"
)

// smallBody is what is read and thrown away to keep a connection usable.
const smallBody = 64 << 10

// firstBuffer is the most that is allocated before a body's bytes are there.
const firstBuffer = 1 << 20

// slowestPiece is how much of a body, or the rest of it, must arrive within each
// ReadTimeout. A client that sends a byte now and then would hold its request for good.
const slowestPiece = 16 << 10

// body reads a request's body as it arrives. It fails with ContentTooLarge after limit
// bytes, and with status 408 when slowestPiece takes longer than wait to arrive.
type body struct {
	ctx  *fasthttp.RequestCtx
	meta *metadata
	left int64
	full error

	wait time.Duration
	// waited is the time spent on the present piece, of which got bytes have arrived.
	waited time.Duration
	got    int
}

// body opens the request's body for up to limit bytes; what names the limit in
// the error.
func (s *Server) body(c *fiber.Ctx, limit int64, what string) (*body, error) {
	ctx := c.Context()
	if encoding := c.Get(fiber.HeaderContentEncoding); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return nil, fault.Errorf(
			fault.UnsupportedMediaType,
			"Content-Encoding %s is not understood; send the body as it is",
			input.Quote(encoding),
		)
	}

	full := fault.Errorf(fault.ContentTooLarge, "%s may have %d bytes", what, limit)
	if int64(ctx.Request.Header.ContentLength()) > limit {
		return nil, full
	}
	meta := metadataOf(ctx)
	meta.held.intake, meta.held.key = s.intake, clientOf(ctx)

	return &body{ctx: ctx, meta: meta, wait: s.ReadTimeout, left: limit, full: full}, nil
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (int, error) {
	stream := b.ctx.Request.BodyStream()
	if stream == nil || b.meta.bodyRead {
		return 0, io.EOF
	}

	began := time.Now()
	if err := b.ctx.Conn().SetReadDeadline(began.Add(b.wait - b.waited)); err != nil {
		return 0, err
	}

	n, err := stream.Read(p)
	if err == io.EOF {
		b.meta.bodyRead = true
	}
	// The time in which the server does something else with the bytes does not count.
	b.waited += time.Since(began)
	if err != nil && err != io.EOF && b.waited >= b.wait {
		return n, b.slow()
	}

	if b.got += n; b.got >= slowestPiece {
		b.waited, b.got = 0, 0
	}

	if b.left -= int64(n); b.left < 0 {
		return 0, b.full
	}

	return n, err
}

// slow returns the error of a body that arrives too slowly.
func (b *body) slow() error {
	return &statusError{
		http.StatusRequestTimeout,
		fault.Errorf(
			fault.InvalidRequest,
			"the body arrived too slowly: %d bytes within %s; allowed: %d or more, or its end",
			b.got,
			b.wait,
			slowestPiece,
		),
	}
}

// all reads the whole body, which counts as held in memory.
func (b *body) all() ([]byte, error) {
	from := b.meta.held.inMemory(b)

	size := b.ctx.Request.Header.ContentLength()
	if size < 0 {
		size = 512
	}
	// What is announced is not what comes: memory follows the bytes. One byte
	// more lets the read that finds the end fit in.
	size = min(size, firstBuffer)

	buf := make([]byte, 0, size+1)
	for {
		if len(buf) == cap(buf) {
			buf = append(buf, 0)[:len(buf)]
		}
		n, err := from.Read(buf[len(buf):cap(buf)])

		buf = buf[:len(buf)+n]
		if errors.Is(err, io.EOF) {
			return buf, nil
		}

		if err != nil {
			return nil, broken(err)
		}
	}
}

// broken returns the public error of a failure to read a body.
func broken(err error) error {
	if fault.CodeOf(err) != fault.Internal {
		return err
	}

	return fault.Errorf(fault.InvalidRequest, "the body ended early or is not encoded as its headers say").
		WithCause(err)
}

// finishBody leaves the connection at the end of the request. The server would
// read the rest of an unread body as the next request, and a close with bytes
// unread can cost the client its answer; so a small rest is read, and a
// connection with a large one is closed after a linger.
func (s *Server) finishBody(ctx *fasthttp.RequestCtx, meta *metadata) {
	stream := ctx.Request.BodyStream()
	if stream == nil || meta.bodyRead {
		return
	}

	if size := ctx.Request.Header.ContentLength(); size >= 0 && size <= smallBody {
		if ctx.Conn().SetReadDeadline(time.Now().Add(s.ReadTimeout)) == nil {
			if _, err := io.Copy(io.Discard, stream); err == nil {
				return
			}
		}
	}
	ctx.SetConnectionClose()
	conn.LingerAtClose(ctx.Conn())
}
