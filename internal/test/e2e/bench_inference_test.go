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
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/e2e"
	"presswork/internal/test/freeport"
)

// chatter sends requests in one wire format to one server. The text of each token of its models is the time at which the
// model sent it.
type chatter struct {
	base   string
	http   *http.Client
	format wireFormat
}

// wireFormat is a format of requests and streams.
type wireFormat struct {
	name, path string
	// fields has the fields of a request except model and stream.
	fields string
	// token begins the text of a token in its event, and last is the line that ends a complete stream.
	token, last string
}

const userSaysHi = `"messages":[{"role":"user","content":"Hi"}]`

// wireFormats lists the formats of a chat. Chat completions are the first.
var wireFormats = []wireFormat{
	{"chat completions", "/chat/completions", userSaysHi, `"content":"`, "data: [DONE]"},
	{"Responses", "/responses", `"input":"Hi"`, `"delta":"`, "event: response.completed"},
	{"Messages", "/messages", `"max_tokens":4096,` + userSaysHi, `"text":"`, "event: message_stop"},
}

// request returns the body of a request.
func (f wireFormat) request(model string, stream bool) []byte {
	return fmt.Appendf(nil, `{"model":%q,"stream":%t,%s}`, model, stream, f.fields)
}

// newChatter returns a client for chat completions.
func newChatter(base string) *chatter {
	transport := &http.Transport{MaxIdleConnsPerHost: 1024, DisableCompression: true}
	return &chatter{base, &http.Client{Transport: transport}, wireFormats[0]}
}

// in returns a client of the same server for another format.
func (c *chatter) in(f wireFormat) *chatter { return &chatter{c.base, c.http, f} }

