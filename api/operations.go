package api

import (
	"context"
	_ "embed"
	"net/http"

	"github.com/gofiber/fiber/v2"
	"github.com/gofiber/fiber/v2/middleware/adaptor"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"presswork/api/exchange"
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

// serveMetrics answers GET /metrics. A metric that fails does not prevent the others.
func (s *Server) serveMetrics() fiber.Handler {
	return s.fiberHandler(promhttp.HandlerFor(s.Metrics,
		promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError, EnableOpenMetrics: true}))
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
