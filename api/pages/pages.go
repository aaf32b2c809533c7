// Package pages serves what browsers load: the studio, the operators' page and the manual. It also serves the
// description of the API and the files that the pages refer to.
//
// Handlers return errors of the packages fault and inference; the error handler of package api writes them as the
// answer.
package pages

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
	"github.com/gofiber/fiber/v2"

	"presswork/api/exchange"
	"presswork/api/guide"
	"presswork/api/web"
	"presswork/docs"
	"presswork/internal/chromium/fonts"
	"presswork/internal/fault"
	"presswork/internal/input"
)

// Pages serves the pages.
type Pages struct {
	description []byte
	// asJSON returns the description for tools that do not read YAML.
	asJSON func() ([]byte, error)
	// guide reads the description and the manual at its first call.
	guide func() (*guide.Guide, error)
}

// New returns Pages that show a description of the API, which is OpenAPI in YAML.
func New(description []byte) *Pages {
	return &Pages{
		description: description,
		asJSON:      sync.OnceValues(func() ([]byte, error) { return yaml.YAMLToJSON(description) }),
		guide:       sync.OnceValues(func() (*guide.Guide, error) { return guide.New(description, docs.Pages) }),
	}
}

// Description answers GET /openapi.yaml.
func (p *Pages) Description(c *fiber.Ctx) error {
	c.Set(fiber.HeaderContentType, "application/yaml; charset=utf-8")
	c.Context().Response.SetBodyRaw(p.description)

	return nil
}

// DescriptionJSON answers GET /openapi.json.
func (p *Pages) DescriptionJSON(c *fiber.Ctx) error {
	b, err := p.asJSON()
	if err != nil {
		return fmt.Errorf("api: openapi.yaml: %w", err)
	}
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	c.Context().Response.SetBodyRaw(b)

	return nil
}

// Studio answers GET /.
func (p *Pages) Studio(c *fiber.Ctx) error { return sendPage(c, web.Studio()) }

// Docs answers a page below /docs. Errors: fiber.ErrNotFound for a page that does not exist.
func (p *Pages) Docs(c *fiber.Ctx) error {
	g, err := p.guide()
	if err != nil {
		return err
	}

	page, ok, err := g.Page(strings.TrimSuffix(c.Path(), "/"))
	if err != nil {
		return err
	}

	if !ok {
		return fiber.ErrNotFound
	}

	return sendPage(c, web.Docs(page.Title, page.Body))
}

// SearchDocs answers GET /docs/search with the parts of the guide that have the words of ?q=.
func (p *Pages) SearchDocs(c *fiber.Ctx) error {
	g, err := p.guide()
	if err != nil {
		return err
	}

	page, err := g.Search(c.Query("q"))
	if err != nil {
		return err
	}

	return sendPage(c, web.Docs(page.Title, page.Body))
}

// Preview answers GET /preview, the frame in which the studio shows a document.
func (p *Pages) Preview(c *fiber.Ctx) error { return sendPage(c, web.Preview()) }

// Asset sends a file that the pages refer to. An asset of another version is 404, never a page.
func (p *Pages) Asset(c *fiber.Ctx) error {
	a, ok := web.Find(c.Params("name"))
	if !ok {
		return fault.Errorf(fault.NotFound, "there is no file %s; load the page again", input.Quote(c.Params("name")))
	}
	c.Set(fiber.HeaderETag, a.ETag)
	c.Set(fiber.HeaderCacheControl, "public, max-age=31536000, immutable")
	c.Vary(fiber.HeaderAcceptEncoding)
	c.Set("Cross-Origin-Resource-Policy", "same-origin")

	if exchange.ClientHas(c, a.ETag) {
		c.Status(http.StatusNotModified)
		return nil
	}

	body := a.Body
	if web.AcceptsGzip(c.Get(fiber.HeaderAcceptEncoding)) {
		if packed := a.Gzip(); packed != nil {
			c.Set(fiber.HeaderContentEncoding, "gzip")
			body = packed
		}
	}
	c.Set(fiber.HeaderContentType, a.ContentType)
	c.Context().Response.SetBodyRaw(body)

	return nil
}

// FontsDir is the path of the fonts for previews, facesCSS the style sheet there that declares them.
const (
	FontsDir = "/fonts/"
	facesCSS = "faces.css"
)

// Font sends a font of the print, or the style sheet that declares them all. With the same fonts a preview
// breaks lines like the print.
func (p *Pages) Font(c *fiber.Ctx) error {
	name := c.Params("name")
	c.Set("Cross-Origin-Resource-Policy", "same-origin")

	if name == facesCSS {
		// A new version may have other fonts.
		c.Set(fiber.HeaderCacheControl, "no-cache")
		exchange.SendText(c.Context(), http.StatusOK, "text/css; charset=utf-8", []byte(fonts.Serve().Stylesheet))

		return nil
	}

	face, ok := fonts.Serve().File(name)
	if !ok {
		return fault.Errorf(fault.NotFound, "there is no font %s", input.Quote(name))
	}
	c.Set(fiber.HeaderCacheControl, "public, max-age=31536000, immutable")
	c.Set(fiber.HeaderContentType, "font/woff2")
	c.Context().Response.SetBodyRaw(face)

	return nil
}

// Admin answers GET /admin. The page itself holds no data, so it needs no key.
func (p *Pages) Admin(c *fiber.Ctx) error { return sendPage(c, web.Admin()) }

// sendPage sends a page. Browsers revalidate it each time, because it refers to the newest assets. A page with a nonce
// has another tag each time, so a browser never shows it with the policy of an older one.
func sendPage(c *fiber.Ctx, p web.Page) error {
	sum := sha256.Sum256(p.HTML)
	tag := `W/"` + hex.EncodeToString(sum[:12]) + `"`
	c.Set(fiber.HeaderETag, tag)
	c.Set(fiber.HeaderContentSecurityPolicy, p.Policy)
	c.Set(fiber.HeaderCacheControl, "no-cache")
	c.Set("Cross-Origin-Opener-Policy", "same-origin")
	c.Set("Cross-Origin-Resource-Policy", "same-origin")
	c.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(self)")

	if exchange.ClientHas(c, tag) {
		c.Vary(fiber.HeaderAcceptEncoding)
		c.Status(http.StatusNotModified)

		return nil
	}
	exchange.SendText(c.Context(), http.StatusOK, fiber.MIMETextHTMLCharsetUTF8, p.HTML)

	return nil
}
