package messages_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"presswork/api/messages"
	"presswork/internal/inference"
	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/formattest"
	"presswork/internal/test/golden"
)

const weather = `"tools":[{"name":"weather","input_schema":{"type":"object","properties":{"city":{"type":"string"}}}}]`

// requests are requests whose answers are the golden files.
var requests = map[string]struct{ scenario, said, fields string }{
	"text":            {scenario: "hello"},
	"stop-sequence":   {scenario: "stopped", fields: `"stop_sequences":["END"]`},
	"length":          {scenario: "length"},
	"hidden-thought":  {scenario: "reason-field"},
	"thought":         {scenario: "reason-field", fields: `"thinking":{"type":"enabled","budget_tokens":1024}`},
	"omitted-thought": {scenario: "reason-field", fields: `"thinking":{"type":"adaptive","display":"omitted"}`},
	"calls":           {scenario: "tool-parallel", fields: weather},
	"thought-and-call": {
		scenario: "tools-plan",
		said:     inferencetest.Plan(`think Which city? | say Let me see. | weather {"city":"Oslo"}`),
		fields:   weather + `,"thinking":{"type":"adaptive"}`,
	},
	"search": {
		scenario: "tools-plan",
		said: inferencetest.Plan(
			`browser_search {"query":"paper"}`,
			`browser_open {"id":0} | browser_find {"pattern":"Lun"}`,
			"say Cai Lun made it.",
		),
		fields: `"tools":[{"type":"web_search_20250305","name":"web_search","max_uses":5}]`,
	},
	"code": {
		scenario: "tools-plan",
		said:     inferencetest.Plan(`say Counting. | python {"code":"print(42)"}`, "say It is 42."),
		fields:   `"tools":[{"type":"code_execution_20250825","name":"code_execution"}]`,
	},
	"server": {
		scenario: "tools-plan",
		said:     inferencetest.Plan(`say Reading. | docs__read {"n":1} | docs__write {}`, "say Cai Lun."),
		fields:   `"mcp_servers":[{"type":"url","name":"docs","url":"https://mcp.example","authorization_token":"t"}]`,
	},
	"cut": {scenario: "cut"},
}

func TestStreamsAndWholeAnswersMatchTheirGoldens(t *testing.T) {
	t.Parallel()
	_, base := inferencetest.Start(t)

	for name, tc := range requests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			said, _ := json.Marshal(tc.said + "Hi"[:max(0, 2-len(tc.said))])

			fields := tc.fields
			if fields != "" {
				fields = "," + fields
			}

			r, format, err := parse(t, fmt.Sprintf(
				`{"model":%q,"max_tokens":99,"messages":[{"role":"user","content":%s}]%s}`, tc.scenario, said, fields))
			if err != nil {
				t.Fatal(err)
			}

			stream, whole := formattest.Answer(t, base, r, format.Events("call"), format.Collector("call"))
			checkEvents(t, stream)

			if whole != "" {
				stream += whole + "\n"
			}
			golden.Check(t, name+".golden", []byte(stream))
		})
	}
}

// checkEvents checks what clients check of every stream: names, and one open block at a time.
func checkEvents(t *testing.T, stream string) {
	t.Helper()
	blocks, open := 0, false

	for n, event := range strings.Split(strings.TrimSuffix(stream, "\n\n"), "\n\n") {
		name, data, ok := strings.Cut(event, "\ndata: ")

		var fields struct {
			Type  string `json:"type"`
			Index *int   `json:"index"`
		}
		if err := json.Unmarshal([]byte(data), &fields); !ok || err != nil || name != "event: "+fields.Type {
			t.Fatalf("event %d: %v: %s", n, err, event)
		}

		switch {
		case fields.Index != nil && *fields.Index != blocks, (fields.Type == "message_start") != (n == 0):
			t.Errorf("event %d is out of order: %s", n, event)
		case fields.Type == "content_block_start" && !open, fields.Type == "content_block_delta" && open:
			open = true
		case fields.Type == "content_block_stop" && open:
			open = false
			blocks++
		case fields.Index != nil:
			t.Errorf("event %d is about a block that is not open: %s", n, event)
		}
	}
}

