package metrics_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"presswork/api/metrics"
	"presswork/tasks"
)

// scrape returns what /metrics answers.
func scrape(registry *prometheus.Registry) string {
	w := httptest.NewRecorder()
	promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}).
		ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))

	return w.Body.String()
}

func TestQueuesAndStoreAreReadAtEachScrape(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	open := int64(0)

	metrics.New(metrics.Options{
		Registry: registry,
		Stats: func(context.Context) (tasks.Fleet, error) {
			open++
			stats := tasks.QueueStats{Queue: tasks.Render, Pending: 3, Paused: true}

			return tasks.Fleet{Open: open, Queues: []tasks.QueueStats{stats}}, nil
		},
		Level: func(context.Context) (total, limit int64, err error) { return 7, 9, nil },
	})
	scrape(registry)

	got := scrape(registry)

	for _, want := range []string{
		"presswork_jobs_open 2\n",
		`presswork_queue_pending{queue="render"} 3` + "\n",
		`presswork_queue_paused{queue="render"} 1` + "\n",
		"presswork_store_bytes 7\n",
		"presswork_store_max_bytes 9\n",
		`presswork_streams_open{kind="mcp"} 0` + "\n",
	} {
		t.Run(want, func(t *testing.T) {
			if !strings.Contains(got, want) {
				t.Errorf("got %s, want %q", got, want)
			}
		})
	}
}

func TestAnOutageOfRedisLeavesTheOtherMetrics(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	m := metrics.New(metrics.Options{
		Registry: registry,
		Stats:    func(context.Context) (tasks.Fleet, error) { return tasks.Fleet{}, errors.New("connection refused") },
	})
	m.Observe("/api/themes", http.MethodGet, http.StatusOK, time.Millisecond, nil)
	m.CountStream(metrics.Wait, 2)

	got := scrape(registry)
	for _, want := range []string{
		`presswork_http_requests_total{method="GET",route="/api/themes",status="200"} 1`,
		`presswork_streams_open{kind="wait"} 2`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("got %s, want %q", got, want)
		}
	}

	if strings.Contains(got, "presswork_jobs_open") {
		t.Errorf("got %s, want no state of the queues", got)
	}
}
