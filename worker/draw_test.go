package worker_test

import (
	"context"
	"encoding/json"
	"testing"

	"presswork/internal/markdown/diagram"
	"presswork/tasks"
	"presswork/worker"
)

func TestAWorkerDrawsDiagrams(t *testing.T) {
	t.Parallel()

	w := worker.New(worker.Options{
		Diagrams: diagram.New(
			diagram.Options{Script: func(context.Context, string, ...string) ([]json.RawMessage, error) {
				return []json.RawMessage{
					json.RawMessage(
						`{"width":9,"height":9,"svg":"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 9 9\"><text>a</text></svg>"}`,
					),
				}, nil
			}},
		),
	})

	answer, err := w.Draw(t.Context(), tasks.Drawing{
		Sources: []string{"a"}, Style: tasks.DrawingStyle{Accents: []string{"#4a2fd8"}},
	})
	if pictures, ok := answer.([]diagram.Picture); err != nil || !ok || len(pictures) != 1 || pictures[0].SVG == "" {
		t.Errorf("got %+v, %v; want one SVG picture", answer, err)
	}
}
