package worker

import (
	"context"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"presswork/internal/inference"
)

// completionMetrics have the names of OpenTelemetry's GenAI conventions, with
// underscores, beside our own of the queue.
type completionMetrics struct {
	tokens    *prometheus.HistogramVec
	duration  *prometheus.HistogramVec
	firstWord *prometheus.HistogramVec
	perToken  *prometheus.HistogramVec
	wait      prometheus.Histogram
	inflight  prometheus.Gauge
}

func newCompletionMetrics(reg prometheus.Registerer) completionMetrics {
	seconds := prometheus.ExponentialBuckets(0.005, 2, 16)
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}

	m := completionMetrics{
		tokens: histogram("gen_ai_client_token_usage", "Tokens of a completion, by type: input, output.",
			prometheus.ExponentialBuckets(1, 4, 14), "gen_ai_request_model", "gen_ai_token_type"),
		duration: histogram(
			"gen_ai_server_request_duration_seconds",
			"How long a completion took on its worker; error_type is a code, or the status of a request that was refused, and empty for one that succeeded.",
			seconds,
			"gen_ai_request_model",
			"error_type",
		),
		firstWord: histogram(
			"gen_ai_server_time_to_first_token_seconds",
			"How long the model took to begin.",
			seconds,
			"gen_ai_request_model",
		),
		perToken: histogram("gen_ai_server_time_per_output_token_seconds", "How long a token took, after the first.",
			prometheus.ExponentialBuckets(0.0005, 2, 14), "gen_ai_request_model"),
		wait: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "presswork_completion_wait_seconds",
			Help:    "How long completions waited for a worker.",
			Buckets: seconds,
		}),
		inflight: prometheus.NewGauge(
			prometheus.GaugeOpts{Name: "presswork_completions_running", Help: "Completions at work here."},
		),
	}
	if reg != nil {
		reg.MustRegister(m.tokens, m.duration, m.firstWord, m.perToken, m.wait, m.inflight)
	}

	return m
}

// watching times one completion.
type watching struct {
	metrics completionMetrics
	model   string
	began   time.Time
	ctx     context.Context //nolint:containedctx // it names the trace
}

func (m completionMetrics) watch(ctx context.Context, model string, waited time.Duration) watching {
	m.wait.Observe(waited.Seconds())
	m.inflight.Inc()

	return watching{metrics: m, model: model, began: time.Now(), ctx: ctx}
}

func (w watching) first() {
	observe(w.ctx, w.metrics.firstWord.WithLabelValues(w.model), time.Since(w.began))
}

// errorType is a code of ours, or the status of a refusal: what an upstream calls
// the caller's mistake may be anything, and a label must not.
func errorType(err error) string {
	e := inference.AsError(err)
	switch {
	case e == nil:
		return ""
	case e.Status > 422,
		e.Code == inference.ToolUseFailed,
		e.Code == inference.JSONValidateFailed,
		e.Code == inference.ContextLength:
		return string(e.Code)
	}

	return strconv.Itoa(e.Status)
}

func (w watching) done(r inference.Result, err error) {
	w.metrics.inflight.Dec()
	observe(w.ctx, w.metrics.duration.WithLabelValues(w.model, errorType(err)), time.Since(w.began))
	w.metrics.tokens.WithLabelValues(w.model, "input").Observe(float64(r.Usage.PromptTokens))
	w.metrics.tokens.WithLabelValues(w.model, "output").Observe(float64(r.Usage.CompletionTokens))

	if n := r.Usage.CompletionTokens; n > 1 {
		w.metrics.perToken.WithLabelValues(w.model).Observe(r.Usage.CompletionTime / float64(n-1))
	}
}
