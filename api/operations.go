package api

import (
	"context"
	_ "embed"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"presswork/api/exchange"
	"presswork/api/guide"
	"presswork/api/web"
	"presswork/docs"
	"presswork/internal/chromium/fonts"
	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/internal/ready"
)

// maxMonitorBody is the largest body that net/http handlers such as the monitor receive, in bytes.
const maxMonitorBody = 1 << 20

//go:embed openapi.yaml
var openapiYAML []byte

// healthz answers 200 while the process runs. It checks no other service.
func (s *Server) healthz(c *fiber.Ctx) error {
	exchange.WriteJSON(c.Context(), http.StatusOK, struct {
		Status string `json:"status"`
	}{"ok"})

	return nil
}

// readyz answers 200 when every check succeeds, else 503 with the failed checks. A server that stops is not ready,
// so that load balancers send it no new requests.
func (s *Server) readyz(c *fiber.Ctx) error {
	ok, report := ready.Run(context.Background(), s.Checks)
	report.Log(context.Background(), s.Log)

	status := http.StatusOK
	if !ok || s.streams.Stopping() {
		status = http.StatusServiceUnavailable
		report.Status = "not_ready"
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	exchange.WriteJSON(c.Context(), status, report)

	return nil
}

func (s *Server) openapi(c *fiber.Ctx) error {
	c.Set(fiber.HeaderContentType, "application/yaml; charset=utf-8")
	c.Context().Response.SetBodyRaw(openapiYAML)

	return nil
}

// openapiAsJSON returns the OpenAPI description for tools that do not read YAML.
var openapiAsJSON = sync.OnceValues(func() ([]byte, error) { return yaml.YAMLToJSON(openapiYAML) })

// openapiJSON answers GET /openapi.json.
func (s *Server) openapiJSON(c *fiber.Ctx) error {
	b, err := openapiAsJSON()
	if err != nil {
		return fmt.Errorf("api: openapi.yaml: %w", err)
	}
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	c.Context().Response.SetBodyRaw(b)

	return nil
}

// serveMetrics answers GET /metrics. A metric that fails does not prevent the others.
func (s *Server) serveMetrics() fiber.Handler {
	return s.fiberHandler(
		promhttp.HandlerFor(
			s.Metrics,
			promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, EnableOpenMetrics: true},
		),
	)
}

// serveMonitor returns the handler of the queue's web page; 404 without one.
func (s *Server) serveMonitor() fiber.Handler {
	if s.Monitor == nil {
		return func(c *fiber.Ctx) error { return fiber.ErrNotFound }
	}

	return s.fiberHandler(s.Monitor)
}

// fiberHandler adapts a net/http handler. It reads the body first, within a limit, because the adaptor reads
// without one.
func (s *Server) fiberHandler(h http.Handler) fiber.Handler {
	serve := adaptor.HTTPHandler(h)

	return func(c *fiber.Ctx) error {
		b, err := s.bodies.Open(c, maxMonitorBody, "this request")
		if err != nil {
			return err
		}

		data, err := b.ReadAll()
		if err != nil {
			return err
		}
		c.Context().Request.SetBodyRaw(data)

		return serve(c)
	}
}

func (s *Server) studioPage(c *fiber.Ctx) error { return exchange.SendPage(c, web.Studio()) }

// newGuide reads the description and the manual at its first call.
var newGuide = sync.OnceValues(func() (*guide.Guide, error) { return guide.New(openapiYAML, docs.Pages) })

// docsPage answers a page below /docs.
func (s *Server) docsPage(c *fiber.Ctx) error {
	g, err := newGuide()
	if err != nil {
		return err
	}

	p, ok, err := g.Page(strings.TrimSuffix(c.Path(), "/"))
	if err != nil {
		return err
	}

	if !ok {
		return fiber.ErrNotFound
	}

	return exchange.SendPage(c, web.Docs(p.Title, p.Body))
}

// searchDocs answers GET /docs/search.
func (s *Server) searchDocs(c *fiber.Ctx) error {
	g, err := newGuide()
	if err != nil {
		return err
	}

	p, err := g.Search(c.Query("q"))
	if err != nil {
		return err
	}

	return exchange.SendPage(c, web.Docs(p.Title, p.Body))
}

func (s *Server) previewFrame(c *fiber.Ctx) error { return exchange.SendPage(c, web.Preview()) }

// getAsset sends a file that the pages refer to. An asset of another version is 404, never a page.
func (s *Server) getAsset(c *fiber.Ctx) error {
	a, ok := web.Find(c.Params("name"))
	if !ok {
		return fault.Errorf(fault.NotFound, "there is no file %s; load the page again", input.Quote(c.Params("name")))
	}
	c.Set(fiber.HeaderETag, a.ETag)
	c.Set(fiber.HeaderCacheControl, "public, max-age=31536000, immutable")
	c.Vary(fiber.HeaderAcceptEncoding)
	c.Set("Cross-Origin-Resource-Policy", "same-origin")

	if known := c.Get(fiber.HeaderIfNoneMatch); known != "" && exchange.Matches(known, a.ETag) {
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

// fontsDir is the path of the fonts for previews. facesCSS is the style sheet there that declares them.
const (
	fontsDir = "/fonts/"
	facesCSS = "faces.css"
)

// getFont sends a font of the print, or the style sheet that declares them all. With the same fonts a preview
// breaks lines like the print.
func (s *Server) getFont(c *fiber.Ctx) error {
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
