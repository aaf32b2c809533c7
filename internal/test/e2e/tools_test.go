package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/e2e"
	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
)

// planned returns a request whose model calls Python with these cells, one for each round.
func planned(stream bool, cells ...string) []byte {
	var rounds []string

	for _, cell := range cells {
		b, _ := json.Marshal(map[string]string{"code": cell})
		rounds = append(rounds, "python "+string(b))
	}

	if len(rounds) == 0 {
		rounds = []string{"say nothing to do"}
	}
	b, _ := json.Marshal(map[string]any{
		"model": "tools-plan", "stream": stream, "tools": []any{map[string]any{"type": "code_interpreter"}},
		"messages": []any{map[string]any{"role": "user", "content": inferencetest.Plan(rounds...)}},
	})

	return b
}

// executed has the calls of built-in tools in a message or delta.
type executed struct {
	Name        string
	Output      string
	CodeResults []struct{ Text, PNG string } `json:"code_results"`
}

func TestAModelRunsPython(t *testing.T) {
	t.Parallel()
	_, base := inferencetest.Start(t)
	_, c := e2e.Serve(
		t,
		map[string]string{"INFERENCE_CONFIG": models(t, base, "tools-plan"), "WORKER_QUEUES": "infer,tools"},
	)
	offered(t, c)
	status, _, answer := c.Do("POST", "/v1/chat/completions", "application/json",
		planned(false, "x = 20 + 1\nprint('hi')", "x * 2", "1/0"))

	var whole struct {
		Choices []struct {
			Message struct {
				Content       string
				ExecutedTools []executed `json:"executed_tools"`
			}
		}
	}
	if err := json.Unmarshal(answer, &whole); err != nil || status != 200 {
		t.Fatalf("%d %s (%v)", status, answer, err)
	}

	m := whole.Choices[0].Message
	if len(m.ExecutedTools) != 3 || m.ExecutedTools[0].Output != "hi" || len(m.ExecutedTools[1].CodeResults) != 1 ||
		m.ExecutedTools[1].CodeResults[0].Text != "42" ||
		!strings.Contains(m.Content, "ZeroDivisionError") {
		t.Errorf("got %s", answer)
	}
}

