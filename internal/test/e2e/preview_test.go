package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"presswork/internal/test/wait"
)

func TestWorkersDrawTheDiagramsOfPreviews(t *testing.T) {
	t.Parallel()
	fleet := newFleet(t)
	_, c := fleet.API(nil)

	preview := func() string {
		t.Helper()

		status, _, body := c.Do("POST", "/api/preview", "text/markdown",
			[]byte("# Plan\n\n```mermaid\ngraph TD\n  Anna --> Berta\n```\n"))
		if status != http.StatusOK {
			t.Fatalf("status %d, %s; want 200", status, body)
		}

		return string(body)
	}
	if page := preview(); strings.Contains(page, "<svg") || !strings.Contains(page, "Berta") {
		t.Errorf("without a worker: %s, want the source of the diagram", page)
	}
	fleet.Worker(nil)
	// On a busy machine the worker may take longer than a preview waits. A later preview then has the diagram.
	wait.Until(t, "a worker draws the diagram", func() bool {
		page := preview()
		return strings.Contains(page, "<svg") && strings.Contains(page, "Berta")
	})
}
