package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gofiber/fiber/v2"

	"presswork/internal/fault"
	"presswork/storage"
	"presswork/tasks"
)

// previewLook is how often the store is asked for what a worker makes.
const previewLook = 100 * time.Millisecond

func (s *Server) themePicture(c *fiber.Ctx) error { return s.themePreview(c, "png", "image/png") }

func (s *Server) themePDF(c *fiber.Ctx) error { return s.themePreview(c, "pdf", "application/pdf") }

// themePreview streams the sample of a theme from the store; the first to ask
// has a worker render it.
func (s *Server) themePreview(c *fiber.Ctx, format, contentType string) error {
	theme, err := s.themeInPath(c)
	if err != nil {
		return err
	}

	running, leave, err := s.streams.join(lastingPreview)
	if err != nil {
		return err
	}
	defer leave()

	ctx, cancel := context.WithTimeoutCause(running, s.PreviewWait,
		fault.Errorf(fault.QueueUnavailable, "no worker has rendered the preview within %s; try again", s.PreviewWait))
	defer cancel()

	ctx, unwatch := whileConnected(ctx, c.Context().Conn())
	defer unwatch()

	sample, err := s.pages.samples.Preview(ctx, theme.Name)
	if err != nil {
		return err
	}
	tag := `"` + sample.Key[:32] + "-" + format + `"`
	c.Set(fiber.HeaderETag, tag)
	// A theme may change under its name, so that its preview is asked for anew.
	c.Set(fiber.HeaderCacheControl, "private, no-cache")

	if known := c.Get(fiber.HeaderIfNoneMatch); known != "" && matches(known, tag) {
		c.Status(http.StatusNotModified)
		return nil
	}
	key := storage.PreviewKey(sample.Key, format)

	info, err := s.Store.Stat(ctx, key)
	if errors.Is(err, storage.ErrNotFound) {
		info, err = submitAndWait(
			ctx,
			s,
			tasks.RenderPreview,
			key,
			tasks.Preview{Theme: theme.Name, Format: format, Key: key},
		)
	}

	if err != nil {
		return previewError(ctx, err)
	}
	s.touch(key)
	// The body outlives this handler, and so does its context.
	ctx, cancel = context.WithCancel(context.Background())
	opening := time.AfterFunc(storeTimeout, cancel)

	body, _, err := s.Store.Get(ctx, key, storage.Range{})
	if err != nil {
		cancel()
		return storeError(err)
	}
	opening.Stop()
	c.Set(fiber.HeaderContentType, contentType)
	c.Set(fiber.HeaderContentDisposition, disposition(theme.Name+"."+format, true))
	c.Context().SetBodyStream(s.stored(key, body, cancel), int(info.Size))

	return nil
}

// submitAndWait has a worker make an object and waits until the store holds it.
// All who wait for the same one share a task.
func submitAndWait[P any](
	ctx context.Context,
	s *Server,
	kind tasks.Kind[P],
	key string,
	payload P,
) (storage.Info, error) {
	if s.Keeper != nil {
		if err := s.Keeper.Full(ctx); err != nil {
			return storage.Info{}, err
		}
	}

	task, err := kind.Task(payload)
	if err != nil {
		return storage.Info{}, err
	}

	if err := s.Queue.Enqueue(ctx, key, task); err != nil {
		return storage.Info{}, err
	}

	look := time.NewTicker(previewLook)
	defer look.Stop()

	for {
		select {
		case <-ctx.Done():
			return storage.Info{}, context.Cause(ctx)
		case <-look.C:
		}

		if info, err := s.Store.Stat(ctx, key); !errors.Is(err, storage.ErrNotFound) {
			return info, err
		}
	}
}

// previewError is why the wait ended, whatever it was that failed by it.
func previewError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return waitError(context.Cause(ctx))
	}

	return storeError(err)
}

// waitError keeps a client that has gone from looking like a failure of ours.
func waitError(err error) error {
	if errors.Is(err, context.Canceled) {
		return fault.Errorf(fault.InvalidRequest, "the client has gone").WithCause(err)
	}

	return err
}
