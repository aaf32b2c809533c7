package responses_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"presswork/internal/inference"
	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/formattest"
	"presswork/internal/test/golden"
)

const weather = `"tools":[{"type":"function","name":"weather","parameters":{"type":"object","properties":{"city":{"type":"string"}}}}]`

// requests are requests whose answers are the golden files. %s has the model and the input.
var requests = map[string]struct{ scenario, input, fields string }{
	"text":              {scenario: "hello"},
	"length":            {scenario: "length"},
	"reasoning":         {scenario: "reason-field", fields: `"include":["reasoning.encrypted_content"]`},
	"reasoning-summary": {scenario: "reason-field", fields: `"reasoning":{"effort":"low","summary":"auto"}`},
	"calls":             {scenario: "tool-parallel", fields: weather},
	"thought-and-call": {
		scenario: "tools-plan",
		input:    inferencetest.Plan(`think Which city? | say Let me see. | weather {"city":"Oslo"}`),
		fields:   weather,
	},
	"custom-call": {
		scenario: "tools-plan",
		input:    inferencetest.Plan(`apply_patch {"input":"*** Begin\n\"a\""}`),
		fields:   `"tools":[{"type":"custom","name":"apply_patch","format":{"type":"grammar","syntax":"lark","definition":"start: x"}}]`,
	},
	"namespace-call": {
		scenario: "tools-plan",
		input:    inferencetest.Plan(`agents__wait {"ms":1} | shell__run {"input":"ls"}`),
		fields: `"tools":[{"type":"namespace","name":"agents","description":"Agents.","tools":[{"type":"function","name":"wait"}]},` +
			`{"type":"namespace","name":"shell","tools":[{"type":"custom","name":"run"}]}]`,
	},
	"search": {
		scenario: "tools-plan",
		input: inferencetest.Plan(
			`browser_search {"query":"paper"}`,
			`browser_open {"id":0} | browser_find {"pattern":"Lun"}`,
			"say Cai Lun 【1†L1】 made it.",
		),
		fields: `"tools":[{"type":"web_search"}],"include":["web_search_call.action.sources"]`,
	},
	"code": {
		scenario: "tools-plan",
		input:    inferencetest.Plan(`say Counting. | python {"code":"print(42)"}`, "say It is 42."),
		fields:   `"tools":[{"type":"code_interpreter","container":{"type":"auto"}}],"include":["code_interpreter_call.outputs"]`,
	},
	"server": {
		scenario: "tools-plan",
		input:    inferencetest.Plan(`say Reading. | docs__read {"n":1} | docs__write {}`, "say Cai Lun."),
		fields: `"stream":true,"tools":[{"type":"mcp","server_label":"docs","server_url":"https://mcp.example/secret",` +
			`"authorization":"secret","require_approval":"never"}]`,
	},
	"approval": {
		scenario: "tools-plan",
		input:    inferencetest.Plan(`docs__read {"n":1} | docs__write {"n":2}`),
		fields: `"tools":[{"type":"mcp","server_label":"docs","server_url":"https://mcp.example",` +
			`"require_approval":{"never":{"tool_names":["read"]}}}]`,
	},
	"server-down": {
		scenario: "hello",
		fields:   `"stream":true,"tools":[{"type":"mcp","server_label":"down","server_url":"https://mcp.example"}]`,
	},
	"logprobs": {scenario: "many", fields: `"include":["message.output_text.logprobs"],"top_logprobs":1`},
	"cut":      {scenario: "cut"},
}

func TestStreamsAndWholeAnswersMatchTheirGoldens(t *testing.T) {
	t.Parallel()
	_, base := inferencetest.Start(t)

	for name, tc := range requests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			input, _ := json.Marshal(tc.input + "Hi"[:max(0, 2-len(tc.input))])

			fields := tc.fields
			if fields != "" {
				fields = "," + fields
			}

			r, format, err := parse(t, fmt.Sprintf(`{"model":%q,"input":%s%s}`, tc.scenario, input, fields))
			if err != nil {
				t.Fatal(err)
			}

			stream, whole := formattest.Answer(t, base, r, format.Events("call"), format.Collector("call"))
			checkEvents(t, stream)

			if whole != "" {
				stream += whole + "\n"
			}
			golden.Check(t, name+".golden", []byte(readable(stream)))
		})
	}
}

