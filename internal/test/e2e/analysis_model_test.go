package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presswork/internal/analysis/finding"
	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/e2e"
)

const supper = "# Come to the harvest supper\n\nThe long table stands in the orchard again on Saturday. There is soup, there are " +
	"three kinds of bread, and the band of the fire brigade knows four songs. Bring a chair, a cup and whoever is new in the street. " +
	"Last year we were sixty, and the lanterns burned until two. Please tell Hanna by Thursday whether you come, because somebody has " +
	"to count the plates. Children may stay up as long as they help with the apples, and dogs may stay as long as they do not.\n"

func TestThemeAutoAsksTheModelOnce(t *testing.T) {
	t.Parallel()
	upstream, base := inferencetest.Start(t)
	_, c := e2e.Serve(
		t,
		map[string]string{"INFERENCE_CONFIG": chatModels(t, base, "reading"), "ANALYSIS_MODEL": "reading"},
	)
	body, _ := json.Marshal(map[string]any{"content": supper, "theme": "auto"})
	_, _, accepted := c.Do("POST", "/api/conversion", "application/json", body)

	var got e2e.Accepted
	if err := json.Unmarshal(accepted, &got); err != nil || got.JobID == "" {
		t.Fatalf("got %s (%v), want an accepted job", accepted, err)
	}

	job := c.Completed(got.JobID)

	a := job.Analysis
	if a == nil || a.DocumentType != "newsletter" || a.EmotionalTone != "festive" || len(a.Keywords) != 1 {
		t.Errorf("analysis %+v, want that of the model", a)
	}
	// The model is asked only once about the same text.
	if a := analysisOfSupper(t, c); a.DocumentType != "newsletter" || len(upstream.Requests()) != 1 {
		t.Errorf("analysis %+v after %d requests to the model, want newsletter after one", a, len(upstream.Requests()))
	}

	_, _, usage := c.Do("GET", "/v1/usage?group_by=key", "", nil)
	if !strings.Contains(string(usage), `"presswork:analysis"`) {
		t.Errorf("usage %s, want the key presswork:analysis", usage)
	}
}

func TestHangingModelDoesNotBlockTheAnalysis(t *testing.T) {
	t.Parallel()
	_, base := inferencetest.Start(t)
	config := filepath.Join(t.TempDir(), "models.yaml")

	entry := fmt.Sprintf(
		"models:\n  - id: hang\n    capabilities: [chat]\n    routing: {first_token_timeout: 1s, retries: 0}\n    upstreams: [{base_url: %q}]\n",
		base,
	)
	if err := os.WriteFile(config, []byte(entry), 0o600); err != nil {
		t.Fatal(err)
	}
	_, c := e2e.Serve(t, map[string]string{"INFERENCE_CONFIG": config, "ANALYSIS_MODEL": "hang"})

	a := analysisOfSupper(t, c)

	reasons := strings.Join(a.Recommendation.Reasons, "; ")
	if a.Recommendation.Primary == "" || !strings.Contains(reasons, "the model gave no usable answer") {
		t.Errorf("got %+v, want a theme and the reason that the model gave no usable answer", a)
	}
}

// Four documents wait for a model that does not answer, on a worker with one slot.
func TestHangingModelDoesNotBlockOtherJobs(t *testing.T) {
	t.Parallel()
	testEnded := make(chan struct{})
	hang := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-testEnded }))
	t.Cleanup(func() {
		close(testEnded)
		hang.Close()
	})
	config := filepath.Join(t.TempDir(), "models.yaml")

	entry := fmt.Sprintf("models:\n  - id: hang\n    capabilities: [chat]\n    upstreams: [{base_url: %q}]\n", hang.URL)
	if err := os.WriteFile(config, []byte(entry), 0o600); err != nil {
		t.Fatal(err)
	}
	_, c := e2e.Serve(t, map[string]string{"INFERENCE_CONFIG": config, "ANALYSIS_MODEL": "hang", "WORKERS": "1"})
	submit := func(content, theme string) string {
		body, _ := json.Marshal(map[string]any{"content": content, "theme": theme})
		_, _, accepted := c.Do("POST", "/api/conversion", "application/json", body)

		var got e2e.Accepted
		if err := json.Unmarshal(accepted, &got); err != nil || got.JobID == "" {
			t.Fatalf("got %s (%v), want an accepted job", accepted, err)
		}

		return got.JobID
	}

	var waiting []string
	for i := range 4 {
		waiting = append(waiting, submit(fmt.Sprintf("%s\n%d\n", supper, i), "auto"))
	}
	c.Completed(submit("# Another\n", "light"))

	for _, id := range waiting {
		if job := c.Job(id); job.Status.Terminal() {
			t.Errorf("status %s of a document that waits for the model, want it unfinished", job.Status)
		}
		c.Do("DELETE", "/api/conversion/"+id, "", nil)
	}
}

// analysisOfSupper returns the answer of POST /api/analysis for the text supper.
func analysisOfSupper(t *testing.T, c *e2e.Client) (a finding.Analysis) {
	t.Helper()
	body, _ := json.Marshal(map[string]any{"content": supper})

	status, _, got := c.Do("POST", "/api/analysis", "application/json", body)
	if err := json.Unmarshal(got, &a); err != nil || status != http.StatusOK {
		t.Fatalf("status %d, %s (%v); want 200 and an analysis", status, got, err)
	}

	return a
}
