package api

import (
	"github.com/gofiber/fiber/v2"

	"presswork/api/exchange"
	"presswork/api/limits"
	"presswork/api/pages"
	"presswork/internal/inference"
)

// route is one line of the routes table.
type route struct {
	method, path string
	access       level
	handle       fiber.Handler
}

// routes returns the routes of the server. GET routes also answer HEAD, except streaming ones. Fiber takes the
// first route that matches, so a fixed path precedes a parameter in its place.
func (s *Server) routes() []route {
	return []route{
		// Documents and their jobs.
		{"POST", "/api/conversion", byKey, s.limiter.Wrap(limits.Jobs, s.createConversion)},
		{"GET", "/api/conversion", byKey, s.listJobs},
		{"GET", "/api/conversion/ws/:id", byToken, s.openSocket},
		{"GET", "/api/conversion/:id", byKey, s.getJob},
		{"DELETE", "/api/conversion/:id", byKey, s.cancelJob},
		{"GET", "/api/conversion/:id/events", byToken, s.streamEvents},

		{"GET", "/api/themes", byKey, s.listThemes},
		{"GET", "/api/themes/:name", byKey, s.getTheme},
		{"GET", "/api/themes/:name/preview.png", byKey, s.themePicture},
		{"GET", "/api/themes/:name/preview.pdf", byKey, s.themePDF},
		{"POST", "/api/preview", byKey, s.limiter.Wrap(limits.Jobs, s.previewDocument)},
		{"POST", "/api/analysis", byKey, s.limiter.Wrap(limits.Jobs, s.analyzeDocument)},

		{"POST", "/api/pdf/:operation", byKey, s.limiter.Wrap(limits.Jobs, s.editPDF)},

		{"GET", "/api/artifacts/:id/download", byShare, s.download},
		{"POST", "/api/artifacts/:id/share", byKey, s.shareArtifact},
		{"DELETE", "/api/artifacts/:id", byKey, s.deleteArtifact},

		// Exports of a web page have paths of their own, outside /api.
		{"POST", "/export-pdf", s.exportAccess(), s.limiter.Wrap(limits.Jobs, s.exportPDF)},
		{"POST", "/export-screenshot", s.exportAccess(), s.limiter.Wrap(limits.Jobs, s.exportScreenshot)},

		// The inference API, in the forms of OpenAI and Anthropic.
		{"POST", "/v1/chat/completions", byKey, s.limiter.Wrap(limits.Completions, s.calls.Chat)},
		{"POST", "/v1/completions", byKey, s.limiter.Wrap(limits.Completions, s.calls.Text)},
		{"POST", "/v1/responses", byKey, s.limiter.Wrap(limits.Completions, s.calls.Respond)},
		{"POST", "/v1/responses/input_tokens", byKey, s.limiter.Wrap(limits.Jobs, s.calls.CountResponse)},
		{"POST", "/v1/messages", byKey, s.limiter.Wrap(limits.Completions, s.calls.Message)},
		{"POST", "/v1/messages/count_tokens", byKey, s.limiter.Wrap(limits.Jobs, s.calls.CountMessage)},
		{"POST", "/v1/embeddings", byKey, s.limiter.Wrap(limits.Completions, s.calls.Embed)},
		{"POST", "/v1/rerank", byKey, s.limiter.Wrap(limits.Completions, s.calls.Rerank)},
		{"POST", "/v1/images/generations", byKey, s.limiter.Wrap(limits.Completions, s.calls.Draw)},
		{"POST", "/v1/moderations", byKey, s.limiter.Wrap(limits.Completions, s.calls.Moderate)},
		{"POST", "/v1/audio/transcriptions", byKey, s.limiter.Wrap(limits.Audio, s.transcribe(inference.Transcribe))},
		{"POST", "/v1/audio/translations", byKey, s.limiter.Wrap(limits.Audio, s.transcribe(inference.Translate))},
		{"POST", "/v1/audio/speech", byKey, s.limiter.Wrap(limits.Audio, s.calls.Speak)},
		{"GET", "/v1/models", byKey, s.calls.Models},
		{"GET", "/v1/models/*", byKey, s.calls.Model},
		{"GET", "/v1/usage", byKey, s.usage.Get},

		{"POST", "/mcp", byKey, s.serveMCP},

		// Pages and files for browsers. They hold no data.
		{"GET", "/", public, s.pages.Studio},
		{"GET", "/docs", public, s.pages.Docs},
		{"GET", "/docs/search", public, s.pages.SearchDocs},
		{"GET", "/docs/*", public, s.pages.Docs},
		{"GET", "/admin", public, s.pages.Admin},
		{"GET", "/preview", public, s.pages.Preview},
		{"GET", "/assets/:name", public, s.pages.Asset},
		{"GET", pages.FontsDir + ":name", public, s.pages.Font},

		{"GET", "/healthz", public, s.healthz},
		{"GET", "/readyz", public, s.readyz},
		{"GET", "/openapi.yaml", public, s.pages.Description},
		{"GET", "/openapi.json", public, s.pages.DescriptionJSON},
		// Requests of the operators' page.
		{"GET", "/admin/api/fleet", byAdminHeader, s.admin.Fleet},
		{"GET", "/admin/api/jobs", byAdminHeader, s.admin.Jobs},
		{"GET", "/admin/api/jobs/:id", byAdminHeader, s.admin.Job},
		{"GET", "/admin/api/jobs/:id/input", byAdminHeader, s.admin.Input},
		{"POST", "/admin/api/jobs/:id/retry", byAdminHeader, s.admin.RetryChanged},
		{"POST", "/admin/api/actions/cancel", byAdminHeader, s.admin.Cancel},
		{"POST", "/admin/api/actions/retry", byAdminHeader, s.admin.Retry},
		{"POST", "/admin/api/actions/dismiss", byAdminHeader, s.admin.Dismiss},
		{"POST", "/admin/api/actions/redeliver", byAdminHeader, s.admin.Redeliver},
		{"GET", "/admin/api/webhooks", byAdminHeader, s.admin.Webhooks},
		{"GET", "/admin/api/keys", byAdminHeader, s.usage.Keys},

		{"GET", "/metrics", byAdmin, s.serveMetrics()},
		{"*", "/monitor", byAdmin, s.serveMonitor()},
		{"*", "/monitor/*", byAdmin, s.serveMonitor()},
	}
}

// streaming reports whether a GET route has no HEAD, because its answer is a stream of events.
func streaming(path string) bool {
	return path == "/api/conversion/ws/:id" || path == "/api/conversion/:id/events"
}

// mount adds the routes to app. Routes under /v1 are also under exchange.GroqPrefix, and are absent without Inference.
func (s *Server) mount(app *fiber.App) {
	for _, r := range s.routes() {
		if exchange.InferencePath(r.path) {
			if s.Inference == nil {
				continue
			}

			if r.method == fiber.MethodGet {
				app.Add(fiber.MethodHead, exchange.GroqPrefix+r.path, s.guarded(r))
			}
			app.Add(r.method, exchange.GroqPrefix+r.path, s.guarded(r))
		}

		switch {
		case r.method == "*":
			app.All(r.path, s.guarded(r))
			continue
		case r.method == fiber.MethodGet && !streaming(r.path):
			app.Add(fiber.MethodHead, r.path, s.guarded(r))
		}
		app.Add(r.method, r.path, s.guarded(r))
	}
}
