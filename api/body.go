package api

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"presswork/api/conn"
	"presswork/api/upload"
	"presswork/internal/fault"
	"presswork/internal/input"
)

// smallBody is the largest unread body, in bytes, that the server reads and discards to keep the connection usable.
const smallBody = 64 << 10

// firstBuffer is how many bytes are allocated, at most, before any byte of a body has arrived.
const firstBuffer = 1 << 20

// minProgress is how many bytes of a body must arrive within each ReadTimeout, unless the body ends first. Without
// this minimum a client could keep a request open forever by sending one byte at a time.
const minProgress = 16 << 10

// body reads a request's body as it arrives. It fails with ContentTooLarge after its limit, and with status 408 when
// the next minProgress bytes take longer than wait.
type body struct {
	ctx  *fasthttp.RequestCtx
	meta *metadata
	// left is how many bytes may still arrive, tooLarge the error after them.
	left     int64
	tooLarge error

	wait time.Duration // the longest wait for minProgress bytes
	// waited is the time spent waiting since minProgress bytes last arrived, got the bytes since then.
	waited time.Duration
	got    int
}

// body opens the request's body for up to limit bytes. what names the body in the error ContentTooLarge. Other errors:
// UnsupportedMediaType for a compressed body.
func (s *Server) body(c *fiber.Ctx, limit int64, what string) (*body, error) {
	ctx := c.Context()
	if encoding := c.Get(fiber.HeaderContentEncoding); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return nil, fault.Errorf(
			fault.UnsupportedMediaType,
			"Content-Encoding %s is not supported; send the body without compression",
			input.Quote(encoding),
		)
	}

	tooLarge := fault.Errorf(fault.ContentTooLarge, "%s is too large; the limit is %s", what, sizeText(limit))
	if int64(ctx.Request.Header.ContentLength()) > limit {
		return nil, tooLarge
	}
	meta := metadataOf(ctx)
	meta.held = s.intake.Hold(clientOf(ctx))

	return &body{ctx: ctx, meta: meta, wait: s.ReadTimeout, left: limit, tooLarge: tooLarge}, nil
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
	// The time in which the server processes the bytes does not count.
	b.waited += time.Since(began)
	if err != nil && err != io.EOF && b.waited >= b.wait {
		return n, b.tooSlow()
	}

	if b.got += n; b.got >= minProgress {
		b.waited, b.got = 0, 0
	}

	if b.left -= int64(n); b.left < 0 {
		return 0, b.tooLarge
	}

	return n, err
}

// sizeText returns a number of bytes for a message, in MiB where it is a multiple of them.
func sizeText(n int64) string {
	if n >= 1<<20 && n%(1<<20) == 0 {
		return fmt.Sprintf("%d MiB", n>>20)
	}

	return fmt.Sprintf("%d bytes", n)
}

// tooSlow returns the error for a body that arrives too slowly.
func (b *body) tooSlow() error {
	return &statusError{
		http.StatusRequestTimeout,
		fault.Errorf(
			fault.InvalidRequest,
			"the body arrived too slowly: %d bytes within %s; allowed: %d or more, or its end",
			b.got,
			b.wait,
			minProgress,
		),
	}
}

// readAll returns the whole body and counts it as held in memory.
func (b *body) readAll() ([]byte, error) {
	from := b.meta.held.InMemory(b)

	size := b.ctx.Request.Header.ContentLength()
	if size < 0 {
		size = 512
	}
	// A client may announce more than it sends, so the buffer grows with the bytes. The read that finds the end needs
	// one byte more.
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
			return nil, upload.Broken(err)
		}
	}
}

// finishBody moves the connection to the end of the request. The server would read the rest of an unread body as the
// next request, and a close with unread bytes can destroy the answer. So finishBody reads a small rest, and closes a
// connection with a large rest after a linger.
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
