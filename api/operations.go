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
