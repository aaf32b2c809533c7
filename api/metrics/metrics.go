// Package metrics has the metrics of the API's requests, and those of queues, events and the store that /metrics reads
// at each scrape.
package metrics

import (
	"context"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"presswork/tasks"
)

// statsTimeout bounds reading the state of the queues or the store for a scrape.
const statsTimeout = 2 * time.Second

// The kinds of long answers, the label of presswork_streams_open.
const (
	Socket     = "websocket"
	Events     = "events"
	Wait       = "wait"
	Preview    = "preview"
	Completion = "completion"
	MCP        = "mcp"
)

// Options configure Metrics.
type Options struct {
	// Registry is where the metrics are registered. Mandatory.
	Registry *prometheus.Registry
	// Events reports the events that this process has relayed. Nil: no such metrics.
	Events func() tasks.EventStats
	// Stats reports the state of queues and workers. Nil: no such metrics.
	Stats func(ctx context.Context) (tasks.Fleet, error)
	// Level reports the size of the store and its limit, in bytes. Nil: no such metrics.
	Level func(ctx context.Context) (total, limit int64, err error)
}

// Metrics are the metrics that the server updates itself. The collectors below read the others at each scrape.
type Metrics struct {
	// Running counts the requests that are being answered.
	Running prometheus.Gauge
	// Bodies counts the bytes of request bodies, by "memory" and "disk".
	Bodies *prometheus.GaugeVec

	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	streams  *prometheus.GaugeVec
}

// New registers the metrics. It panics if the registry has metrics with these names already.
func New(o Options) *Metrics {
	m := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "presswork_http_requests_total",
			Help: "Requests answered.",
		}, []string{"route", "method", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "presswork_http_request_seconds",
			Help:    "Time from a request's headers to the start of its answer.",
			Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 5, 30},
		}, []string{"route"}),
		Running: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "presswork_http_requests_running",
			Help: "Requests being answered now, including those that wait for a job and event streams.",
		}),
		streams: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "presswork_streams_open",
			Help: "Open long answers: WebSockets, event streams, requests that wait for a job, previews, completions.",
		}, []string{"kind"}),
		Bodies: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "presswork_http_body_bytes",
			Help: "Bytes of request bodies held in memory and in temporary files.",
		}, []string{"where"}),
	}
	for _, kind := range []string{Socket, Events, Wait, Preview, Completion, MCP} {
		m.streams.WithLabelValues(kind)
	}
	o.Registry.MustRegister(m.requests, m.seconds, m.Running, m.streams, m.Bodies)

	if o.Stats != nil {
		o.Registry.MustRegister(queueCollector{o.Stats})
	}

	if o.Events != nil {
		o.Registry.MustRegister(eventCollector(o.Events))
	}

	if o.Level != nil {
		o.Registry.MustRegister(storeCollector(o.Level))
	}

	return m
}

// CountStream adds change to the number of open answers of a kind.
func (m *Metrics) CountStream(kind string, change int) {
	m.streams.WithLabelValues(kind).Add(float64(change))
}

// storeCollector reads the size of the store at each scrape.
type storeCollector func(context.Context) (total, limit int64, err error)

var (
	storeBytes = prometheus.NewDesc("presswork_store_bytes", "Size of all objects in the store, in bytes.", nil, nil)
	storeLimit = prometheus.NewDesc("presswork_store_max_bytes",
		"Largest size of all objects, in bytes; 0: no limit.", nil, nil)
)

// Describe implements prometheus.Collector. It sends nothing, for the reason given at queueCollector.Describe.
func (storeCollector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c storeCollector) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), statsTimeout)
	defer cancel()

	total, limit, err := c(ctx)
	if err != nil {
		ch <- prometheus.NewInvalidMetric(storeBytes, err)
		return
	}
	ch <- prometheus.MustNewConstMetric(storeBytes, prometheus.GaugeValue, float64(total))
	ch <- prometheus.MustNewConstMetric(storeLimit, prometheus.GaugeValue, float64(limit))
}

