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

	expect := func(method, path string, status int, says string) {
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
		if resp.StatusCode != status || !strings.Contains(string(body), says) {
			t.Errorf("%s %s: %d %s", method, path, resp.StatusCode, body)
		}
	}
	expect("GET", "/healthz", 200, `"ok"`)
	expect("GET", "/readyz", 200, `{"status":"ready","checks":{"browser":{"ok":true,"sandbox":true}}}`)
	expect("GET", "/metrics", 200, "presswork_test 7")
	expect("GET", "/else", 404, "")
	expect("POST", "/metrics", 405, "")
	broken.Store(true)
	expect("GET", "/readyz", 503, `{"status":"not_ready","checks":{"browser":{"error":"unavailable","ok":false}}}`)
	expect("GET", "/healthz", 200, `"ok"`)
}

func TestOperationsListenerStopsTwiceAndAnswersNoMore(t *testing.T) {
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
	// Asked, not listened to again: another test may have the port by now.
	if res, err := http.Get("http://" + addr + "/healthz"); err == nil {
		res.Body.Close()
		t.Errorf("a stopped listener answers %s", res.Status)
	}
}

func TestATakenPortIsAClearError(t *testing.T) {
	t.Parallel()

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()

	ops := worker.NewOps(worker.OpsOptions{Addr: l.Addr().String(), Metrics: prometheus.NewRegistry()})
	if err := ops.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "operations listener") {
		t.Errorf("got %v", err)
	}
}
