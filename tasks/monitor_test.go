package tasks_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"presswork"
	"presswork/tasks"
)

func TestMonitorShowsQueuesAndNoSecrets(t *testing.T) {
	t.Parallel()
	b := setup(t, tasks.Options{})
	s := submission(t)
	task, err := tasks.ConvertPDF.Task(tasks.Convert{
		Content: strings.Repeat("ä", 500) + "the end", Options: presswork.Options{Password: "hunter2", Title: "T"},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.Task = task
	b.submit(t, s)
	export := submission(t)
	export.Task, err = tasks.ExportPage.Task(tasks.PageExport{URL: "https://example.com/", PDF: &presswork.ExportOptions{VisitOptions: presswork.VisitOptions{
		ExtraHTTPHeaders: map[string]string{"Authorization": "Bearer hunter3"}, Cookies: []presswork.Cookie{{Name: "id", Value: "hunter4"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	b.submit(t, export)
	m, err := tasks.NewMonitor(b.address, "/monitor", true)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Stop(t.Context())
	ask := func(method, path string) (int, string) {
		w := httptest.NewRecorder()
		m.ServeHTTP(w, httptest.NewRequest(method, "/monitor"+path, nil))
		return w.Code, w.Body.String()
	}
	if code, body := ask("GET", "/"); code != http.StatusOK || !strings.Contains(body, "<html") {
		t.Errorf("page: %d %.80s", code, body)
	}
	if _, body := ask("GET", "/"); strings.Contains(body, "googleapis") || !strings.Contains(body, `<link rel="manifest"`) {
		t.Errorf("the page loads from elsewhere: %.1200s", body)
	}
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequest("GET", "/monitor/queues/render", nil))
	policy := w.Header().Get("Content-Security-Policy")
	if !strings.Contains(policy, "frame-ancestors 'none'") || strings.Count(policy, "'sha256-") != strings.Count(w.Body.String(), "<script>") {
		t.Errorf("the policy is %q", policy)
	}
	if code, body := ask("GET", "/api/queues"); code != http.StatusOK || !strings.Contains(body, `"render"`) {
		t.Errorf("queues: %d %.200s", code, body)
	}
	code, body := ask("GET", "/api/queues/render/pending_tasks")
	if code != http.StatusOK || !strings.Contains(body, s.ID) || !strings.Contains(body, "(1007 bytes)") {
		t.Errorf("tasks: %d %s", code, body)
	}
	if strings.Contains(body, "hunter2") || strings.Contains(body, "the end") {
		t.Errorf("tells too much: %s", body)
	}
	if code, body := ask("GET", "/api/queues/export/pending_tasks"); code != http.StatusOK || !strings.Contains(body, "Authorization") || strings.Contains(body, "hunter") {
		t.Errorf("exports: %d %s", code, body)
	}
	if code, _ := ask("POST", "/api/queues/render:pause"); code == http.StatusNoContent || code == http.StatusOK {
		t.Errorf("a read-only monitor paused a queue: %d", code)
	}
	if _, err := tasks.NewMonitor("http://x", "/monitor", true); err == nil {
		t.Error("a wrong address was accepted")
	}
}
