package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/e2e"
	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
)

func TestStoppingServerFinishesItsStreams(t *testing.T) {
	t.Parallel()
	_, base := inferencetest.Start(t)
	node, c := e2e.Serve(t, map[string]string{"INFERENCE_CONFIG": chatModels(t, base, "tokens:40@20")})
	var once sync.Once
	tokens, last := 0, ""
	readStream(t, c, t.Context(), chatRequest("tokens:40@20", true, ""), func(data string) bool {
		once.Do(func() { node.Signal(syscall.SIGTERM) })
		tokens += tokensIn(data)
		last = data

		return true
	})

	if tokens != 40 || last != "[DONE]" {
		t.Errorf("got %d tokens and the last event %s, want 40 and [DONE]", tokens, last)
	}
	<-node.Ended()

	if code := node.ExitCode(); code != 0 {
		t.Errorf("exit status %d, want 0", code)
	}
}

func TestStreamSurvivesARestartOfRedis(t *testing.T) {
	t.Parallel()
	_, base := inferencetest.Start(t)
	redis := redistest.StartDurable(t)
	env := map[string]string{
		"INFERENCE_CONFIG": chatModels(t, base, "tokens:100@20", "hello"),
		"WORKER_QUEUES":    "infer",
	}
	fleet := fleetOn(t, redis.Address)
	_, c := fleet.API(env)
	fleet.Worker(env)
	var once sync.Once
	tokens, last := 0, ""

	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()
	readStream(t, c, ctx, chatRequest("tokens:100@20", true, ""), func(data string) bool {
		once.Do(func() {
			redis.Kill()
			redis.Restart()
		})
		tokens += tokensIn(data)
		last = data

		return true
	})

	if ctx.Err() != nil || last != "[DONE]" || tokens != 100 {
		t.Errorf("got %d tokens and the last event %q (%v), want 100 and [DONE]", tokens, last, ctx.Err())
	}
	// A client of Redis whose dials have failed tries again once a second.
	wait.Until(t, "the API takes completions again", func() bool {
		status, _, _ := c.Do("POST", "/v1/chat/completions", "application/json", chatRequest("hello", false, ""))
		return status == http.StatusOK
	})

	if content, last := streamedText(t, c, chatRequest("hello", true, "")); content != "Hello, world!" ||
		last != "[DONE]" {
		t.Errorf("the next stream: %q, last event %q; want Hello, world! and [DONE]", content, last)
	}
}

// keysFile writes a keys.yaml with an admin and n other keys, "key-0" to "key-<n-1>", and returns its path.
func keysFile(t *testing.T, n int) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("keys:\n  - {name: boss, key: boss-key, admin: true}\n")

	for i := range n {
		fmt.Fprintf(&b, "  - {name: k%d, key: key-%d}\n", i, i)
	}

	return writeFile(t, "keys.yaml", b.String())
}

// A hundred keys send requests to two API nodes, for a model that takes two requests at a time from each worker. Keys that
// send three times as many requests must not get more answers. The requests wait in the worker if it takes 512 at a time,
// and in Redis if it takes 8.
func TestKeysShareAModelEvenly(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct {
		workers     int
		concurrency string
	}{"waiting in a worker": {1, "512"}, "waiting in Redis": {2, "8"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const total = 1500

			served := servedByKey(t, total, tc.workers, map[string]string{"INFERENCE_CONCURRENCY": tc.concurrency})

			least, most := slices.Min(served), slices.Max(served)
			if least == 0 || float64(most)/float64(least) >= 1.5 {
				t.Errorf("between %d and %d answers for each key, want a ratio below 1.5: %v", least, most, served)
			}
		})
	}
}

// servedByKey sends requests with a hundred keys until total are answered. It returns the number of answers for each
// key.
func servedByKey(t *testing.T, total, workers int, env map[string]string) []int {
	const keys = 100
	_, base := inferencetest.Start(t)
	fleet := newFleet(t)
	env["INFERENCE_CONFIG"] = writeFile(t, "models.yaml", fmt.Sprintf(
		"models:\n  - {id: narrow, upstreams: [{base_url: %q, model: 'tokens:1@100', max_concurrency: 2}]}\n", base))
	env["KEYS_CONFIG"], env["WORKER_QUEUES"] = keysFile(t, keys), "infer"
	_, firstNode := fleet.API(env)
	_, secondNode := fleet.API(env)

	for range workers {
		fleet.Worker(env)
	}

	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var mu sync.Mutex
	served := make([]int, keys)
	sum := 0
	count := func(k int) {
		mu.Lock()
		defer mu.Unlock()

		sum++
		switch {
		case sum > total:
			stop()
		case sum > keys: // the first answers depend on the order of arrival
			served[k]++
		}
	}
	var wg sync.WaitGroup

	for k := range keys {
		for n := range 4 + 4*(k%3) {
			c := []*e2e.Client{firstNode, secondNode}[n%2]
			wg.Go(func() {
				for ctx.Err() == nil {
					res, err := c.PostJSON(ctx, "/v1/chat/completions", chatRequest("narrow", false, ""),
						"X-API-Key", fmt.Sprintf("key-%d", k))
					if err != nil {
						continue // ctx has ended
					}
					res.Body.Close()

					if res.StatusCode != http.StatusOK {
						t.Errorf("key %d: status %s, want 200", k, res.Status)
						return
					}
					count(k)
				}
			})
		}
	}
	wg.Wait()

	return served
}

func TestTokensOfAKilledWorkerAreCounted(t *testing.T) {
	t.Parallel()
	_, base := inferencetest.Start(t)
	fleet := newFleet(t)
	env := map[string]string{"INFERENCE_CONFIG": chatModels(t, base, "tokens:100000@50"), "WORKER_QUEUES": "infer"}
	_, c := fleet.API(env)
	worker := fleet.Worker(env)
	var once sync.Once
	received := 0
	readStream(t, c, t.Context(), chatRequest("tokens:100000@50", true, "Tell me."), func(data string) bool {
		if received += tokensIn(data); received >= 20 {
			once.Do(func() {
				worker.Signal(syscall.SIGKILL)
				fleet.Worker(env)
			})
		}

		return true
	})
	_, _, body := c.Do("GET", "/v1/usage?group_by=model", "", nil)

	var usage struct {
		Data []struct {
			Requests         int `json:"requests"`
			PromptTokens     int `json:"prompt_tokens"`
			CompletionTokens int `json:"completion_tokens"`
		}
	}
	if err := json.Unmarshal(body, &usage); err != nil {
		t.Fatal(err)
	}

	if len(usage.Data) != 1 || usage.Data[0].Requests != 1 || usage.Data[0].PromptTokens == 0 ||
		usage.Data[0].CompletionTokens < 20 || usage.Data[0].CompletionTokens > received+5 {
		t.Errorf("usage %s; want one request with 20 to %d completion tokens", body, received+5)
	}
}