// stream reads the stream of a completion. It returns the time to the first token, and for each token the time between
// sending and receiving.
func (c *chatter) stream(ctx context.Context, model string) (first time.Duration, delays []time.Duration, err error) {
	body := bytes.NewReader(c.format.request(model, true))

	req, err := http.NewRequestWithContext(ctx, "POST", c.base+c.format.path, body)
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Content-Type", "application/json")
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
	marker, last := []byte(c.format.token), []byte(c.format.last)

	complete := false
	lines := bufio.NewScanner(res.Body)
	lines.Buffer(nil, 1<<20) // the last events of Responses have the whole text

	for lines.Scan() {
		complete = complete || bytes.Equal(lines.Bytes(), last)

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

	if !complete {
		return 0, nil, fmt.Errorf("the stream ended after %d tokens", len(delays))
	}

	return first, delays, nil
}

// load reads streams at the same time, each several times in a row. It returns the times of all calls of stream.
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

// benchModels writes a models.yaml of scenarios of the scripted server, and returns its path.
func benchModels(b *testing.B, base string, names ...string) string {
	b.Helper()

	var models []map[string]any
	for _, name := range names {
		models = append(models, map[string]any{"id": name, "upstreams": []any{map[string]any{"base_url": base}}})
	}

	return writeModelList(b, models)
}

// writeModelList writes a models.yaml and returns its path.
func writeModelList(b testing.TB, models []map[string]any) string {
	b.Helper()

	text, err := json.Marshal(map[string]any{"models": models}) // JSON is YAML
	if err != nil {
		b.Fatal(err)
	}

	return writeFile(b, "models.yaml", string(text))
}

// BenchmarkCompletions measures the time that API, Redis and worker add to requests to the model itself. Blocks of both
// kinds alternate.
func BenchmarkCompletions(b *testing.B) {
	const blocks, rounds, model = 3, 3, "stamps:100@50"
	_, base := inferencetest.Start(b)
	_, client := e2e.Serve(b,
		map[string]string{"INFERENCE_CONFIG": benchModels(b, base, model), "WORKER_QUEUES": "infer"})
	gateways := append([]gateway{{"", newChatter(client.Base + "/v1")}}, startPeers(b, base, model)...)
	direct := newChatter(base)

	for b.Loop() {
		// One process of a gateway in Python can serve about five streams.
		for _, streams := range []int{50, 5} {
			firsts, delays := map[string][]time.Duration{}, map[string][]time.Duration{}

			block := func(name string, c *chatter, rounds int) {
				f, d := c.load(b, streams, rounds, model)
				firsts[name], delays[name] = append(firsts[name], f...), append(delays[name], d...)
			}
			for _, g := range gateways {
				block("warm", g.chatter, 1)
			}

			for range blocks {
				block("direct", direct, rounds)

				for _, g := range gateways {
					block(g.name, g.chatter, rounds)
				}
			}
			added := func(all map[string][]time.Duration, name string, q float64) time.Duration {
				return (quantile(all[name], q) - quantile(all["direct"], q)).Round(100 * time.Microsecond)
			}

			for _, g := range gateways {
				first, each := "stated", "stated"
				if g.name == "" && streams == 50 {
					first, each = "p50 ≤ 3 ms, p99 ≤ 15 ms", "p99 ≤ 15 ms"
				}
				report(b,
					fmt.Sprintf("%stime to the first token, %d streams, more than the model's own", g.name, streams),
					fmt.Sprintf("p50 %s, p99 %s", added(firsts, g.name, 0.5), added(firsts, g.name, 0.99)),
					first)
				report(b, fmt.Sprintf("%sdelay of each token, %d streams, more than the model's own", g.name, streams),
					fmt.Sprintf("p50 %s, p99 %s", added(delays, g.name, 0.5), added(delays, g.name, 0.99)), each)
			}
		}
	}
}

// BenchmarkManyStreams reads 500 streams of 50 tokens a second, then 5 000 streams of two.
func BenchmarkManyStreams(b *testing.B) {
	for b.Loop() {
		manyStreams(b, 500, 500, 50)
		manyStreams(b, 5000, 40, 2)
	}
}

// manyStreams reads streams at the same time and reports the delays of their tokens, the CPU time and the memory.
func manyStreams(b *testing.B, streams, tokens, rate int) {
	b.Helper()
	model := fmt.Sprintf("stamps:%d@%d", tokens, rate)
	_, base := inferencetest.Start(b)
	node, client := e2e.Serve(b, map[string]string{
		"INFERENCE_CONFIG":      benchModels(b, base, model),
		"WORKER_QUEUES":         "infer",
		"INFERENCE_CONCURRENCY": fmt.Sprint(streams),
	})
	c := newChatter(client.Base + "/v1")
	memory := make(chan float64)

	go func() {
		// One second before the first stream ends, all streams are running.
		time.Sleep(time.Duration(tokens/rate)*time.Second - time.Second)
		memory <- treeMemory(b, node.PID())
	}()
	began, serverCPU, testCPU := time.Now(), treeCPU(b, node.PID()), ownCPU(b)
	_, delays := c.load(b, streams, 1, model)
	took := time.Since(began)
	perToken := func(spent time.Duration) string {
		return (spent / time.Duration(len(delays)+1)).Round(100 * time.Nanosecond).String()
	}

	serverCPU, testCPU = treeCPU(b, node.PID())-serverCPU, ownCPU(b)-testCPU
	if want := streams * tokens; len(delays) != want {
		b.Errorf("%d tokens arrived, want %d", len(delays), want)
	}
	// All streams start within one second, which overloads the cores. running has the delays without those of the first
	// two seconds.
	var running []time.Duration
	for stream := range slices.Chunk(delays, tokens) {
		running = append(running, stream[min(2*rate, len(stream)):]...)
	}
	what := fmt.Sprintf("%d streams of %d tokens a second, %d tokens", streams, rate, streams*tokens)
	delayed := func(all []time.Duration) string { return percentiles(all, 100*time.Microsecond) }
	report(
		b,
		what,
		fmt.Sprintf("none lost, %.0f tokens/s, each delayed %s; after the first two seconds %s",
			float64(len(delays))/took.Seconds(), delayed(delays), delayed(running)),
		"none lost",
	)
	report(b, what+": CPU time of a token",
		fmt.Sprintf("%s, and %s in the model and the clients", perToken(serverCPU), perToken(testCPU)), "stated")
	report(b, what+": memory of the whole process tree (PSS)", fmt.Sprintf("%.0f MiB", <-memory), "stated")
}

// gateway is a server between the client and the model.
type gateway struct {
	name string
	*chatter
}

// startPeers starts the proxy of LiteLLM. It returns nothing if `make bench` has not installed LiteLLM.
func startPeers(b *testing.B, base, model string) []gateway {
	b.Helper()

	peers := filepath.Join(os.Getenv("PRESSWORK_PEERS"), "litellm")
	if _, err := os.Stat(peers); err != nil || os.Getenv("PRESSWORK_PEERS") == "" {
		b.Log("LiteLLM is not installed; `make bench` installs it where Python is")
		return nil
	}
	config := writeFile(b, "litellm.yaml", fmt.Sprintf("model_list: [{model_name: %q, litellm_params: {model: %q, "+
		"api_base: %q, api_key: none, use_chat_completions_api: true}}]\n", model, "openai/"+model, base))
	const host = "127.0.0.1"
	port := freeport.Take(b)
	address := host + ":" + port
	cmd := exec.Command("python3", filepath.Join(peers, "bin/litellm"), "--config", config, "--host", host,
		"--port", port, "--telemetry", "False")
	cmd.Env = append(os.Environ(), "PYTHONPATH="+peers, "LITELLM_LOCAL_MODEL_COST_MAP=True",
		"LITELLM_USE_CHAT_COMPLETIONS_URL_FOR_ANTHROPIC_MESSAGES=True",
		"LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY=true")
	var log bytes.Buffer

	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	ended := make(chan struct{})

	go func() {
		cmd.Wait()
		close(ended)
	}()
	b.Cleanup(func() {
		cmd.Process.Kill()
		<-ended
	})

	for deadline := time.Now().Add(2 * time.Minute); ; {
		if res, err := http.Get("http://" + address + "/health/liveliness"); err == nil {
			res.Body.Close()

			return []gateway{
				{"LiteLLM " + litellmVersion(peers) + ", one process: ", newChatter("http://" + address + "/v1")},
			}
		}

		select {
		case <-ended:
			b.Fatalf("LiteLLM exited before it answered:\n%s", log.String())
		case <-time.After(200 * time.Millisecond):
		}

		if time.Now().After(deadline) {
			b.Fatal("LiteLLM did not answer within two minutes")
		}
	}
}

// litellmVersion returns the version of the LiteLLM in dir, or "" if it is not known.
func litellmVersion(dir string) string {
	found, _ := filepath.Glob(filepath.Join(dir, "litellm-*.dist-info"))
	if len(found) != 1 {
		return ""
	}

	return strings.TrimSuffix(strings.TrimPrefix(filepath.Base(found[0]), "litellm-"), ".dist-info")
}
