package e2e_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/e2e"
)

// BenchmarkTranscriptions measures the overhead of API, store, queue and worker for a recording of 5 MB. It
// alternates with direct requests to the same engine.
func BenchmarkTranscriptions(b *testing.B) {
	const rounds, warmUp = 40, 3
	_, base := inferencetest.Start(b)
	models := writeFile(b, "models.yaml", fmt.Sprintf(
		"models: [{id: ears, capabilities: [transcription], upstreams: [{base_url: %q}]}]", base))
	_, client := e2e.Serve(b, map[string]string{"INFERENCE_CONFIG": models, "WORKER_QUEUES": "audio"})
	wav := sampleWAV(5 << 20 / 32_000) // of 32 000 bytes a second
	contentType, body := audioForm(b, "a.wav", wav, "model=ears", "response_format=json")
	post := func(address string) time.Duration {
		began := time.Now()

		res, err := http.Post(address, contentType, bytes.NewReader(body))
		if err != nil {
			b.Fatal(err)
		}
		defer res.Body.Close()

		if answer, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusOK {
			b.Fatalf("status %d, %s, %v; want 200", res.StatusCode, answer, err)
		}

		return time.Since(began)
	}

	for b.Loop() {
		var direct, ours []time.Duration

		for n := range rounds + warmUp {
			d, o := post(base+"/audio/transcriptions"), post(client.Base+"/v1/audio/transcriptions")
			if n >= warmUp {
				direct, ours = append(direct, d), append(ours, o)
			}
		}
		added := func(q float64) time.Duration {
			return (quantile(ours, q) - quantile(direct, q)).Round(100 * time.Microsecond)
		}
		b.Logf("direct: min %s, p50 %s", quantile(direct, 0), quantile(direct, .5))
		b.Logf("ours: min %s, p50 %s", quantile(ours, 0), quantile(ours, .5))
		report(b, "transcription of a recording of 5 MB, more than the engine's own time",
			fmt.Sprintf("min %s, p50 %s, p90 %s", added(0), added(.5), added(.9)), "p50 < 30 ms")
	}
}
