package api

import (
	"context"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"presswork/internal/fault"
	"presswork/internal/inference"
)

// route is one line of the surface.
type route struct {
	method, path string
	access       level
	handle       fiber.Handler
}

// routes is everything the server answers. GET routes answer HEAD, too, except
// those that stream.
func (s *Server) routes() []route {
	return []route{
		{"POST", "/api/conversion", byKey, s.counted(ofJobs, s.submit)},
		{"GET", "/api/conversion", byKey, s.listJobs},
		{"GET", "/api/conversion/ws/:id", byToken, s.openSocket},
		{"GET", "/api/conversion/:id", byKey, s.getJob},
		{"DELETE", "/api/conversion/:id", byKey, s.cancelJob},
		{"GET", "/api/conversion/:id/events", byToken, s.streamEvents},

		{"GET", "/api/themes", byKey, s.listThemes},
		{"GET", "/api/themes/:name", byKey, s.getTheme},
		{"GET", "/api/themes/:name/preview.png", byKey, s.themePicture},
		{"GET", "/api/themes/:name/preview.pdf", byKey, s.themePDF},
		{"POST", "/api/preview", byKey, s.counted(ofJobs, s.preview)},
		{"POST", "/api/analysis", byKey, s.counted(ofJobs, s.analyze)},

		{"GET", "/api/artifacts/:id/download", byToken, s.download},
		{"DELETE", "/api/artifacts/:id", byKey, s.deleteArtifact},

		{"POST", "/export-pdf", s.exportAccess(), s.counted(ofJobs, s.exportPDF)},
		{"POST", "/export-screenshot", s.exportAccess(), s.counted(ofJobs, s.exportScreenshot)},

		{"POST", "/v1/chat/completions", byKey, s.counted(ofCompletions, s.completeChat)},
		{"POST", "/v1/completions", byKey, s.counted(ofCompletions, s.completeText)},
		{"POST", "/v1/audio/transcriptions", byKey, s.counted(ofAudio, s.transcribe(inference.Transcribe))},
		{"POST", "/v1/audio/translations", byKey, s.counted(ofAudio, s.transcribe(inference.Translate))},
		{"POST", "/v1/audio/speech", byKey, s.counted(ofAudio, s.speak)},
		{"GET", "/v1/models", byKey, s.listModels},
		{"GET", "/v1/models/*", byKey, s.getModel},
		{"GET", "/v1/usage", byKey, s.usage},

		{"GET", "/", public, s.studio},
		{"GET", "/docs", public, s.docs},
		{"GET", "/admin", public, s.admin},
		{"GET", "/preview", public, s.previewFrame},
		{"GET", "/assets/:name", public, s.asset},
		{"GET", fontsDir + ":name", public, s.font},

		{"GET", "/healthz", public, s.healthz},
		{"GET", "/readyz", public, s.readyz},
		{"GET", "/openapi.yaml", public, s.openapi},
		{"GET", "/openapi.json", public, s.openapiJSON},
		{"GET", "/admin/api/fleet", byAdminHeader, s.adminFleet},
		{"GET", "/admin/api/jobs", byAdminHeader, s.adminListJobs},
		{"GET", "/admin/api/jobs/:id", byAdminHeader, s.adminGetJob},
		{"POST", "/admin/api/actions/cancel", byAdminHeader, s.adminCancel},
		{"POST", "/admin/api/actions/retry", byAdminHeader, s.adminRetry},
		{"POST", "/admin/api/actions/dismiss", byAdminHeader, s.adminDismiss},
		{"GET", "/admin/api/keys", byAdminHeader, s.adminKeys},

		{"GET", "/metrics", byAdmin, s.serveMetrics()},
		{"*", "/monitor", byAdmin, s.serveMonitor()},
		{"*", "/monitor/*", byAdmin, s.serveMonitor()},
	}
}

// groqPrefix is where Groq's SDKs look for the routes under /v1.
const groqPrefix = "/openai"

// inferencePath reports whether a path is of the inference API, whose errors
// have a form of their own.
func inferencePath(path string) bool {
	path = strings.TrimPrefix(path, groqPrefix)
	return path == "/v1" || strings.HasPrefix(path, "/v1/")
}

// streaming are the GET routes a HEAD request makes no sense on.
func streaming(path string) bool {
	return path == "/api/conversion/ws/:id" || path == "/api/conversion/:id/events"
}

func (s *Server) mount(app *fiber.App) {
	for _, r := range s.routes() {
		if inferencePath(r.path) {
			if s.Inference == nil {
				continue
			}

			if r.method == fiber.MethodGet {
				app.Add(fiber.MethodHead, groqPrefix+r.path, s.guarded(r))
			}
			app.Add(r.method, groqPrefix+r.path, s.guarded(r))
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

// callTimeout bounds what one request asks of the queue.
const callTimeout = 10 * time.Second

// deadline bounds calls to the queue. It does not follow the request: its
// context is reused for the next one when the handler returns.
func (s *Server) deadline() (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(context.Background(), callTimeout,
		fault.Errorf(fault.QueueUnavailable, "the queue did not answer within %s", callTimeout))
}