// checkEvents checks what clients check of every stream.
func checkEvents(t *testing.T, stream string) {
	t.Helper()
	open := map[float64]string{} // the id of each item by its index, "" when it is done

	for n, event := range strings.Split(strings.TrimSuffix(stream, "\n\n"), "\n\n") {
		name, data, ok := strings.Cut(event, "\ndata: ")

		var fields map[string]any
		if err := json.Unmarshal([]byte(data), &fields); !ok || err != nil {
			t.Fatalf("event %d: %v: %s", n, err, event)
		}

		if fields["sequence_number"] != float64(n) || name != "event: "+fields["type"].(string) {
			t.Errorf("event %d: got %s, want its number and the name of its type", n, event)
		}

		item, _ := fields["item"].(map[string]any)
		index, _ := fields["output_index"].(float64)

		switch fields["type"] {
		case "response.output_item.added":
			if int(index) != len(open) {
				t.Errorf("item %v: got the index %v, want %d", item["id"], index, len(open))
			}
			open[index] = item["id"].(string)
		case "response.output_item.done":
			if open[index] != item["id"] {
				t.Errorf("%s ends an item that is not open", data)
			}
			open[index] = ""
		default:
			if id, ok := fields["item_id"]; ok && open[index] != id {
				t.Errorf("%s is about an item that is not open", data)
			}
		}
	}
}

func TestAWaitingStreamRepeatsWhatItHasSent(t *testing.T) {
	t.Parallel()

	_, f, err := parse(t, `{"model":"m","input":"Hi"}`)
	if err != nil {
		t.Fatal(err)
	}
	w := f.Events("call")
	w.Append(w.Begin(nil), &inference.Chunk{Reasoning: "Hm."})
	w.Append(nil, &inference.Chunk{Content: "Hel"})

	sign := string(w.Idle(nil))
	for _, want := range []string{
		"event: response.in_progress\n", `"sequence_number":11,`, `"text":"Hm."`, `"status":"completed"`, `"text":"Hel"`,
	} {
		if !strings.Contains(sign, want) {
			t.Errorf("%s has no %s", sign, want)
		}
	}
}

func TestReasoningComesBack(t *testing.T) {
	t.Parallel()

	_, f, err := parse(t, `{"model":"m","input":"Hi","include":["reasoning.encrypted_content"]}`)
	if err != nil {
		t.Fatal(err)
	}
	c := f.Collector("call")
	c.Add(&inference.Frame{Chunk: &inference.Chunk{Reasoning: "Which city?"}})
	c.Add(&inference.Frame{Chunk: &inference.Chunk{Content: "Oslo.", Finish: "stop"}})
	var answer struct {
		Output []map[string]any `json:"output"`
	}

	if err := json.Unmarshal(c.Append(nil), &answer); err != nil {
		t.Fatal(err)
	}
	delete(answer.Output[0], "content")

	again, err := json.Marshal(append(answer.Output, map[string]any{"role": "user", "content": "Sure?"}))
	if err != nil {
		t.Fatal(err)
	}

	r, _, err := parse(t, `{"model":"m","input":`+string(again)+`}`)
	if err != nil {
		t.Fatal(err)
	}

	if got, want := transcript(r.Messages), "assistant: Oslo. (Which city?) | user: Sure?"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestFailuresHaveTheCodesThatAgentsRead(t *testing.T) {
	t.Parallel()

	again := inference.Errorf(http.StatusTooManyRequests, inference.RateLimitExceeded, "Limit reached.")
	again.RetryAfter = 61500 * time.Millisecond

	for want, e := range map[string]*inference.Error{
		`{"code":"context_length_exceeded","message":"Too long."}`:                           inference.Errorf(400, inference.ContextLength, "Too long."),
		`{"code":"insufficient_quota","message":"No budget."}`:                               inference.Errorf(429, "insufficient_quota", "No budget."),
		`{"code":"rate_limit_exceeded","message":"Limit reached. Please try again in 62s."}`: again,
		`{"code":"invalid_prompt","message":"Wrong."}`:                                       inference.Errorf(400, inference.ToolUseFailed, "Wrong."),
		`{"code":"server_error","message":"Gone."}`:                                          inference.Errorf(502, inference.UpstreamError, "Gone."),
	} {
		_, f, err := parse(t, `{"model":"m","input":"Hi"}`)
		if err != nil {
			t.Fatal(err)
		}

		if got := string(f.Events("call").Fail(nil, e)); !strings.Contains(got, `"status":"failed"`) ||
			!strings.Contains(got, `"error":`+want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
