package api

import (
	"context"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel/trace"

	"presswork/tasks"
)

// statsTimeout bounds one look at the queues.
const statsTimeout = 2 * time.Second

// streamKinds are the kinds of answers that last, as the label of their metric.
var streamKinds = []string{lastingSocket, lastingEvents, lastingWait, lastingPreview, lastingCompletion}

const (
	lastingSocket     = "websocket"
	lastingEvents     = "events"
	lastingWait       = "wait"
	lastingPreview    = "preview"
	lastingCompletion = "completion"
)

type metrics struct {
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	running  prometheus.Gauge
	streams  *prometheus.GaugeVec
	bodies   *prometheus.GaugeVec
}

func newMetrics(o Options) *metrics {
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
		running: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "presswork_http_requests_running",
			Help: "Requests being answered now; those that wait for a job and streams of events among them.",
		}),
		streams: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "presswork_streams_open",
			Help: "Answers under way that last: WebSockets, event streams, requests that wait for a job, previews, " +
				"completions.",
		}, []string{"kind"}),
		bodies: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "presswork_http_body_bytes",
			Help: "Bytes of request bodies that are held, in memory and in temporary files.",
		}, []string{"where"}),
	}
	for _, kind := range streamKinds {
		m.streams.WithLabelValues(kind)
	}
	o.Metrics.MustRegister(m.requests, m.seconds, m.running, m.streams, m.bodies)

	if o.Stats != nil {
		o.Metrics.MustRegister(queueCollector{o.Stats})
	}

	if o.Events != nil {
		o.Metrics.MustRegister(eventCollector(o.Events))
	}

	if o.Keeper != nil {
		o.Metrics.MustRegister(storeCollector(o.Keeper.Level))
	}

	return m
}

// countStream adds change to the number of open answers of a kind, one of streamKinds.
func (m *metrics) countStream(kind string, change int) {
	m.streams.WithLabelValues(kind).Add(float64(change))
}

// storeCollector asks at each scrape how full the store is.
type storeCollector func(context.Context) (total, most int64, err error)

var (
	storeBytes = prometheus.NewDesc("presswork_store_bytes", "What the objects in the store sum up to.", nil, nil)
	storeMost  = prometheus.NewDesc("presswork_store_max_bytes", "What they may sum up to; 0 for no cap.", nil, nil)
)

// Describe implements prometheus.Collector, as queueCollector's does.
func (storeCollector) Describe(chan<- *prometheus.Desc) {}

// Collect implements prometheus.Collector.
func (c storeCollector) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), statsTimeout)
	defer cancel()

	total, most, err := c(ctx)
	if err != nil {
		ch <- prometheus.NewInvalidMetric(storeBytes, err)
		return
	}
	ch <- prometheus.MustNewConstMetric(storeBytes, prometheus.GaugeValue, float64(total))
	ch <- prometheus.MustNewConstMetric(storeMost, prometheus.GaugeValue, float64(most))
}

// observe counts one answer, with the trace it is part of. A method nobody knows must
// not become a label.
func (m *metrics) observe(route, method string, status int, took time.Duration, span trace.Span) {
	if !isMethod(method) {
		method = "other"
	}
	m.requests.WithLabelValues(route, method, strconv.Itoa(status)).Inc()

	seconds := m.seconds.WithLabelValues(route)
	if exemplars, ok := seconds.(prometheus.ExemplarObserver); ok && span != nil && span.SpanContext().IsSampled() {
		exemplars.ObserveWithExemplar(
			took.Seconds(),
			prometheus.Labels{"trace_id": span.SpanContext().TraceID().String()},
		)

		return
	}
	seconds.Observe(took.Seconds())
}

// eventCollector shows what a process has relayed to watchers.
type eventCollector func() tasks.EventStats

var (
	eventsRelayed = prometheus.NewDesc(
		"presswork_event_delay_seconds",
		"Events handed to watchers of jobs, and how long after they had happened.",
		nil,
		nil,
	)
	eventWatchers = prometheus.NewDesc(
		"presswork_event_watchers",
		"Watchers of jobs: WebSockets, event streams, and requests that wait.",
		nil,
		nil,
	)
	eventsTooSlow = prometheus.NewDesc(
		"presswork_event_watchers_slow_total",
		"Watchers that were given up because they did not read.",
		nil,
		nil,
	)
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

// queueCollector asks for the state of the queues at each scrape.
type queueCollector struct {
	stats func(context.Context) (tasks.Fleet, error)
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

	fleet, err := c.stats(ctx)
	if err != nil {
		ch <- prometheus.NewInvalidMetric(queueDesc("pending", ""), err)
		return
	}
	count := func(name, help string, v int64) {
		ch <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help, nil, nil), prometheus.GaugeValue, float64(v))
	}
	count("presswork_jobs_open", "Jobs that have not ended.", fleet.Open)
	count("presswork_dead_letters", "Failed jobs that were neither tried again nor dismissed.", fleet.Dead)
	count("presswork_workers", "Worker processes that report.", int64(len(fleet.Workers)))

	for _, q := range fleet.Queues {
		gauge := func(name, help string, v float64) {
			ch <- prometheus.MustNewConstMetric(queueDesc(name, help), prometheus.GaugeValue, v, string(q.Queue))
		}
		gauge("pending", "Tasks waiting for a worker.", float64(q.Pending))
		gauge("active", "Tasks a worker is at.", float64(q.Active))
		gauge("retry", "Tasks waiting for another try.", float64(q.Retry))
		gauge("open", "Tasks that wait, run, or wait for another try.", float64(q.Pending+q.Active+q.Retry))
		gauge("archived", "Tasks that were given up.", float64(q.Archived))
		gauge("oldest_seconds", "How long the task at the head has waited.", q.Oldest.Seconds())
		gauge(
			"oldest_open_seconds",
			"How old the oldest task is that waits, runs, or waits for another try.",
			q.OldestOpen.Seconds(),
		)

		paused := 0.0
		if q.Paused {
			paused = 1
		}
		gauge("paused", "Whether tasks are held back by an operator.", paused)
	}
}
