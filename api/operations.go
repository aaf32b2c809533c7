package api

import (
	"context"
	_ "embed"
	"fmt"
	"net/http"
	"sync"

	"github.com/goccy/go-yaml"
	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"presswork/api/web"
	"presswork/internal/chromium/fonts"
	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/internal/ready"
)

// maxMonitorBody is the longest body the monitor gets, in bytes.
const maxMonitorBody = 1 << 20

//go:embed openapi.yaml
var openapiYAML []byte

// healthz reports whether the process is alive, and asks nobody else.
func (s *Server) healthz(c *fiber.Ctx) error {
	writeJSON(c.Context(), http.StatusOK, struct {
		Status string `json:"status"`
	}{"ok"})

	return nil
}

func (s *Server) readyz(c *fiber.Ctx) error {
	ok, report := ready.Run(context.Background(), s.Checks)
	report.Log(context.Background(), s.Log)

	status := http.StatusOK
	if !ok || s.streams.Stopping() {
		status = http.StatusServiceUnavailable
		report.Status = "not_ready"
	}
	c.Set(fiber.HeaderCacheControl, "no-store")
	writeJSON(c.Context(), status, report)

	return nil
}

func (s *Server) openapi(c *fiber.Ctx) error {
	c.Set(fiber.HeaderContentType, "application/yaml; charset=utf-8")
	c.Context().Response.SetBodyRaw(openapiYAML)

	return nil
}

// openapiAsJSON is the description for tools that read no YAML.
var openapiAsJSON = sync.OnceValues(func() ([]byte, error) { return yaml.YAMLToJSON(openapiYAML) })

func (s *Server) openapiJSON(c *fiber.Ctx) error {
	b, err := openapiAsJSON()
	if err != nil {
		return fmt.Errorf("api: openapi.yaml: %w", err)
	}
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	c.Context().Response.SetBodyRaw(b)

	return nil
}

func (s *Server) serveMetrics() fiber.Handler {
	return s.foreign(
		promhttp.HandlerFor(
			s.Metrics,
			promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, EnableOpenMetrics: true},
		),
	)
}

func (s *Server) serveMonitor() fiber.Handler {
	if s.Monitor == nil {
		return func(c *fiber.Ctx) error { return fiber.ErrNotFound }
	}

	return s.foreign(s.Monitor)
}

// foreign serves a net/http handler. The adaptor reads bodies without a limit,
// so the body is read here first.
func (s *Server) foreign(h http.Handler) fiber.Handler {
	serve := adaptor.HTTPHandler(h)

	return func(c *fiber.Ctx) error {
		b, err := s.body(c, maxMonitorBody, "this request")
		if err != nil {
			return err
		}

		data, err := b.all()
		if err != nil {
			return err
		}
		c.Context().Request.SetBodyRaw(data)

		return serve(c)
	}
}

func (s *Server) studio(c *fiber.Ctx) error { return sendPage(c, web.Studio()) }

func (s *Server) docs(c *fiber.Ctx) error { return sendPage(c, web.Docs()) }

func (s *Server) previewFrame(c *fiber.Ctx) error { return sendPage(c, web.Preview()) }

// sendPage sends a page that names the newest assets, so that it is asked for anew
// each time.
func sendPage(c *fiber.Ctx, p web.Page) error {
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	c.Set(fiber.HeaderContentSecurityPolicy, p.Policy)
	c.Set(fiber.HeaderCacheControl, "no-cache")
	c.Set("Cross-Origin-Opener-Policy", "same-origin")
	c.Set("Cross-Origin-Resource-Policy", "same-origin")
	c.Set("Permissions-Policy", "camera=(), geolocation=(), microphone=(self)")
	c.Context().Response.SetBodyRaw(p.HTML)

	return nil
}

// asset sends a file of the pages. One that is of another version of the program is
// 404, never a page.
func (s *Server) asset(c *fiber.Ctx) error {
	a, ok := web.Find(c.Params("name"))
	if !ok {
		return fault.Errorf(fault.NotFound, "there is no file %s; load the page again", input.Quote(c.Params("name")))
	}
	c.Set(fiber.HeaderETag, a.ETag)
	c.Set(fiber.HeaderCacheControl, "public, max-age=31536000, immutable")
	c.Vary(fiber.HeaderAcceptEncoding)
	c.Set("Cross-Origin-Resource-Policy", "same-origin")

	if known := c.Get(fiber.HeaderIfNoneMatch); known != "" && matches(known, a.ETag) {
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

// fontsDir is where previews find the fonts of the print; facesCSS names them.
const (
	fontsDir = "/fonts/"
	facesCSS = "faces.css"
)

// font sends a face of the print, so that previews break lines as the print does, or
// the style sheet that makes them known.
func (s *Server) font(c *fiber.Ctx) error {
	name := c.Params("name")
	// The fonts change with the program, under the same names.
	c.Set(fiber.HeaderCacheControl, "public, max-age=86400")
	c.Set("Cross-Origin-Resource-Policy", "same-origin")

	if name == facesCSS {
		c.Set(fiber.HeaderContentType, "text/css; charset=utf-8")
		return c.SendString(fonts.Stylesheet(fontsDir))
	}

	face, ok := fonts.Face(name)
	if !ok {
		return fault.Errorf(fault.NotFound, "there is no font %s", input.Quote(name))
	}
	c.Set(fiber.HeaderContentType, "font/ttf")
	c.Context().Response.SetBodyRaw(face)

	return nil
}
