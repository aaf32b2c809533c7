package e2e_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
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

// pythonRequest returns the body of a chat completion. Its model runs the cells of Python, one in each round.
func pythonRequest(stream bool, cells ...string) []byte {
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

// executedTool is the call of a built-in tool in a message or delta.
type executedTool struct {
	Name        string
	Output      string
	CodeResults []struct{ Text, PNG string } `json:"code_results"`
}

func TestModelRunsPython(t *testing.T) {
	t.Parallel()
	_, base := inferencetest.Start(t)
	_, c := e2e.Serve(t, map[string]string{
		"INFERENCE_CONFIG": chatModels(t, base, "tools-plan"), "WORKER_QUEUES": "infer,tools",
	})
	awaitTools(t, c)
	status, _, answer := c.Do("POST", "/v1/chat/completions", "application/json",
		pythonRequest(false, "x = 20 + 1\nprint('hi')", "x * 2", "1/0"))

	var completion struct {
		Choices []struct {
			Message struct {
				Content       string
				ExecutedTools []executedTool `json:"executed_tools"`
			}
		}
	}
	if err := json.Unmarshal(answer, &completion); err != nil || status != 200 {
		t.Fatalf("status %d, %s (%v); want 200 and a completion", status, answer, err)
	}

	m := completion.Choices[0].Message
	if len(m.ExecutedTools) != 3 || m.ExecutedTools[0].Output != "hi" || len(m.ExecutedTools[1].CodeResults) != 1 ||
		m.ExecutedTools[1].CodeResults[0].Text != "42" ||
		!strings.Contains(m.Content, "ZeroDivisionError") {
		t.Errorf("got %s, want three calls with hi, 42 and ZeroDivisionError", answer)
	}
}

func TestModelSearchesAndOpensPages(t *testing.T) {
	t.Parallel()
	_, base := inferencetest.Start(t)
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w,
			"<title>Storks</title><article><h1>Storks</h1><p>A stork's nest weighs 400 kilograms.</p></article>")
	}))
	t.Cleanup(site.Close)
	// The search engine has another origin than the page.
	search := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"results":[{"title":"Storks","url":"%s/storks","content":"Of their nests"}]}`, site.URL)
	}))
	t.Cleanup(search.Close)
	_, c := e2e.Serve(t, map[string]string{
		"INFERENCE_CONFIG": chatModels(t, base, "tools-plan"), "WORKER_QUEUES": "infer,tools",
		"SEARCH_URL": search.URL + "/search?q={query}", "OUTBOUND_ALLOW_PRIVATE": "true",
	})
	body, _ := json.Marshal(map[string]any{
		"model": "tools-plan",
		"tools": []any{map[string]any{"type": "browser_search"}},
		"messages": []any{map[string]any{
			"role":    "user",
			"content": inferencetest.Plan(`browser_search {"query":"storks"}`, `browser_open {"id":0}`),
		}},
	})
	var answer []byte
	wait.Until(t, "browser_search is offered", func() (ok bool) {
		var status int
		status, _, answer = c.Do("POST", "/v1/chat/completions", "application/json", body)

		return status == 200
	})

	if !strings.Contains(string(answer), `"name":"browser.search"`) ||
		!strings.Contains(string(answer), "weighs 400 kilograms") {
		t.Errorf("got %s, want the call of browser.search and the text of the page", answer)
	}
}

// awaitTools waits until the workers have reported their tools.
func awaitTools(t *testing.T, c *e2e.Client) {
	t.Helper()
	wait.Until(t, "code_interpreter is offered", func() bool {
		status, _, _ := c.Do("POST", "/v1/chat/completions", "application/json", pythonRequest(false))
		return status == 200
	})
}

// startToolFleet starts an API node, a worker for completions and a worker for tools. addTools starts another worker
// for tools.
func startToolFleet(t *testing.T) (c *e2e.Client, completions, tools *e2e.Process, addTools func() *e2e.Process) {
	t.Helper()
	_, base := inferencetest.Start(t)
	fleet := e2e.NewFleet(t, redistest.Start(t), map[string]string{
		"INFERENCE_CONFIG": chatModels(t, base, "tools-plan"), "TOOL_TIMEOUT": "5m",
	})
	infer := map[string]string{"WORKER_QUEUES": "infer"}
	_, c = fleet.API(infer)
	addTools = func() *e2e.Process { return fleet.Worker(map[string]string{"WORKER_QUEUES": "tools"}) }
	tools = addTools()
	completions = fleet.Worker(infer)
	awaitTools(t, c)

	return c, completions, tools, addTools
}

// allEnded reports whether none of the processes exists.
func allEnded(pids []int) bool {
	return !slices.ContainsFunc(pids, func(pid int) bool { return syscall.Kill(pid, 0) == nil })
}

func TestKilledToolsWorkerLeavesNoProcesses(t *testing.T) {
	t.Parallel()
	c, _, tools, addTools := startToolFleet(t)
	var once sync.Once
	var outputs []string

	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	readStream(t, c, ctx,
		pythonRequest(true, "x = 1", "import time; time.sleep(1000)", "print('again')"),
		func(data string) bool {
			var chunk struct {
				Choices []struct {
					Delta struct {
						ExecutedTools []executedTool `json:"executed_tools"`
					}
				}
			}
			if json.Unmarshal([]byte(data), &chunk) != nil || len(chunk.Choices) == 0 {
				return true
			}

			for _, e := range chunk.Choices[0].Delta.ExecutedTools {
				outputs = append(outputs, e.Output)
				once.Do(func() {
					children := tree(t, tools.PID())[1:]
					if len(children) < 2 {
						t.Errorf("the worker has %d child processes, want at least 2", len(children))
					}
					addTools()
					tools.Signal(syscall.SIGKILL)
					wait.Until(t, "its processes have ended", func() bool { return allEnded(children) })
				})
			}

			return true
		},
	)

	if len(outputs) != 3 || !strings.Contains(outputs[1], "stopped unexpectedly") || outputs[2] != "again" {
		t.Errorf("outputs %q, want three: of the killed worker, that the tool stopped, and again of the other worker",
			outputs)
	}
}

func TestSessionsOfAKilledCompletionWorkerEnd(t *testing.T) {
	t.Parallel()
	c, completions, tools, _ := startToolFleet(t)
	ops := e2e.NewClient(t, tools.Address, "")

	go func() {
		// No worker remains to answer the request.
		res, err := c.PostJSON(t.Context(), "/v1/chat/completions",
			pythonRequest(false, "import time; time.sleep(1000)"))
		if err == nil {
			res.Body.Close()
		}
	}()
	wait.Until(t, "the session is open", func() bool { return ops.Metric("presswork_tool_sessions") == 1 })
	completions.Signal(syscall.SIGKILL)
	wait.Until(t, "the session has ended", func() bool { return ops.Metric("presswork_tool_sessions") == 0 })
}
