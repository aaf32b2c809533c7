package worker_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"presswork/internal/ready"
	"presswork/worker"
)

func TestOperationsListenerServesHealthReadinessAndMetrics(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	reg := prometheus.NewRegistry()
	reg.MustRegister(
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "presswork_test", Help: "x"}, func() float64 { return 7 }),
	)

	ops := worker.NewOps(worker.OpsOptions{
		Addr:    "127.0.0.1:0",
		Metrics: reg,
		Checks: []ready.Check{{Name: "browser", Probe: func(context.Context) (map[string]any, error) {
			if broken.Load() {
				return nil, errors.New("the browser died")
			}

			return map[string]any{"sandbox": true}, nil
		}}},
	})
	if err := ops.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	addr := ops.Addr()
	t.Cleanup(func() { ops.Stop(context.Background()) })

	// wantResponse sends a request and checks the status and a part of the body.
	wantResponse := func(method, path string, status int, text string) {
		t.Helper()

		req, err := http.NewRequestWithContext(t.Context(), method, "http://"+addr+path, nil)
		if err != nil {
			t.Fatal(err)
		}

		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()

		body, _ := io.ReadAll(resp.Body)
		if resp.StatusCode != status || !strings.Contains(string(body), text) {
			t.Errorf("%s %s: got %d %s, want %d and %q", method, path, resp.StatusCode, body, status, text)
		}
	}
	wantResponse("GET", "/healthz", 200, `"ok"`)
	wantResponse("GET", "/readyz", 200, `{"status":"ready","checks":{"browser":{"ok":true,"sandbox":true}}}`)
	wantResponse("GET", "/metrics", 200, "presswork_test 7")
	wantResponse("GET", "/else", 404, "")
	wantResponse("POST", "/metrics", 405, "")
	broken.Store(true)
	wantResponse("GET", "/readyz", 503,
		`{"status":"not_ready","checks":{"browser":{"error":"unavailable","ok":false}}}`)
	wantResponse("GET", "/healthz", 200, `"ok"`)
}

func TestTheOperationsListenerCanBeStoppedTwice(t *testing.T) {
	t.Parallel()

	ops := worker.NewOps(worker.OpsOptions{Addr: "127.0.0.1:0", Metrics: prometheus.NewRegistry()})
	if err := ops.Start(t.Context()); err != nil {
		t.Fatal(err)
	}

	addr := ops.Addr()
	for range 2 {
		if err := ops.Stop(t.Context()); err != nil {
			t.Error(err)
		}
	}
	// Send a request instead of listening on the port: another test may have the port by now.
	if res, err := http.Get("http://" + addr + "/healthz"); err == nil {
		res.Body.Close()
		t.Errorf("the stopped listener responded with %s", res.Status)
	}
}

func TestTheErrorOfATakenPortNamesTheListener(t *testing.T) {
	t.Parallel()

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()

	ops := worker.NewOps(worker.OpsOptions{Addr: l.Addr().String(), Metrics: prometheus.NewRegistry()})
	if err := ops.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "operations listener") {
		t.Errorf("got %v, want an error of the operations listener", err)
	}
}
