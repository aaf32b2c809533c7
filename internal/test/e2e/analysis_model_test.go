package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"presswork/internal/analysis/finding"
	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/e2e"
)

// supper is an invitation. The scripted model "reading" calls every text a festive newsletter.
const supper = `# Come to the harvest supper

The long table stands in the orchard again on Saturday. There is soup, there are three kinds of bread, and the band of
the fire brigade knows four songs. Bring a chair, a cup and whoever is new in the street. Last year we were sixty, and
the lanterns burned until two. Please tell Hanna by Thursday whether you come, because somebody has to count the
plates. Children may stay up as long as they help with the apples, and dogs may stay as long as they do not.
`

func TestThemeAutoAsksTheModelOnce(t *testing.T) {
	t.Parallel()
	upstream, base := inferencetest.Start(t)
	_, c := e2e.Serve(t, map[string]string{
		"INFERENCE_CONFIG": chatModels(t, base, "reading"), "ANALYSIS_MODEL": "reading",
	})

	a := c.Completed(c.Submit(e2e.Submission{Content: supper, Theme: "auto"}).JobID).Analysis
	if a == nil || a.DocumentType != "newsletter" || a.EmotionalTone != "festive" || len(a.Keywords) != 1 {
		t.Errorf("analysis %+v, want a festive newsletter with one keyword", a)
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
	config := writeFile(t, "models.yaml", fmt.Sprintf("models:\n  - {id: hang, upstreams: [{base_url: %q}], "+
		"capabilities: [chat], routing: {first_token_timeout: 1s, retries: 0}}\n", base))
	_, c := e2e.Serve(t, map[string]string{"INFERENCE_CONFIG": config, "ANALYSIS_MODEL": "hang"})

	a := analysisOfSupper(t, c)

	reasons := strings.Join(a.Recommendation.Reasons, "; ")
	if a.Recommendation.Primary == "" || !strings.Contains(reasons, "the model gave no usable answer") {
		t.Errorf("got %+v, want a theme and the reason that the model gave no usable answer", a)
	}
}

// The worker has one slot, and four documents wait for a model that does not answer.
func TestHangingModelDoesNotBlockOtherJobs(t *testing.T) {
	t.Parallel()
	testEnded := make(chan struct{})
	hang := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-testEnded }))
	t.Cleanup(func() {
		close(testEnded)
		hang.Close()
	})
	_, c := e2e.Serve(t, map[string]string{
		"INFERENCE_CONFIG": chatModels(t, hang.URL, "hang"), "ANALYSIS_MODEL": "hang", "WORKERS": "1",
	})

	var waiting []string

	for i := range 4 {
		s := e2e.Submission{Content: fmt.Sprintf("%s\n%d\n", supper, i), Theme: "auto"}
		waiting = append(waiting, c.Submit(s).JobID)
	}
	c.Completed(c.Submit(e2e.Submission{Content: "# Another\n", Theme: "light"}).JobID)

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
