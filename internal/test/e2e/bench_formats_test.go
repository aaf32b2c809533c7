package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/e2e"
)

// BenchmarkThroughput counts the whole answers that twenty clients get per second, in each wire format.
func BenchmarkThroughput(b *testing.B) {
	const clients, blocks, model = 20, 2, "hello"
	_, base := inferencetest.Start(b)
	_, client := e2e.Serve(b,
		map[string]string{"INFERENCE_CONFIG": benchModels(b, base, model), "WORKER_QUEUES": "infer"})
	gateways := append([]gateway{{"", newChatter(client.Base + "/v1")}}, startPeers(b, base, model)...)

	for b.Loop() {
		for _, f := range wireFormats {
			measured, what := gateways, fmt.Sprintf("whole answers in %s, %d clients", f.name, clients)
			if f == wireFormats[0] {
				measured = append(measured, gateway{"the model alone: ", newChatter(base)})
				what = fmt.Sprintf("whole answers, %d clients", clients)
			}

			rates := make([]float64, len(measured))
			for range blocks {
				for i, g := range measured {
					ctx, cancel := context.WithTimeout(b.Context(), 5*time.Second)
					began := time.Now()
					n := g.in(f).keepAsking(ctx, b, clients, f.request(model, false))
					cancel()
					rates[i] += float64(n) / time.Since(began).Seconds() / blocks
				}
			}

			for i, g := range measured {
				goal := "stated"
				if i == 0 && len(gateways) == 2 {
					goal = fmt.Sprintf("≥ 10 × LiteLLM's: %.1f ×", rates[0]/rates[1])
				}
				report(b, g.name+what, fmt.Sprintf("%.0f/s", rates[i]), goal)
			}
		}
	}
}

// BenchmarkFirstTokens measures how much later the first token arrives in Responses and in Messages than in chat
// completions. Single requests of the formats alternate.
func BenchmarkFirstTokens(b *testing.B) {
	const rounds, model = 300, "stamps:3@0"
	_, base := inferencetest.Start(b)
	_, client := e2e.Serve(b,
		map[string]string{"INFERENCE_CONFIG": benchModels(b, base, model), "WORKER_QUEUES": "infer"})
	c := newChatter(client.Base + "/v1")

	for b.Loop() {
		firsts := make([][]time.Duration, len(wireFormats))
		for range rounds {
			for i, f := range wireFormats {
				first, _, err := c.in(f).stream(b.Context(), model)
				if err != nil {
					b.Fatal(err)
				}
				firsts[i] = append(firsts[i], first)
			}
		}
		chat := quantile(firsts[0], 0.5)

		for i, f := range wireFormats[1:] {
			later := quantile(firsts[i+1], 0.5) - chat
			report(
				b,
				"first token in "+f.name+", later than in chat completions, one client",
				fmt.Sprintf("p50 %s (chat completions: %s)",
					later.Round(10*time.Microsecond), chat.Round(10*time.Microsecond)),
				"p50 ≤ 0.5 ms",
			)
		}
	}
}

// BenchmarkFormats reads 500 streams of each wire format from one server, in alternating blocks. It compares the CPU time
// and the delay of a token with those of chat completions.
func BenchmarkFormats(b *testing.B) {
	const streams, tokens, blocks, model = 500, 150, 4, "stamps:150@50"
	_, base := inferencetest.Start(b)
	node, client := e2e.Serve(b, map[string]string{
		"INFERENCE_CONFIG":      benchModels(b, base, model),
		"WORKER_QUEUES":         "infer",
		"INFERENCE_CONCURRENCY": fmt.Sprint(streams),
	})
	c := newChatter(client.Base + "/v1")
	c.load(b, streams, 1, model)

	for b.Loop() {
		delays, ratios := make([][]time.Duration, len(wireFormats)), make([][]float64, len(wireFormats))

		for range blocks {
			var chat time.Duration

			for i, f := range wireFormats {
				before := treeCPU(b, node.PID())
				_, each := c.in(f).load(b, streams, 1, model)
				spent := treeCPU(b, node.PID()) - before

				if i == 0 {
					chat = spent
				}
				delays[i], ratios[i] = append(delays[i], each...), append(ratios[i], float64(spent)/float64(chat))
			}
		}

		for i, f := range wireFormats {
			if i > 0 {
				report(b,
					fmt.Sprintf("%d streams in %s: CPU time of a token, against chat completions", streams, f.name),
					fmt.Sprintf("%.2f ×", median(ratios[i])), "≤ 1.15 ×")
			}
			report(b, fmt.Sprintf("%d streams in %s: delay of each token", streams, f.name),
				percentiles(delays[i], 100*time.Microsecond), "p99 as of chat completions")
		}
	}
}

// BenchmarkEmbeddings embeds a thousand texts of 200 tokens through the server in one request. A loop sends the same
// batches to the model itself, which takes a millisecond for each text.
func BenchmarkEmbeddings(b *testing.B) {
	const texts, size, parallel, blocks, model = 1000, 128, 2, 5, "vector-paced:1024" // size is that of a batch
	_, base := inferencetest.Start(b)
	_, client := e2e.Serve(b, map[string]string{
		"INFERENCE_CONFIG": writeModelList(b, []map[string]any{
			{
				"id":           model,
				"capabilities": []string{"embeddings"},
				// vllm returns vectors in base64, which the loop also requests.
				"upstreams": []any{map[string]any{"base_url": base, "kind": "vllm"}},
				"batches":   map[string]int{"size": size, "parallel": parallel},
			},
		}),
		"WORKER_QUEUES": "infer",
	})
	format := wireFormat{path: "/embeddings"}
	server, engine := newChatter(client.Base+"/v1").in(format), newChatter(base).in(format)

	input := make([]string, texts)
	for i := range input {
		input[i] = fmt.Sprint(i) + strings.Repeat(" word", 199)
	}
	ask := func(c *chatter, texts []string) {
		body, err := json.Marshal(map[string]any{"model": model, "input": texts, "encoding_format": "base64"})
		if err == nil {
			err = c.post(b.Context(), body)
		}

		if err != nil {
			b.Error(err)
		}
	}
	loop := func() {
		slots := make(chan struct{}, parallel)

		var wg sync.WaitGroup

		for first := 0; first < texts; first += size {
			slots <- struct{}{}

			wg.Go(func() {
				ask(engine, input[first:min(first+size, texts)])
				<-slots
			})
		}
		wg.Wait()
	}

	for b.Loop() {
		ask(server, input)
		var ratios, bares, ours []float64

		for range blocks {
			began := time.Now()
			loop()
			bare := time.Since(began).Seconds()
			began = time.Now()
			ask(server, input)
			took := time.Since(began).Seconds()
			ratios, bares, ours = append(ratios, bare/took), append(bares, bare), append(ours, took)
		}
		report(
			b,
			fmt.Sprintf("embeddings of %d texts of 200 tokens, against a loop of calls to the model itself", texts),
			fmt.Sprintf("%.2f × as fast (%.0f ms against %.0f ms)",
				median(ratios), 1000*median(ours), 1000*median(bares)),
			"≥ 0.9 ×",
		)
	}
}
