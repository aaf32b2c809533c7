package e2e_test

import (
	"encoding/hex"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	"google.golang.org/protobuf/proto"

	"presswork/internal/test/e2e"
	"presswork/internal/test/wait"
)

func TestTraceReachesFromTheCallerToTheWorker(t *testing.T) {
	t.Parallel()
	const traceID, callerSpan = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	var mu sync.Mutex
	parents, names := map[string]string{}, map[string]string{} // by span id
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}

		var req collector.ExportTraceServiceRequest
		if err := proto.Unmarshal(body, &req); err != nil || r.URL.Path != "/v1/traces" {
			t.Errorf("export to %s: %v; want /v1/traces and spans", r.URL.Path, err)
		}
		mu.Lock()
		defer mu.Unlock()

		for _, resource := range req.GetResourceSpans() {
			for _, scope := range resource.GetScopeSpans() {
				for _, span := range scope.GetSpans() {
					if hex.EncodeToString(span.GetTraceId()) == traceID {
						id := hex.EncodeToString(span.GetSpanId())
						parents[id], names[id] = hex.EncodeToString(span.GetParentSpanId()), span.GetName()
					}
				}
			}
		}
	}))
	t.Cleanup(server.Close)
	node, c := e2e.Serve(t, map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": server.URL})
	c.Completed(c.Submit(e2e.Submission{Content: "# traced"}, "traceparent", "00-"+traceID+"-"+callerSpan+"-01").JobID)
	// Only the OpenMetrics format has exemplars with the trace. The worker counts a run after the end of its job, so the
	// test waits for the metrics.
	for _, name := range []string{
		"presswork_http_request_seconds", "presswork_run_seconds", "presswork_job_wait_seconds", "presswork_stage_seconds",
	} {
		exemplar := regexp.MustCompile(`(?m)^` + name + `_bucket\{.* # \{trace_id="` + traceID + `"\}`)
		wait.Until(t, name+" has an exemplar of the trace", func() bool {
			_, header, metrics := c.Do("GET", "/metrics", "", nil, "Accept",
				"application/openmetrics-text; version=1.0.0")

			return strings.Contains(header.Get("Content-Type"), "openmetrics") && exemplar.Match(metrics)
		})
	}
	node.Stop() // sends the remaining spans

	mu.Lock()
	defer mu.Unlock()
	// path returns the names of a span and its parents, the outermost first.
	path := func(id string) (out string) {
		for ; names[id] != ""; id = parents[id] {
			out = "/" + names[id] + out
		}

		if id != callerSpan {
			t.Errorf("the parent of %q is the span %q, want %q of the caller", out, id, callerSpan)
		}

		return out
	}

	var got []string
	for _, id := range slices.Collect(maps.Keys(names)) {
		got = append(got, path(id))
	}
	slices.Sort(got)
	const submit = "/POST /api/conversion"

	want := []string{
		submit,
		submit + "/conversion",
		submit + "/conversion/printing",
		submit + "/conversion/rendering",
		submit + "/conversion/storing",
	}
	if !slices.Equal(got, want) {
		t.Errorf("spans %q, want %q", got, want)
	}
}
