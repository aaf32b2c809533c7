package api

import (
	"context"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"presswork/tasks"
)

// statsTimeout bounds one look at the queues.
const statsTimeout = 2 * time.Second

type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	sockets  prometheus.Gauge
}

func newMetrics(registry prometheus.Registerer, stats func(context.Context) ([]tasks.QueueStats, error)) *metrics {
	m := &metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "presswork_http_requests_total",
			Help: "Requests answered.",
		}, []string{"route", "method", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "presswork_http_request_seconds",
			Help:    "Time from a request's headers to the start of its answer.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5, 30},
		}, []string{"route"}),
		sockets: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "presswork_ws_connections",
			Help: "WebSockets open now.",
		}),
	}
	registry.MustRegister(m.requests, m.seconds, m.sockets)
	if stats != nil {
		registry.MustRegister(queueCollector{stats})
	}
	return m
}

// observe counts one answer. A method nobody knows must not become a label.
func (m *metrics) observe(route, method string, status int, took time.Duration) {
	if !isMethod(method) {
		method = "other"
	}
	m.requests.WithLabelValues(route, method, strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(route).Observe(took.Seconds())
}

// queueCollector asks for the state of the queues at each scrape.
type queueCollector struct {
	stats func(context.Context) ([]tasks.QueueStats, error)
}

func queueDesc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("presswork_queue_"+name, help, []string{"queue"}, nil)
}

// Describe implements prometheus.Collector: it sends nothing, which makes the
// collector an unchecked one, so that a scrape works while Redis does not.
func (queueCollector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c queueCollector) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), statsTimeout)
	defer cancel()
	queues, err := c.stats(ctx)
	if err != nil {
		ch <- prometheus.NewInvalidMetric(queueDesc("pending", ""), err)
		return
	}
	for _, q := range queues {
		gauge := func(name, help string, v float64) {
			ch <- prometheus.MustNewConstMetric(queueDesc(name, help), prometheus.GaugeValue, v, string(q.Queue))
		}
		gauge("pending", "Tasks waiting for a worker.", float64(q.Pending))
		gauge("active", "Tasks a worker is at.", float64(q.Active))
		gauge("retry", "Tasks waiting for another try.", float64(q.Retry))
		gauge("archived", "Tasks that were given up.", float64(q.Archived))
		gauge("oldest_seconds", "How long the task at the head has waited.", q.Oldest.Seconds())
	}
}
