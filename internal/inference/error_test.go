package inference_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"presswork/internal/fault"
	"presswork/internal/inference"
)

func TestErrorJSONHasNoCause(t *testing.T) {
	t.Parallel()

	e := inference.Errorf(503, inference.UpstreamUnavailable, "at capacity").
		WithParam("model").
		WithCause(errors.New("secret"))
	if fault.CodeOf(fmt.Errorf("x: %w", e)) != inference.UpstreamUnavailable || !e.Retryable ||
		e.Type != inference.UnavailableType {
		t.Errorf("got %+v, want a retryable %s of type %s", e, inference.UpstreamUnavailable, inference.UnavailableType)
	}

	b, err := json.Marshal(e)
	if err != nil || bytes.Contains(b, []byte("secret")) ||
		!bytes.Contains(b, []byte(`"code":"upstream_unavailable"`)) ||
		!bytes.Contains(b, []byte(`"status":503`)) || !bytes.Contains(b, []byte(`"param":"model"`)) {
		t.Errorf("got %s, %v; want code, status and param, without the cause", b, err)
	}
}
