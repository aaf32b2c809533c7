package exchange

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

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

// minProgress is how many bytes of a body must arrive within each Timeout, unless the body ends first. Without
// this minimum a client could keep a request open forever by sending one byte at a time.
const minProgress = 16 << 10

// Bodies opens the bodies of requests.
type Bodies struct {
	// Intake counts the bytes that the bodies hold. Mandatory.
	Intake *upload.Intake
	// Timeout is the longest wait for each 16 KiB of a body.
	Timeout time.Duration
}

// Body reads a request's body as it arrives. It fails with ContentTooLarge after its limit, and with status 408 when
// the next minProgress bytes take longer than wait.
type Body struct {
	ctx  *fasthttp.RequestCtx
	meta *Meta
	// left is how many bytes may still arrive, tooLarge the error after them.
	left     int64
	tooLarge error

	wait time.Duration // the longest wait for minProgress bytes
	// waited is the time spent waiting since minProgress bytes last arrived, got the bytes since then.
	waited time.Duration
	got    int
}

// Open opens the request's body for up to limit bytes. what names the body in the error ContentTooLarge. Other errors:
// UnsupportedMediaType for a compressed body.
func (o Bodies) Open(c *fiber.Ctx, limit int64, what string) (*Body, error) {
	ctx := c.Context()
	if encoding := c.Get(fiber.HeaderContentEncoding); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return nil, fault.Errorf(fault.UnsupportedMediaType,
			"Content-Encoding %s is not supported; send the body without compression", input.Quote(encoding))
	}

	tooLarge := fault.Errorf(fault.ContentTooLarge, "%s is too large; the limit is %s", what, sizeText(limit))
	if int64(ctx.Request.Header.ContentLength()) > limit {
		return nil, tooLarge
	}
	meta := Of(ctx)
	meta.Held = o.Intake.Hold(ClientOf(ctx))

	return &Body{ctx: ctx, meta: meta, wait: o.Timeout, left: limit, tooLarge: tooLarge}, nil
}

// Read implements io.Reader.
func (b *Body) Read(p []byte) (int, error) {
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
func (b *Body) tooSlow() error {
	return &StatusError{
		Status: http.StatusRequestTimeout,
		Err: fault.Errorf(fault.InvalidRequest,
			"the body arrived too slowly: %d bytes within %s; allowed: %d or more, or its end",
			b.got, b.wait, minProgress),
	}
}

// Held returns the count of the bytes that the body holds.
func (b *Body) Held() *upload.Hold { return &b.meta.Held }

// ReadAll returns the whole body and counts it as held in memory. Errors: ContentTooLarge, status 408 for a body
// that arrives too slowly, those of upload.Broken and of upload.Hold.
func (b *Body) ReadAll() ([]byte, error) {
	from := b.meta.Held.InMemory(b)

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

// Finish moves the connection to the end of the request. The server would read the rest of an unread body as the
// next request, and a close with unread bytes can destroy the answer. So Finish reads a small rest, and closes a
// connection with a large rest after a linger.
func (o Bodies) Finish(ctx *fasthttp.RequestCtx) {
	stream := ctx.Request.BodyStream()
	if stream == nil || Of(ctx).bodyRead {
		return
	}

	if size := ctx.Request.Header.ContentLength(); size >= 0 && size <= smallBody {
		if ctx.Conn().SetReadDeadline(time.Now().Add(o.Timeout)) == nil {
			if _, err := io.Copy(io.Discard, stream); err == nil {
				return
			}
		}
	}
	ctx.SetConnectionClose()
	conn.LingerAtClose(ctx.Conn())
}

const (
	// bytesPerEscape is how many bytes JSON needs, at most, for one byte of content (\u0000).
	bytesPerEscape = 6
	// jsonOverhead is how many bytes a JSON body may have in addition to the content.
	jsonOverhead = 1 << 20
)

// JSONLimit returns how many bytes a JSON body may have whose text may have content bytes.
func JSONLimit(content int64) int64 { return content*bytesPerEscape + jsonOverhead }

// Decode reads a JSON object of at most limit bytes into a struct. what names the body in the error
// ContentTooLarge. Other errors: those of Body.ReadAll and of input.DecodeJSON, ContentNotUTF8.
func (o Bodies) Decode(c *fiber.Ctx, limit int64, what string, into any) error {
	data, err := o.readText(c, limit, what)
	if err != nil {
		return err
	}

	return input.DecodeJSON(data, into, "")
}

// ReadJSON reads a body of at most limit bytes whose Content-Type must be JSON. what names the body in the error
// ContentTooLarge. Other errors: UnsupportedMediaType, those of Body.ReadAll, ContentNotUTF8.
func (o Bodies) ReadJSON(c *fiber.Ctx, limit int64, what string) ([]byte, error) {
	media, _, _ := strings.Cut(c.Get(fiber.HeaderContentType), ";")
	if !strings.EqualFold(strings.TrimSpace(media), fiber.MIMEApplicationJSON) {
		return nil, fault.Errorf(fault.UnsupportedMediaType, "Content-Type is %s; allowed: application/json",
			input.Quote(c.Get(fiber.HeaderContentType)))
	}

	return o.readText(c, limit, what)
}

// readText reads a body of JSON of at most limit bytes. It drops a byte order mark, which Windows programs write
// (RFC 8259, 8.1). Errors: ContentTooLarge, ContentNotUTF8.
func (o Bodies) readText(c *fiber.Ctx, limit int64, what string) ([]byte, error) {
	b, err := o.Open(c, limit, what)
	if err != nil {
		return nil, err
	}

	data, err := b.ReadAll()
	if err != nil {
		return nil, err
	}
	// encoding/json would replace invalid bytes with U+FFFD.
	if !utf8.Valid(data) {
		return nil, fault.Errorf(fault.ContentNotUTF8, "the body is not valid UTF-8")
	}

	return bytes.TrimPrefix(data, []byte("\ufeff")), nil
}
