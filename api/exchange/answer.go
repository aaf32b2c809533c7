package exchange

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"presswork/api/web"
)

// WriteJSON answers with v as JSON.
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

// SendText sends text, compressed if the client accepts gzip.
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

// SendPage sends a page. Browsers revalidate it each time, because it refers to the newest assets. A page with a nonce
// has another tag each time, so a browser never shows it with the policy of an older one.
func SendPage(c *fiber.Ctx, p web.Page) error {
	sum := sha256.Sum256(p.HTML)
	tag := `W/"` + hex.EncodeToString(sum[:12]) + `"`
	c.Set(fiber.HeaderETag, tag)
	c.Set(fiber.HeaderContentSecurityPolicy, p.Policy)
	c.Set(fiber.HeaderCacheControl, "no-cache")
	c.Set("Cross-Origin-Opener-Policy", "same-origin")
	c.Set("Cross-Origin-Resource-Policy", "same-origin")
	c.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(self)")

	if known := c.Get(fiber.HeaderIfNoneMatch); known != "" && Matches(known, tag[len("W/"):]) {
		c.Vary(fiber.HeaderAcceptEncoding)
		c.Status(http.StatusNotModified)

		return nil
	}
	SendText(c.Context(), http.StatusOK, fiber.MIMETextHTMLCharsetUTF8, p.HTML)

	return nil
}

// Matches reports whether an If-None-Match header names the tag. The comparison is weak (RFC 9110, 8.8.3.2).
func Matches(list, tag string) bool {
	for one := range strings.SplitSeq(list, ",") {
		one = strings.TrimPrefix(strings.TrimSpace(one), "W/")
		if one == tag || one == "*" {
			return true
		}
	}

	return false
}
