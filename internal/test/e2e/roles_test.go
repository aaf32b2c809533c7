package e2e_test

import (
	"net/http"
	"os"
	"strings"
	"testing"

	"presswork/internal/test/e2e"
	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
)

func TestInvalidSettingsEndTheProcess(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		command string
		env     map[string]string
		want    string // in the log
	}{
		"api without Redis":      {"api", nil, "REDIS_URL"},
		"worker without Redis":   {"worker", nil, "REDIS_URL"},
		"api without a store":    {"api", map[string]string{"REDIS_URL": "redis://127.0.0.1:1"}, "S3_ENDPOINT"},
		"worker without a store": {"worker", map[string]string{"REDIS_URL": "redis://127.0.0.1:1"}, "S3_ENDPOINT"},
		"public without a key":   {"serve", map[string]string{"API_HOST": "0.0.0.0"}, "API_KEY"},
		"a wrong setting":        {"serve", map[string]string{"API_PORT": "eighty"}, `API_PORT="eighty"`},
		"a wrong Redis address":  {"serve", map[string]string{"REDIS_URL": "http://x"}, "REDIS_URL"},
		"a short secret":         {"serve", map[string]string{"TOKEN_SECRET": "x"}, "TOKEN_SECRET"},
		"a wrong secret":         {"serve", map[string]string{"WEBHOOK_SECRET": "abc"}, "WEBHOOK_SECRET"},
		"a wrong exemption":      {"serve", map[string]string{"OUTBOUND_ALLOW_PRIVATE": "???"}, "OUTBOUND_ALLOW_PRIVATE"},
		"a blank key":            {"serve", map[string]string{"API_KEY": ","}, "API_KEY"},
		"an unknown command":     {"sevre", nil, "serve"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := e2e.Run(t, tc.command, tc.env)
			wait.Receive(t, "the end of the process", p.Ended())

			if strings.Contains(p.Log(), "worker started") {
				t.Errorf("log %s, want the invalid setting before the start of the worker", p.Log())
			}

			if p.ExitCode() == 0 || !strings.Contains(p.Log(), tc.want) {
				t.Errorf("exit status %d, log %q; want a failure that names %q", p.ExitCode(), p.Log(), tc.want)
			}
		})
	}
}

func TestTwoServersCannotShareARedis(t *testing.T) {
	t.Parallel()
	rdb, store := redistest.Start(t), t.TempDir()

	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	e2e.Serve(t, map[string]string{"REDIS_URL": rdb})
	p := e2e.Run(t, "serve", map[string]string{"PDF_OUTPUT_DIR": store, "REDIS_URL": rdb})
	wait.Receive(t, "the end of the process", p.Ended())

	log := p.Log()
	if p.ExitCode() == 0 || !strings.Contains(log, "PDF_OUTPUT_DIR: keeper: ") ||
		!strings.Contains(log, store+" on "+host) {
		t.Errorf("exit status %d, log %q; want a failure that names the store and the host", p.ExitCode(), log)
	}
}

func TestOperationsEndpoints(t *testing.T) {
	t.Parallel()
	node, c := e2e.Serve(t, map[string]string{"API_KEY": "hush"})
	c.Completed(c.Submit(e2e.Submission{Content: "# x"}).JobID)

	status, _, body := c.Do("GET", "/readyz", "", nil)
	for _, want := range []string{`"status":"ready"`, `"redis"`, `"store"`, `"browser"`, `"sandbox"`, `"workers"`} {
		if status != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("readyz: status %d, %s; want 200 and %s", status, body, want)
		}
	}
	// The worker counts a run a little after the end of its job.
	wait.Until(t, "one run is counted", func() bool { return c.Metric("presswork_runs_total") == 1 })

	status, _, body = c.Do("GET", "/monitor/api/queues", "", nil)
	if status != http.StatusOK || !strings.Contains(string(body), `"render"`) {
		t.Errorf("monitor: status %d, %.200s; want 200 and the queue render", status, body)
	}

	stranger := e2e.NewClient(t, node.Address, "")
	for _, path := range []string{"/metrics", "/monitor", "/api/themes"} {
		t.Run(path, func(t *testing.T) {
			if status, _, _ := stranger.Do("GET", path, "", nil); status != http.StatusUnauthorized {
				t.Errorf("%s without a key: status %d, want 401", path, status)
			}
		})
	}

	for _, path := range []string{"/healthz", "/readyz"} {
		if status, _, _ := stranger.Do("GET", path, "", nil); status != http.StatusOK {
			t.Errorf("%s without a key: status %d, want 200", path, status)
		}
	}
	health := e2e.Run(t, "health --url http://"+node.Address+"/readyz", nil)
	<-health.Ended()

	if health.ExitCode() != 0 {
		t.Errorf("presswork health: exit status %d, want 0: %s", health.ExitCode(), health.Log())
	}
}