// Observe counts one answer and links it to its trace. The caller bounds the values of route and method, because each
// creates a time series.
func (m *Metrics) Observe(route, method string, status int, took time.Duration, span trace.Span) {
	m.requests.WithLabelValues(route, method, strconv.Itoa(status)).Inc()

	seconds := m.seconds.WithLabelValues(route)
	if exemplars, ok := seconds.(prometheus.ExemplarObserver); ok && span != nil && span.SpanContext().IsSampled() {
		exemplars.ObserveWithExemplar(took.Seconds(),
			prometheus.Labels{"trace_id": span.SpanContext().TraceID().String()})

		return
	}
	seconds.Observe(took.Seconds())
}

// eventCollector reports the events that this process has relayed to watchers.
type eventCollector func() tasks.EventStats

var (
	eventsRelayed = prometheus.NewDesc("presswork_event_delay_seconds",
		"Delay from an event of a job to its delivery to a watcher.", nil, nil)
	eventWatchers = prometheus.NewDesc("presswork_event_watchers",
		"Watchers of jobs: WebSockets, event streams and waiting requests.", nil, nil)
	eventsTooSlow = prometheus.NewDesc("presswork_event_watchers_slow_total",
		"Watchers dropped because they read too slowly.", nil, nil)
)

// Describe implements prometheus.Collector.
func (eventCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{eventsRelayed, eventWatchers, eventsTooSlow} {
		ch <- d
	}
}

// Collect implements prometheus.Collector.
func (c eventCollector) Collect(ch chan<- prometheus.Metric) {
	s := c()
	ch <- prometheus.MustNewConstSummary(eventsRelayed, uint64(s.Events), s.Delay.Seconds(), nil)
	ch <- prometheus.MustNewConstMetric(eventWatchers, prometheus.GaugeValue, float64(s.Watchers))
	ch <- prometheus.MustNewConstMetric(eventsTooSlow, prometheus.CounterValue, float64(s.Slow))
}

// queueCollector reads the state of the queues at each scrape.
type queueCollector struct {
	stats func(context.Context) (tasks.Fleet, error)
}

// queueDesc describes a metric that each queue has.
func queueDesc(name, help string) *prometheus.Desc {
	return prometheus.NewDesc("presswork_queue_"+name, help, []string{"queue"}, nil)
}

// Describe implements prometheus.Collector. It sends nothing, which makes the collector unchecked: registering it
// and scraping work while Redis is unavailable.
func (queueCollector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c queueCollector) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), statsTimeout)
	defer cancel()

	fleet, err := c.stats(ctx)
	if err != nil {
		ch <- prometheus.NewInvalidMetric(queueDesc("pending", ""), err)
		return
	}
	count := func(name, help string, v int64) {
		ch <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, nil, nil), prometheus.GaugeValue, float64(v))
	}
	count("presswork_jobs_open", "Jobs that have not ended.", fleet.Open)
	count("presswork_dead_letters", "Failed jobs that were neither retried nor dismissed.", fleet.Dead)
	count("presswork_workers", "Worker processes that report.", int64(len(fleet.Workers)))

	for _, q := range fleet.Queues {
		gauge := func(name, help string, v float64) {
			ch <- prometheus.MustNewConstMetric(queueDesc(name, help), prometheus.GaugeValue, v, string(q.Queue))
		}
		gauge("pending", "Tasks waiting for a worker.", float64(q.Pending))
		gauge("active", "Tasks that a worker runs.", float64(q.Active))
		gauge("retry", "Tasks waiting for a retry.", float64(q.Retry))
		gauge("open", "Tasks that wait, run, or wait for a retry.", float64(q.Pending+q.Active+q.Retry))
		gauge("archived", "Tasks that failed for the last time.", float64(q.Archived))
		gauge("oldest_seconds", "Time that the first task of the queue has waited.", q.Oldest.Seconds())
		gauge("oldest_open_seconds", "Age of the oldest task that waits, runs, or waits for a retry.",
			q.OldestOpen.Seconds())

		paused := 0.0
		if q.Paused {
			paused = 1
		}
		gauge("paused", "1 while an operator has paused the queue.", paused)
	}
}