func TestAModelSearchesAndReads(t *testing.T) {
	t.Parallel()
	_, base := inferencetest.Start(t)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(
			w,
			"<title>Storks</title><article><h1>Storks</h1><p>A stork's nest weighs 400 kilograms.</p></article>",
		)
	}))
	t.Cleanup(site.Close)
	// The search engine is an own service, which pages of a model never reach.
	search := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"results":[{"title":"Storks","url":"%s/storks","content":"Of their nests"}]}`, site.URL)
	}))
	t.Cleanup(search.Close)
	_, c := e2e.Serve(t, map[string]string{
		"INFERENCE_CONFIG": models(t, base, "tools-plan"), "WORKER_QUEUES": "infer,tools",
		"SEARCH_URL": search.URL + "/search?q={query}", "OUTBOUND_ALLOW_PRIVATE": "true",
	})
	body, _ := json.Marshal(map[string]any{
		"model": "tools-plan",
		"tools": []any{map[string]any{"type": "browser_search"}},
		"messages": []any{
			map[string]any{
				"role":    "user",
				"content": inferencetest.Plan(`browser_search {"query":"storks"}`, `browser_open {"id":0}`),
			},
		},
	})
	var answer []byte
	wait.Until(t, "browser_search is offered", func() (ok bool) {
		var status int
		status, _, answer = c.Do("POST", "/v1/chat/completions", "application/json", body)

		return status == 200
	})

	if !strings.Contains(string(answer), `"name":"browser.search"`) ||
		!strings.Contains(string(answer), "weighs 400 kilograms") {
		t.Errorf("got %s", answer)
	}
}

// offered waits until the workers have reported their tools.
func offered(t *testing.T, c *e2e.Client) {
	t.Helper()
	wait.Until(t, "code_interpreter is offered", func() bool {
		status, _, _ := c.Do("POST", "/v1/chat/completions", "application/json", planned(false))
		return status == 200
	})
}

// toolFleet is an API node, a worker of completions and one of tools.
func toolFleet(t *testing.T) (c *e2e.Client, completions, tools *e2e.Process, more func() *e2e.Process) {
	t.Helper()
	_, base := inferencetest.Start(t)
	e2e.Binary(t)
	env := map[string]string{"INFERENCE_CONFIG": models(t, base, "tools-plan"), "WORKER_QUEUES": "infer"}
	fleet := e2e.NewFleet(t, redistest.Start(t), map[string]string{"TOOL_TIMEOUT": "5m"})
	_, c = fleet.API(env)
	env = map[string]string{"INFERENCE_CONFIG": env["INFERENCE_CONFIG"], "WORKER_QUEUES": "tools"}
	more = func() *e2e.Process { return fleet.Worker(env) }
	tools = more()
	completions = fleet.Worker(map[string]string{"INFERENCE_CONFIG": env["INFERENCE_CONFIG"], "WORKER_QUEUES": "infer"})
	offered(t, c)

	return c, completions, tools, more
}

// family returns the processes that a process has started, and those that these have.
func family(t *testing.T, pid int) (pids []int) {
	t.Helper()
	parents := map[int]int{}

	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}

	for _, name := range stats {
		b, err := os.ReadFile(name)

		_, after, ok := strings.Cut(string(b), ") ")
		if err != nil || !ok {
			continue // it has ended
		}
		child, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
		parents[child], _ = strconv.Atoi(strings.Fields(after)[1])
	}

	for more := []int{pid}; len(more) > 0; more = more[1:] {
		for child, parent := range parents {
			if parent == more[0] {
				pids, more = append(pids, child), append(more, child)
			}
		}
	}

	return pids
}

func gone(pids []int) bool {
	return !slices.ContainsFunc(pids, func(pid int) bool { return syscall.Kill(pid, 0) == nil })
}

func TestAKilledToolsWorkerLosesItsSessionsAndLeavesNothingRunning(t *testing.T) {
	t.Parallel()
	c, _, tools, more := toolFleet(t)
	var once sync.Once
	var outputs []string

	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	events(
		t,
		c,
		ctx,
		planned(true, "x = 1", "import time; time.sleep(1000)", "print('again')"),
		func(data string) bool {
			var chunk struct {
				Choices []struct {
					Delta struct {
						ExecutedTools []executed `json:"executed_tools"`
					}
				}
			}
			if json.Unmarshal([]byte(data), &chunk) != nil || len(chunk.Choices) == 0 {
				return true
			}

			for _, e := range chunk.Choices[0].Delta.ExecutedTools {
				outputs = append(outputs, e.Output)
				once.Do(func() {
					children := family(t, tools.PID())
					if len(children) < 2 {
						t.Errorf("the worker runs only %d processes", len(children))
					}
					more()
					tools.Signal(syscall.SIGKILL)
					wait.Until(t, "its processes have ended", func() bool { return gone(children) })
				})
			}

			return true
		},
	)

	if len(outputs) != 3 || !strings.Contains(outputs[1], "stopped unexpectedly") || outputs[2] != "again" {
		t.Errorf("got %q", outputs)
	}
}

func TestAKilledCompletionWorkerEndsItsSessions(t *testing.T) {
	t.Parallel()
	c, completions, tools, _ := toolFleet(t)
	ops := e2e.NewClient(t, tools.Address, "")

	req, err := http.NewRequestWithContext(t.Context(), "POST", c.Base+"/v1/chat/completions",
		bytes.NewReader(planned(false, "import time; time.sleep(1000)")))
	if err != nil {
		t.Fatal(err)
	}

	req.Header.Set("Content-Type", "application/json")
	go func() {
		if res, err := c.HTTP.Do(req); err == nil { // no worker is left to answer it
			res.Body.Close()
		}
	}()
	wait.Until(t, "the session is open", func() bool { return ops.Metric("presswork_tool_sessions") == 1 })
	completions.Signal(syscall.SIGKILL)
	wait.Until(t, "the session has ended", func() bool { return ops.Metric("presswork_tool_sessions") == 0 })
}
