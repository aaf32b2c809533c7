package worker

import (
	"context"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"presswork/internal/inference"
)

// completionMetrics are named by OpenTelemetry's GenAI conventions, with underscores. The metrics of the
// queue have our own names.
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
			"Time of a completion on its worker; error_type is an error code, the status of a refused request, "+
				"or empty after success.",
			seconds,
			"gen_ai_request_model",
			"error_type",
		),
		firstWord: histogram("gen_ai_server_time_to_first_token_seconds", "Time until the first token.", seconds,
			"gen_ai_request_model"),
		perToken: histogram("gen_ai_server_time_per_output_token_seconds", "Time per token after the first.",
			prometheus.ExponentialBuckets(0.0005, 2, 14), "gen_ai_request_model"),
		wait: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "presswork_completion_wait_seconds",
			Help:    "Time that completions waited for a worker.",
			Buckets: seconds,
		}),
		inflight: prometheus.NewGauge(
			prometheus.GaugeOpts{Name: "presswork_completions_running", Help: "Completions that run in this process."},
		),
	}
	if reg != nil {
		reg.MustRegister(m.tokens, m.duration, m.firstWord, m.perToken, m.wait, m.inflight)
	}

	return m
}

// completionTimer measures one completion.
type completionTimer struct {
	metrics completionMetrics
	model   string
	began   time.Time
	ctx     context.Context //nolint:containedctx // it names the trace
}

// startTimer begins to measure a completion that has waited for a worker. done ends it.
func (m completionMetrics) startTimer(ctx context.Context, model string, waited time.Duration) completionTimer {
	m.wait.Observe(waited.Seconds())
	m.inflight.Inc()

	return completionTimer{metrics: m, model: model, began: time.Now(), ctx: ctx}
}

// firstToken notes the time of the first token.
func (w completionTimer) firstToken() {
	observe(w.ctx, w.metrics.firstWord.WithLabelValues(w.model), time.Since(w.began))
}

// errorType returns our error code, or the status of a refusal. Upstreams choose their own codes for
// mistakes of the caller, so those codes must not become labels.
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

// end notes the end of the completion and its tokens.
func (w completionTimer) end(r inference.Result, err error) {
	w.metrics.inflight.Dec()
	observe(w.ctx, w.metrics.duration.WithLabelValues(w.model, errorType(err)), time.Since(w.began))
	w.metrics.tokens.WithLabelValues(w.model, "input").Observe(float64(r.Usage.PromptTokens))
	w.metrics.tokens.WithLabelValues(w.model, "output").Observe(float64(r.Usage.CompletionTokens))

	if n := r.Usage.CompletionTokens; n > 1 {
		w.metrics.perToken.WithLabelValues(w.model).Observe(r.Usage.CompletionTime / float64(n-1))
	}
}
