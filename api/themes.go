package api

import (
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/gofiber/fiber/v2"

	"presswork/api/conn"
	"presswork/api/exchange"
	"presswork/api/metrics"
	"presswork/api/upload"
	"presswork/internal/fault"
	"presswork/storage"
	"presswork/tasks"
	"presswork/themes"
)

// themeList is the answer to GET /api/themes.
type themeList struct {
	Default string         `json:"default"`
	Count   int            `json:"count"`
	Themes  []themes.Theme `json:"themes"`
	Limits  limitsView     `json:"limits"`
}

// limitsView is what one conversion may have: bytes of Markdown, bytes of all files together, and files.
type limitsView struct {
	Content int64 `json:"content_bytes"`
	Upload  int64 `json:"upload_bytes"`
	Files   int   `json:"files"`
}

// listThemes answers GET /api/themes.
func (s *Server) listThemes(c *fiber.Ctx) error {
	list := s.Themes.List()
	exchange.WriteJSON(c.Context(), http.StatusOK, themeList{
		Default: themes.Default,
		Count:   len(list),
		Themes:  list,
		Limits:  limitsView{Content: s.MaxContentBytes, Upload: s.MaxUploadBytes, Files: upload.MaxAssets},
	})

	return nil
}

// getTheme answers GET /api/themes/{name}.
func (s *Server) getTheme(c *fiber.Ctx) error {
	theme, err := s.themeInPath(c)
	if err != nil {
		return err
	}
	exchange.WriteJSON(c.Context(), http.StatusOK, theme)

	return nil
}

// themeInPath returns the theme that the path names. Errors: ThemeNotFound with status 404.
func (s *Server) themeInPath(c *fiber.Ctx) (themes.Theme, error) {
	name, err := url.PathUnescape(c.Params("name"))
	if err != nil {
		name = c.Params("name")
	}

	theme, err := s.Themes.Get(name)
	if fault.CodeOf(err) == fault.ThemeNotFound {
		// In a path the theme is the resource, so its status is 404 instead of 400.
		return theme, &exchange.StatusError{Status: http.StatusNotFound, Err: fault.AsError(err)}
	}

	return theme, err
}

// themePicture answers GET /api/themes/{name}/preview.png.
func (s *Server) themePicture(c *fiber.Ctx) error { return s.themePreview(c, "png", "image/png") }

// themePDF answers GET /api/themes/{name}/preview.pdf.
func (s *Server) themePDF(c *fiber.Ctx) error { return s.themePreview(c, "pdf", "application/pdf") }

// themePreview streams the preview of a theme from the store. If the store has none, a worker renders it first.
func (s *Server) themePreview(c *fiber.Ctx, format, contentType string) error {
	theme, err := s.themeInPath(c)
	if err != nil {
		return err
	}

	running, leave, err := s.streams.Join(metrics.Preview)
	if err != nil {
		return err
	}
	defer leave()

	ctx, cancel := context.WithTimeoutCause(running, s.PreviewWait,
		fault.Errorf(fault.QueueUnavailable, "no worker has rendered the preview within %s; try again", s.PreviewWait))
	defer cancel()

	ctx, unwatch := conn.WhileConnected(ctx, c.Context().Conn(), exchange.ErrClientLeft)
	defer unwatch()

	sample, err := s.composer.Sample(ctx, theme.Name)
	if err != nil {
		return err
	}
	tag := `"` + sample.Key[:32] + "-" + format + `"`
	c.Set(fiber.HeaderETag, tag)
	// A theme may change under the same name, so browsers must revalidate its preview.
	c.Set(fiber.HeaderCacheControl, "private, no-cache")

	if exchange.ClientHas(c, tag) {
		c.Status(http.StatusNotModified)
		return nil
	}
	key := storage.PreviewKey(sample.Key, format)

	// The key covers the theme, so a changed theme has another preview.
	info, err := s.Store.Stat(ctx, key)
	if errors.Is(err, storage.ErrNotFound) {
		if err := s.renderPreview(ctx, tasks.Preview{Theme: theme.Name, Format: format, Key: key}); err != nil {
			return askError(ctx, err)
		}
		info, err = s.Store.Stat(ctx, key)
	}

	if err != nil {
		return askError(ctx, exchange.StoreError(err))
	}
	s.objects.Touch(key)

	body, err := s.objects.Open(key, storage.Range{})
	if err != nil {
		return exchange.StoreError(err)
	}
	c.Set(fiber.HeaderContentType, contentType)
	c.Set(fiber.HeaderContentDisposition, exchange.Disposition(theme.Name+"."+format, true))
	c.Context().SetBodyStream(body, int(info.Size))

	return nil
}

// renderPreview lets a worker render and store a preview. Simultaneous requests for the same preview share a task.
func (s *Server) renderPreview(ctx context.Context, preview tasks.Preview) error {
	if s.Keeper != nil {
		if err := s.Keeper.Full(ctx); err != nil {
			return err
		}
	}

	task, err := tasks.RenderPreview.Task(preview)
	if err != nil {
		return err
	}
	_, err = s.Queue.Ask(ctx, preview.Key, task)

	return err
}

// askError returns err, or the cause of ctx when ctx ended the wait for a worker.
func askError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return waitError(context.Cause(ctx))
	}

	return err
}

// waitError turns a cancellation into a public error, so that a client that disconnects does not count as a server
// error.
func waitError(err error) error {
	if errors.Is(err, context.Canceled) {
		return fault.Errorf(fault.InvalidRequest, "the client has closed the connection").WithCause(err)
	}

	return err
}
