package monitor_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hibiken/asynq"
	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/internal/export"
	"presswork/internal/test/redistest"
	"presswork/tasks"
	"presswork/tasks/monitor"
	"presswork/tasks/redisdial"
)

// bundle is a Redis, a client of it, and a raw connection.
type bundle struct {
	address string
	client  *tasks.Client
	rdb     redis.UniversalClient
}

func setup(t *testing.T) *bundle {
	t.Helper()
	address := redistest.Start(t)

	client, err := tasks.NewClient(address, tasks.Options{})
	if err != nil {
		t.Fatal(err)
	}

	if err := client.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { client.Stop(context.Background()) })

	rdb, err := redisdial.Dial(address, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { rdb.Close() })

	return &bundle{address, client, rdb}
}

// submission returns a small conversion.
func submission(t *testing.T) tasks.Submission {
	t.Helper()

	task, err := tasks.ConvertPDF.Task(tasks.Convert{Content: "# Hi", Theme: "nord"})
	if err != nil {
		t.Fatal(err)
	}

	return tasks.Submission{ID: tasks.NewID(), Kind: presswork.KindConversion, Theme: "nord", Owner: "ann", Task: task}
}

// submit submits and returns the job's id.
func (b *bundle) submit(t *testing.T, s tasks.Submission) string {
	t.Helper()

	rec, _, err := b.client.Submit(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}

	return rec.ID
}

// enqueue puts a task that belongs to no job on its queue.
func (b *bundle) enqueue(ctx context.Context, id string, task tasks.Task) error {
	_, err := asynq.NewClientFromRedisClient(b.rdb).EnqueueContext(ctx, asynq.NewTask(task.Kind, task.Payload),
		asynq.TaskID(id), asynq.Queue(string(task.Queue)))

	return err
}

// renderKey returns one of Asynq's keys of the queue render.
func renderKey(part string) string { return "asynq:{render}:" + part }

func TestMonitorShowsQueuesAndNoSecrets(t *testing.T) {
	t.Parallel()
	b := setup(t)
	s := submission(t)

	task, err := tasks.ConvertPDF.Task(tasks.Convert{
		Content: strings.Repeat("ä", 500) + "the end", Options: presswork.Options{Password: "hunter2", Title: "T"},
	})
	if err != nil {
		t.Fatal(err)
	}
	job := submission(t)
	job.Task = task
	b.submit(t, job)

	if err := b.enqueue(t.Context(), s.ID, task); err != nil {
		t.Fatal(err)
	}

	page, err := tasks.ExportPage.Task(
		tasks.PageExport{URL: "https://example.com/", PDF: &export.PDFOptions{VisitOptions: export.VisitOptions{
			ExtraHTTPHeaders: map[string]string{
				"Authorization": "Bearer hunter3",
			},
			Cookies: []export.Cookie{{Name: "id", Value: "hunter4"}},
		}}},
	)
	if err != nil {
		t.Fatal(err)
	}

	if err := b.enqueue(t.Context(), tasks.NewID(), page); err != nil {
		t.Fatal(err)
	}

	m, err := monitor.New(b.address, "/monitor", true)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Stop(t.Context())

	request := func(method, path string) (int, string) {
		w := httptest.NewRecorder()
		m.ServeHTTP(w, httptest.NewRequest(method, "/monitor"+path, nil))

		return w.Code, w.Body.String()
	}
	if code, body := request("GET", "/"); code != http.StatusOK || !strings.Contains(body, "<html") {
		t.Errorf("GET /: got %d %.80s, want the page", code, body)
	}

	if _, body := request("GET", "/"); strings.Contains(body, `="http`) ||
		!strings.Contains(body, `<link rel="manifest"`) {
		t.Errorf("the page loads files from another origin: %.1200s", body)
	}
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequest("GET", "/monitor/queues/render", nil))
	scripts := ""

	for _, s := range regexp.MustCompile(`(?s)<script>(.*?)</script>`).FindAllStringSubmatch(w.Body.String(), -1) {
		sum := sha256.Sum256([]byte(s[1]))
		scripts += " 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	}

	policy := w.Header().Get("Content-Security-Policy")
	if scripts == "" || !strings.HasPrefix(policy, "default-src 'none'; script-src 'self'"+scripts+";") ||
		strings.ContainsAny(policy, "*.") {
		t.Errorf("got the policy %q; want only this origin and the scripts%s", policy, scripts)
	}

	for _, rule := range []string{"frame-ancestors 'none'", "base-uri 'none'", "form-action 'none'"} {
		if !strings.Contains(policy, rule) {
			t.Errorf("the policy lacks %s: %q", rule, policy)
		}
	}

	if got := w.Header().Get("X-Frame-Options"); got != "DENY" {
		t.Errorf("X-Frame-Options is %q, want DENY", got)
	}

	if code, body := request("GET", "/api/queues"); code != http.StatusOK || !strings.Contains(body, `"render"`) {
		t.Errorf("GET /api/queues: got %d %.200s, want the queue render", code, body)
	}

	code, body := request("GET", "/api/queues/render/pending_tasks")
	if code != http.StatusOK || !strings.Contains(body, s.ID) || !strings.Contains(body, "(1007 bytes)") {
		t.Errorf("GET pending_tasks: got %d %s, want the task with its size", code, body)
	}
	// The payload of a job is in its record, and shown like that of a task.
	n := strings.Count(body, "(1007 bytes)")
	if n != 2 || strings.Contains(body, "job's record") || !strings.Contains(body, job.ID) {
		t.Errorf("got %d payloads, want 2: %s", n, body)
	}

	if strings.Contains(body, "hunter2") || strings.Contains(body, "the end") {
		t.Errorf("the response contains a secret: %s", body)
	}

	code, body = request("GET", "/api/queues/export/pending_tasks")
	if code != http.StatusOK || !strings.Contains(body, "Authorization") ||
		strings.Contains(body, "hunter") {
		t.Errorf("pending tasks of export: got %d %s, want the headers without their values", code, body)
	}

	if code, _ := request("POST", "/api/queues/render:pause"); code == http.StatusNoContent || code == http.StatusOK {
		t.Errorf("a read-only monitor paused a queue: %d", code)
	}

	if _, err := monitor.New("http://x", "/monitor", true); err == nil {
		t.Error("a wrong address was accepted")
	}
}

