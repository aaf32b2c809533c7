package api

import (
	"context"
	"encoding/json"
	"errors"

	"presswork/internal/fault"
	"presswork/internal/markdown/diagram"
	"presswork/storage"
	"presswork/tasks"
)

// maxDrawing is how many bytes of diagrams one task carries; at least
// diagram.MaxSource.
const maxDrawing = 64 << 10

// draw has a worker draw diagrams, as many of the first as a task carries, and
// waits for them at most DrawWait; not at all when no worker runs.
func (s *Server) draw(ctx context.Context, sources []string, style diagram.Style) ([]diagram.Picture, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.DrawWait,
		fault.Errorf(fault.QueueUnavailable, "no worker has drawn the diagrams within %s", s.DrawWait))
	defer cancel()

	workers, err := s.Queue.Workers(ctx)
	if err != nil {
		return nil, err
	}

	if workers == 0 {
		return nil, errors.New("no worker is running")
	}

	size := 0
	for i, source := range sources {
		if size += len(source); size > maxDrawing {
			sources = sources[:i]
			break
		}
	}
	key := storage.DrawingKey(tasks.NewID())

	until := s.now().Add(s.DrawWait)
	if _, err := submitAndWait(
		ctx,
		s,
		tasks.DrawDiagrams,
		key,
		tasks.Drawing{Sources: sources, Style: tasks.DrawingStyle(style), Key: key, Until: until},
	); err != nil {
		return nil, previewError(ctx, err)
	}

	body, _, err := s.Store.Get(ctx, key, storage.Range{})
	if err != nil {
		return nil, previewError(ctx, err)
	}
	defer body.Close()

	var pictures []diagram.Picture
	if err := json.NewDecoder(body).Decode(&pictures); err != nil {
		return nil, err
	}

	forgetting, cancel := s.deadline()
	defer cancel()

	if err := s.remove(forgetting, key); err != nil {
		s.Log.Warn("diagrams that were fetched were not deleted; the next sweep does it", "key", key, "error", err)
	}

	return pictures, nil
}
