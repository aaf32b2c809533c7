package e2e_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"presswork/internal/e2e"
	"presswork/internal/inference/inferencetest"
)

// chatter asks one server for streams of stamped tokens.
type chatter struct {
	base, key string
	http      *http.Client
}

func newChatter(base, key string) *chatter {
	return &chatter{base, key, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1024, DisableCompression: true}}}
}

// stream reads a stream of a model. It returns the time to the first token,
// and for each token how long it was on its way.
func (c *chatter) stream(ctx context.Context, model string) (first time.Duration, delays []time.Duration, err error) {
	body := fmt.Sprintf(`{"model":%q,"stream":true,"messages":[{"role":"user","content":"Hi"}]}`, model)
	req, err := http.NewRequestWithContext(ctx, "POST", c.base+"/chat/completions", strings.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	began := inferencetest.Clock()
	res, err := c.http.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		b, _ := io.ReadAll(res.Body)
		return 0, nil, fmt.Errorf("%s: %s", res.Status, b)
	}
	marker := []byte(`"content":"`)
	whole := false
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		whole = whole || bytes.Equal(lines.Bytes(), []byte("data: [DONE]"))
		_, after, ok := bytes.Cut(lines.Bytes(), marker)
		if !ok {
			continue
		}
		text, _, _ := bytes.Cut(after, []byte(`"`))
		stamp, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil {
			continue
		}
		now := inferencetest.Clock()
		if len(delays) == 0 {
			first = now - began
		}
		delays = append(delays, now-time.Duration(stamp))
	}
	if !whole {
		return 0, nil, fmt.Errorf("the stream ended after %d tokens", len(delays))
	}
	return first, delays, nil
}

// load runs streams at a time, rounds after one another in each.
func (c *chatter) load(b *testing.B, streams, rounds int, model string) (firsts, delays []time.Duration) {
	b.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	for i := range streams {
		wg.Go(func() {
			time.Sleep(time.Duration(i) * time.Second / time.Duration(streams)) // the schedule of the load
			for range rounds {
				first, each, err := c.stream(b.Context(), model)
				mu.Lock()
				if err != nil {
					b.Error(err)
				}
				firsts, delays = append(firsts, first), append(delays, each...)
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return firsts, delays
}

// benchModels writes a models.yaml that knows the scenarios of the benchmark.
func benchModels(b *testing.B, base string, names ...string) string {
	b.Helper()
	var models []map[string]any
	for _, name := range names {
		models = append(models, map[string]any{"id": name, "upstreams": []any{map[string]any{"base_url": base}}})
	}
	text, err := json.Marshal(map[string]any{"models": models}) // JSON is YAML
	if err != nil {
		b.Fatal(err)
	}
	path := filepath.Join(b.TempDir(), "models.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkCompletions tells what the way through API, Redis and worker adds to
// the same model asked directly, in blocks that alternate.
func BenchmarkCompletions(b *testing.B) {
	const blocks, streams, rounds, model = 3, 50, 3, "stamps:100@50"
	_, base := inferencetest.Start(b)
	node, client := e2e.Serve(b, map[string]string{"INFERENCE_CONFIG": benchModels(b, base, model), "WORKER_QUEUES": "infer"})
	peers := append([]peerServer{{"presswork", newChatter(client.Base+"/v1", "")}}, startPeers(b, base, model)...)
	direct := newChatter(base, "")
	for b.Loop() {
		direct.load(b, streams, 1, model)
		firsts, delays := map[string][]time.Duration{}, map[string][]time.Duration{}
		block := func(name string, c *chatter) {
			f, d := c.load(b, streams, rounds, model)
			firsts[name], delays[name] = append(firsts[name], f...), append(delays[name], d...)
		}
		for _, p := range peers {
			p.load(b, streams, 1, model)
		}
		for range blocks {
			block("direct", direct)
			for _, p := range peers {
				block(p.name, p.chatter)
			}
		}
		for _, p := range peers {
			added := func(all map[string][]time.Duration, q float64) time.Duration {
				return (quantile(all[p.name], q) - quantile(all["direct"], q)).Round(100 * time.Microsecond)
			}
			what, first, each := "", "p50 ≤ 3 ms, p99 ≤ 15 ms", "p99 ≤ 15 ms"
			if p.name != "presswork" {
				what, first, each = p.name+": ", "stated", "stated"
			}
			report(b, fmt.Sprintf("%stime to the first token, %d streams, more than the model's own", what, streams),
				fmt.Sprintf("p50 %s, p99 %s", added(firsts, 0.5), added(firsts, 0.99)), first)
			report(b, what+"delay of each token, more than the model's own", fmt.Sprintf("p50 %s, p99 %s", added(delays, 0.5), added(delays, 0.99)), each)
		}
		_ = node
	}
}

// BenchmarkManyStreams holds 500 streams of 50 tokens a second.
func BenchmarkManyStreams(b *testing.B) {
	const streams, tokens, rate = 500, 500, 50
	model := fmt.Sprintf("stamps:%d@%d", tokens, rate)
	_, base := inferencetest.Start(b)
	node, client := e2e.Serve(b, map[string]string{"INFERENCE_CONFIG": benchModels(b, base, model), "WORKER_QUEUES": "infer"})
	c := newChatter(client.Base+"/v1", "")
	for b.Loop() {
		memory := make(chan float64)
		go func() {
			time.Sleep((tokens/rate)*time.Second - time.Second) // all of them are running
			memory <- treeMemory(b, node.PID())
		}()
		began := time.Now()
		_, delays := c.load(b, streams, 1, model)
		took := time.Since(began)
		if want := streams * tokens; len(delays) != want {
			b.Errorf("%d of %d tokens arrived", len(delays), want)
		}
		report(b, fmt.Sprintf("%d streams of %d tokens a second, %d tokens", streams, rate, streams*tokens),
			fmt.Sprintf("none lost, %.0f tokens/s, each delayed p50 %s, p99 %s", float64(len(delays))/took.Seconds(),
				quantile(delays, 0.5).Round(100*time.Microsecond), quantile(delays, 0.99).Round(100*time.Microsecond)), "none lost")
		report(b, "memory of the whole process tree meanwhile (PSS)", fmt.Sprintf("%.0f MiB", <-memory), "stated")
	}
}

type peerServer struct {
	name string
	*chatter
}

func startPeers(b *testing.B, base, model string) []peerServer { return nil }