// The changes to Asynq's scripts must not affect the lists and buttons of the page, which use the same keys.
func TestTheMonitorListsArchivesRunsAndDeletesTasks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	ctx := t.Context()

	m, err := monitor.New(b.address, "/monitor", false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Stop(context.Background()) })
	request := func(method, path string) string {
		t.Helper()
		w := httptest.NewRecorder()
		m.ServeHTTP(w, httptest.NewRequest(method, "/monitor/api/queues/render/"+path, nil))

		if w.Code >= 300 {
			t.Errorf("%s %s: got status %d and %s, want a status below 300", method, path, w.Code, w.Body)
		}

		return w.Body.String()
	}
	// taskIn returns a task in this state that is due in an hour.
	taskIn := func(state string) (id, key string) {
		id = b.submit(t, submission(t))
		key = renderKey("t:" + id)
		b.rdb.LRem(ctx, renderKey("pending"), 0, id)
		b.rdb.HSet(ctx, key, "state", state)
		b.rdb.ZAdd(ctx, renderKey(state), redis.Z{Score: float64(time.Now().Add(time.Hour).Unix()), Member: id})

		return id, key
	}
	wantState := func(key, want string) {
		t.Helper()

		if got := b.rdb.HGet(ctx, key, "state").Val(); got != want {
			t.Errorf("the task is %q, want %q", got, want)
		}
	}

	id, key := taskIn("completed")
	if body := request("GET", "completed_tasks"); !strings.Contains(body, id) {
		t.Errorf("the list of completed tasks is %s", body)
	}
	request("DELETE", "completed_tasks:delete_all")
	wantState(key, "")

	for _, state := range []string{"retry", "scheduled"} {
		_, archived := taskIn(state)
		request("POST", state+"_tasks:archive_all")
		wantState(archived, "archived")

		if n := b.rdb.ZCard(ctx, renderKey(state)).Val(); n != 0 {
			t.Errorf("%d tasks are both archived and %s", n, state)
		}
		request("DELETE", "archived_tasks:delete_all")
		id, key := taskIn(state)
		request("POST", state+"_tasks:run_all")
		wantState(key, "pending")

		if waiting := b.rdb.LRange(ctx, renderKey("pending"), 0, -1).Val(); !slices.Contains(waiting, id) {
			t.Errorf("task %s is not pending: %v", id, waiting)
		}
		request("DELETE", "pending_tasks:delete_all")
	}
}
