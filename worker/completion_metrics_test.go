package worker_test

import (
	"errors"
	"testing"

	"presswork/internal/inference"
	"presswork/worker"
)

func TestUpstreamErrorsAddNoMetricLabels(t *testing.T) {
	t.Parallel()

	for want, err := range map[string]error{
		"":                     nil,
		"400":                  inference.Errorf(400, "any text of an upstream's", "wrong"),
		"tool_use_failed":      inference.Errorf(400, inference.ToolUseFailed, "wrong"),
		"upstream_unavailable": inference.Errorf(503, inference.UpstreamUnavailable, "busy"),
		"request_cancelled":    inference.Errorf(499, inference.RequestCancelled, "left"),
		"internal_error":       errors.New("broken"),
	} {
		t.Run(want, func(t *testing.T) {
			if got := worker.ErrorType(err); got != want {
				t.Errorf("ErrorType(%v) = %q, want %q", err, got, want)
			}
		})
	}
}
