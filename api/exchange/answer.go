package exchange

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"presswork/api/web"
)

// WriteJSON answers with v as JSON. It panics for a value that JSON cannot hold.
func WriteJSON(ctx *fasthttp.RequestCtx, status int, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		// Bodies are plain structs, which always encode.
		panic(fmt.Errorf("api: encoding %T: %w", v, err))
	}
	SendText(ctx, status, "application/json; charset=utf-8", b)
}

// minPacked is the size from which text is compressed, in bytes. Less fits into one packet anyway.
const minPacked = 1400

// SendText sends text, compressed if the client accepts gzip and the text does not fit into one packet. kind is the
// content type.
func SendText(ctx *fasthttp.RequestCtx, status int, kind string, text []byte) {
	ctx.SetStatusCode(status)
	ctx.SetContentType(kind)

	if len(text) >= minPacked {
		ctx.Response.Header.Add(fiber.HeaderVary, fiber.HeaderAcceptEncoding)

		if web.AcceptsGzip(string(ctx.Request.Header.Peek(fiber.HeaderAcceptEncoding))) {
			ctx.Response.Header.Set(fiber.HeaderContentEncoding, "gzip")
			text = fasthttp.AppendGzipBytesLevel(nil, text, fasthttp.CompressBestSpeed)
		}
	}
	ctx.Response.SetBodyRaw(text)
}

// ClientHas reports whether the client has the version with this ETag, by the If-None-Match header. The answer is then
// 304. The comparison is weak (RFC 9110, 8.8.3.2).
func ClientHas(c *fiber.Ctx, tag string) bool {
	tag = strings.TrimPrefix(tag, "W/")

	for one := range strings.SplitSeq(c.Get(fiber.HeaderIfNoneMatch), ",") {
		one = strings.TrimPrefix(strings.TrimSpace(one), "W/")
		if one == tag || one == "*" {
			return true
		}
	}

	return false
}
