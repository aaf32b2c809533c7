package e2e_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"

	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/e2e"
	"presswork/internal/test/wait"
)

// TestMetricsOfDashboardAndAlertsExist looks for the metrics of the dashboard, the alerts and the settings of KEDA in
// those that a server exports. Some metrics exist only after the server has done work.
func TestMetricsOfDashboardAndAlertsExist(t *testing.T) {
	t.Parallel()
	called := make(chan string, 8)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { called <- r.URL.Path }))
	t.Cleanup(hook.Close)
	_, base := inferencetest.Start(t)

	_, c := e2e.Serve(t, map[string]string{
		"INFERENCE_CONFIG":       chatModels(t, base, "whole"),
		"OUTBOUND_ALLOW_PRIVATE": strings.TrimPrefix(hook.URL, "http://"),
	})
	c.Completed(c.Submit(e2e.Submission{Content: "# Measured", WebhookURL: hook.URL + "/hook"}).JobID)
	wait.Receive(t, "the webhook", called)

	chat := chatRequest("whole", true, "Hi")

	status, _, body := c.Do(http.MethodPost, "/v1/chat/completions", "application/json", chat)
	if status != http.StatusOK {
		t.Fatalf("completion: status %d, %s; want 200", status, body)
	}
	expression := regexp.MustCompile(`(?m)"expr": ".*"|expr: (?:\|\n(?: {10,}.*\n)+|.*)`)
	name := regexp.MustCompile(`\b(?:presswork|gen_ai)_[a-z_]+[a-z]\b`)
	var missing []string
	t.Cleanup(func() {
		if len(missing) > 0 {
			t.Errorf("the server does not export %q", missing)
		}
	})
	wait.Until(t, "the server exports all metrics", func() bool {
		_, _, metrics := c.Do(http.MethodGet, "/metrics", "", nil)
		exported := string(metrics)
		missing = nil

		for _, file := range []string{"../../../deploy/prometheus/alerts.yml", "../../../deploy/grafana/presswork.json"} {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}

			for _, expr := range expression.FindAllString(string(text), -1) {
				for _, m := range name.FindAllString(expr, -1) {
					// gen_ai_request_model is a label.
					if !strings.HasPrefix(m, "gen_ai_request") && !strings.Contains(exported, "\n"+m+"{") &&
						!strings.Contains(exported, "\n"+m+" ") {
						missing = append(missing, file+": "+m)
					}
				}
			}
		}
		// KEDA reads one sample, so the labels must also match.
		keda, err := os.ReadFile("../../../deploy/kubernetes/keda.yaml")
		if err != nil {
			t.Fatal(err)
		}

		for _, m := range regexp.MustCompile(`valueLocation: (.+)`).FindAllSubmatch(keda, -1) {
			if !strings.Contains(exported, "\n"+string(m[1])+" ") {
				missing = append(missing, string(m[1]))
			}
		}

		return len(missing) == 0
	})
}
