package worker

import (
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"presswork/internal/inference"
)

// completionMetrics are named by OpenTelemetry's GenAI conventions, with underscores. The metrics of the
// queue have our own names.
type completionMetrics struct {
	// The labels of all of them are names of models, kinds and codes, which the operator bounds.
	tokens     *prometheus.HistogramVec
	duration   *prometheus.HistogramVec
	firstToken *prometheus.HistogramVec
	perToken   *prometheus.HistogramVec
	// servers are calls of MCP servers, whatever their names.
	servers  *prometheus.HistogramVec
	wait     prometheus.Histogram
	inflight prometheus.Gauge
}

// newCompletionMetrics creates the metrics of completions and registers them, if reg is not nil. It panics if reg
// has metrics with these names already.
func newCompletionMetrics(reg prometheus.Registerer) completionMetrics {
	seconds := prometheus.ExponentialBuckets(0.005, 2, 16)
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}

	m := completionMetrics{
		tokens: histogram("gen_ai_client_token_usage", "Tokens of a completion, by type: input, output.",
			prometheus.ExponentialBuckets(1, 4, 14), "gen_ai_request_model", "gen_ai_token_type"),
		duration: histogram("gen_ai_server_request_duration_seconds",
			"Time of a completion on its worker; error_type is an error code, the status of a refused request, "+
				"or empty after success.", seconds, "gen_ai_request_model", "error_type"),
		firstToken: histogram("gen_ai_server_time_to_first_token_seconds", "Time until the first token.", seconds,
			"gen_ai_request_model"),
		perToken: histogram("gen_ai_server_time_per_output_token_seconds", "Time per token after the first.",
			prometheus.ExponentialBuckets(0.0005, 2, 14), "gen_ai_request_model"),
		servers: histogram("presswork_mcp_call_seconds", "Time of calls of MCP servers' tools; outcome is ok, failed "+
			"(reported to the model) or broken (the server or the connection failed).", seconds, "outcome"),
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
		reg.MustRegister(m.tokens, m.duration, m.firstToken, m.perToken, m.servers, m.wait, m.inflight)
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

// startTimer begins to measure a completion. waited is how long the completion waited for a worker. The caller must
// call end.
func (m completionMetrics) startTimer(ctx context.Context, model string, waited time.Duration) completionTimer {
	m.wait.Observe(waited.Seconds())
	m.inflight.Inc()

	return completionTimer{metrics: m, model: model, began: time.Now(), ctx: ctx}
}

// recordFirstToken records the time until the first token.
func (t completionTimer) recordFirstToken() {
	observe(t.ctx, t.metrics.firstToken.WithLabelValues(t.model), time.Since(t.began))
}

// recordServerCalls records those of the calls that were made to MCP servers. Callers choose the names of servers and
// tools, so they are no labels.
func (m completionMetrics) recordServerCalls(calls []inference.ExecutedTool) {
	for _, call := range calls {
		outcome := "ok"

		switch {
		case call.Server == "":
			continue
		case call.Broken:
			outcome = "broken"
		case call.Failed:
			outcome = "failed"
		}
		m.servers.WithLabelValues(outcome).Observe(call.Took.Seconds())
	}
}

// errorType returns the label for an error: our error code, or the status of a refused request; "" for nil. Upstreams
// choose their own codes for mistakes of the caller, so those codes must not become labels.
func errorType(err error) string {
	e := inference.AsError(err)
	switch {
	case e == nil:
		return ""
	case e.Status > http.StatusUnprocessableEntity, // a failure of the upstream or of ours, or too many requests
		e.Code == inference.ToolUseFailed,
		e.Code == inference.JSONValidateFailed,
		e.Code == inference.ContextLength:
		return string(e.Code)
	}

	return strconv.Itoa(e.Status)
}

// end records the duration of the completion and its tokens.
func (t completionTimer) end(r *inference.Result, err error) {
	t.metrics.inflight.Dec()
	observe(t.ctx, t.metrics.duration.WithLabelValues(t.model, errorType(err)), time.Since(t.began))
	t.metrics.tokens.WithLabelValues(t.model, "input").Observe(float64(r.Usage.PromptTokens))
	t.metrics.tokens.WithLabelValues(t.model, "output").Observe(float64(r.Usage.CompletionTokens))

	if n := r.Usage.CompletionTokens; n > 1 {
		t.metrics.perToken.WithLabelValues(t.model).Observe(r.Usage.CompletionTime / float64(n-1))
	}
}
