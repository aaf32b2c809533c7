package api

import (
	"context"
	"encoding/json"
	"errors"

	"presswork/internal/fault"
	"presswork/internal/markdown/diagram"
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

	task, err := tasks.DrawDiagrams.Task(tasks.Drawing{Sources: sources, Style: tasks.DrawingStyle(style)})
	if err != nil {
		return nil, err
	}

	answer, err := s.Queue.Ask(ctx, "", task)
	if err != nil {
		return nil, askError(ctx, err)
	}
	var pictures []diagram.Picture
	err = json.Unmarshal(answer, &pictures)

	return pictures, err
}