func TestPiecesOfParallelCallsBecomeOneBlockAfterAnother(t *testing.T) {
	t.Parallel()

	_, f, err := parse(t, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi"}],`+weather+`}`)
	if err != nil {
		t.Fatal(err)
	}
	w := f.Events("call")
	out := w.Append(nil, &inference.Chunk{ToolCalls: []inference.ToolDelta{
		{Index: 0, ID: "a", Name: "weather", Arguments: `{"city":`},
		{Index: 1, ID: "b", Name: "weather", Arguments: `{"city":`},
	}})
	out = w.Append(out, &inference.Chunk{Content: "Text.", ToolCalls: []inference.ToolDelta{
		{Index: 1, Arguments: `"Rome"}`}, {Index: 0, Arguments: `"Oslo"}`},
	}})
	out = w.End(w.Append(out, &inference.Chunk{Finish: "tool_calls", Usage: &inference.Usage{}}))
	checkEvents(t, string(out))

	for _, want := range []string{
		`"index":0,"delta":{"type":"input_json_delta","partial_json":"\"Oslo\"}"}`,
		`"index":1,"delta":{"type":"input_json_delta","partial_json":"{\"city\":\"Rome\"}"}`,
		`"index":2,"delta":{"type":"text_delta","text":"Text."}`,
	} {
		if !strings.Contains(string(out), want) {
			t.Errorf("%s has no %s", out, want)
		}
	}
}

func TestAWaitingStreamSendsPings(t *testing.T) {
	t.Parallel()

	_, f, err := parse(t, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi"}]}`)
	if err != nil {
		t.Fatal(err)
	}
	w := f.Events("call")

	const ping = "event: ping\ndata: {\"type\":\"ping\"}\n\n"
	first, second := string(w.Idle(w.Begin(nil))), string(w.Idle(nil))

	if !strings.HasPrefix(first, "event: message_start\n") || !strings.HasSuffix(first, ping) || second != ping {
		t.Errorf("got %s and %s, want the start of the message once, and pings", first, second)
	}
}

func TestThoughtsComeBack(t *testing.T) {
	t.Parallel()

	for _, display := range []string{"summarized", "omitted"} {
		t.Run(display, func(t *testing.T) {
			t.Parallel()

			_, f, err := parse(t, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi"}],`+
				`"thinking":{"type":"adaptive","display":"`+display+`"}}`)
			if err != nil {
				t.Fatal(err)
			}
			c := f.Collector("call")
			c.Add(&inference.Frame{Chunk: &inference.Chunk{Reasoning: "Which city?"}})
			c.Add(&inference.Frame{Chunk: &inference.Chunk{Content: "Oslo.", Finish: "stop"}})
			var message struct {
				Content json.RawMessage `json:"content"`
			}

			if err := json.Unmarshal(c.Append(nil), &message); err != nil {
				t.Fatal(err)
			}

			r, _, err := parse(t, `{"model":"m","max_tokens":9,"messages":[{"role":"assistant","content":`+
				string(message.Content)+`},{"role":"user","content":"Sure?"}]}`)
			if err != nil {
				t.Fatal(err)
			}

			if got, want := transcript(r.Messages), "assistant: Oslo. (Which city?) | user: Sure?"; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

func TestErrorsHaveTheTypesOfTheirStatus(t *testing.T) {
	t.Parallel()

	for _, tc := range []struct {
		e      *inference.Error
		status int
		want   string
	}{
		{inference.Errorf(400, inference.ContextLength, "9 tokens"), 400, `"invalid_request_error","message":"prompt is too long: 9 tokens"`},
		{inference.Errorf(401, "x", "No."), 401, `"authentication_error","message":"No."`},
		{inference.Errorf(403, "x", "No."), 403, `"permission_error"`},
		{inference.Errorf(404, "x", "No."), 404, `"not_found_error"`},
		{inference.Errorf(413, "x", "No."), 413, `"request_too_large"`},
		{inference.Errorf(415, "x", "No."), 415, `"invalid_request_error"`},
		{inference.Errorf(429, "x", "No."), 429, `"rate_limit_error"`},
		{inference.Errorf(500, "x", "No."), 500, `"api_error"`},
		{inference.Errorf(502, "x", "No."), 502, `"api_error"`},
		{inference.Errorf(503, "x", "No."), 529, `"overloaded_error"`},
		{inference.Errorf(504, "x", "No."), 504, `"timeout_error"`},
	} {
		t.Run(http.StatusText(tc.e.Status), func(t *testing.T) {
			t.Parallel()
			got := string(messages.AppendError(nil, tc.e, "req_1"))

			if messages.StatusOf(tc.e) != tc.status || !strings.HasSuffix(got, `,"request_id":"req_1"}`) ||
				!strings.HasPrefix(got, `{"type":"error","error":{"type":`+tc.want) {
				t.Errorf("got %d %s, want %d %s", messages.StatusOf(tc.e), got, tc.status, tc.want)
			}
		})
	}
}

func TestARejectedThreadHasTheCodeThatSDKsRead(t *testing.T) {
	t.Parallel()

	_, _, err := parse(t, `{"model":"m","max_tokens":9,"messages":[],"thread":{"type":"create"}}`)

	got := string(messages.AppendError(nil, inference.AsError(err), "req_1"))
	if !strings.Contains(
		got,
		`,"details":{"error_code":"thread_unsupported_request","unsupported":["thread"]}},"request_id"`,
	) {
		t.Errorf("got %s, want the details of an unsupported thread", got)
	}
}
