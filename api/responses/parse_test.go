package responses_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/inference"
)

func TestItemsBecomeMessages(t *testing.T) {
	t.Parallel()
	sealed := sealer(t, "0123456789abcdef").Seal(owner, "Which city?")

	for name, tc := range map[string]struct{ input, want string }{
		"text": {`"Hi"`, `user: Hi`},
		"roles": {
			`[{"role":"developer","content":"a"},{"type":"message","role":"system","content":[{"type":"input_text","text":"b"}]},
			{"role":"user","content":"c"},{"role":"assistant","content":[{"type":"output_text","text":"d","annotations":[]},{"type":"refusal","refusal":"e"}]}]`,
			`developer: a | system: b | user: c | assistant: d+e`,
		},
		"a turn with tools": {
			`[{"role":"user","content":"Hi"},{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"` + sealed + `"},
			{"type":"web_search_call","id":"ws_1","status":"completed"},
			{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"custom_tool_call","call_id":"c2","name":"g","input":"x\"y"},
			{"role":"assistant","content":"I call."},
			{"type":"custom_tool_call_output","call_id":"c2","output":[{"type":"input_text","text":"two"},{"type":"input_image","image_url":"https://x.example/a.png"}]},
			{"type":"function_call_output","call_id":"c1","output":"one"},{"type":"reasoning","summary":[{"type":"summary_text","text":"Done."}]}]`,
			`user: Hi | assistant: I call. (Which city?) f{} g{"input":"x\"y"} | tool c2: two | tool c1: one | user: [https://x.example/a.png]`,
		},
		"an output after a message": {
			`[{"type":"function_call","call_id":"c1","name":"f","namespace":"n","arguments":"{}"},{"role":"user","content":"Hi"},
			{"type":"function_call_output","call_id":"c1","output":"one"}]`,
			`assistant:  n__f{} | tool c1: one | user: Hi`,
		},
		"reasoning in the open": {
			`[{"type":"reasoning","summary":[{"type":"summary_text","text":"s"}],"content":[{"type":"reasoning_text","text":"t"}]},{"role":"assistant","content":"d"}]`,
			`assistant: d (t)`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r, _, err := parse(t, `{"model":"m","input":`+tc.input+`}`)
			if err != nil {
				t.Fatal(err)
			}

			if got := transcript(r.Messages); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// transcript returns the messages in one line.
func transcript(messages []inference.Message) string {
	var lines []string

	for _, m := range messages {
		var parts []string

		for _, p := range m.Parts {
			if p.Image != nil {
				parts = append(parts, "["+p.Image.URL+"]")
			} else {
				parts = append(parts, p.Text)
			}
		}
		line := strings.TrimSuffix(m.Role+" "+m.ToolCallID, " ") + ": " + strings.Join(parts, "+")

		if m.Reasoning != "" {
			line += " (" + m.Reasoning + ")"
		}

		for _, c := range m.ToolCalls {
			line += " " + c.Name + c.Arguments
		}
		lines = append(lines, line)
	}

	return strings.Join(lines, " | ")
}

func TestOptionsBecomeThoseOfAChat(t *testing.T) {
	t.Parallel()

	r, _, err := parse(
		t,
		`{"model":"m","input":"Hi","instructions":"Be brief.","max_output_tokens":20,"temperature":0.5,
		"top_p":0.9,"top_logprobs":2,"include":["message.output_text.logprobs","reasoning.encrypted_content"],"stream":true,
		"store":true,"metadata":{"a":"b"},"truncation":"auto","parallel_tool_calls":false,"max_tool_calls":3,"user":"u1",
		"prompt_cache_key":"k","client_metadata":{"x":1},"stream_options":{"include_obfuscation":false},
		"reasoning":{"effort":"high","summary":"auto"},"service_tier":"default",
		"text":{"verbosity":"low","format":{"type":"json_schema","name":"p","schema":{"type":"object"},"strict":true}}}`,
	)
	if err != nil {
		t.Fatal(err)
	}

	want := &inference.Request{
		Model: "m",
		Messages: []inference.Message{
			{Role: "system", Parts: []inference.Part{{Text: "Be brief."}}},
			{Role: "user", Parts: []inference.Part{{Text: "Hi"}}},
		},
		MaxTokens:         20,
		Temperature:       new(0.5),
		TopP:              new(0.9),
		Logprobs:          true,
		TopLogprobs:       2,
		Stream:            true,
		User:              "u1",
		ParallelToolCalls: new(false),
		MaxToolCalls:      3,
		Fields:            map[string]json.RawMessage{"verbosity": json.RawMessage(`"low"`)},
		ReasoningEffort:   "high",
		ReasoningFormat:   inference.Parsed,
		IncludeReasoning:  true,
		ServiceTier:       "on_demand",
		Format: inference.Format{
			Type: inference.JSONSchema, Name: "p", Schema: json.RawMessage(`{"type":"object"}`), Strict: true,
		},
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Error(diff)
	}
}

func TestToolsBecomeFunctions(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 60)

	r, _, err := parse(t, `{"model":"m","tools":[{"type":"function","name":"f","parameters":null,"strict":false},
		{"type":"custom","name":"patch","description":"Edit.","format":{"type":"grammar","syntax":"lark","definition":"start: x"}},
		{"type":"namespace","name":"`+long+`","tools":[{"type":"function","name":"wait"}]},
		{"type":"web_search","external_web_access":false},{"type":"tool_search","execution":"client"},
		{"type":"web_search_preview"},{"type":"code_interpreter","container":{"type":"auto"}}],
		"input":[{"type":"additional_tools","role":"developer","tools":[{"type":"namespace","name":"a","tools":[{"type":"function","name":"b"}]}]},
		{"role":"user","content":"Hi"},{"type":"additional_tools","tools":[{"type":"namespace","name":"a","tools":[{"type":"function","name":"b","description":"New."}]}]}]}`)
	if err != nil {
		t.Fatal(err)
	}
	var got []string

	for _, tool := range r.Tools {
		got = append(got, strings.TrimSpace(tool.Type+" "+tool.Name+" "+tool.Description))
	}

	want := []string{
		"function f", "function patch Edit.\n\nThe input must match this grammar (lark):\nstart: x",
		"function " + long[:55] + "_a48abf95", "browser_search", "code_interpreter", "function a__b New.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}

	for choice, optional := range map[string]bool{`"auto"`: true, `"required"`: false} {
		r, _, err := parse(t, `{"model":"m","input":"Hi","tools":[{"type":"web_search"}],"tool_choice":`+choice+`}`)
		if err != nil || r.Tools[0].Optional != optional {
			t.Errorf("with tool_choice %s: %v, %+v; want a search with optional %v", choice, err, r, optional)
		}
	}
}

func TestEveryFormOfToolChoiceIsRead(t *testing.T) {
	t.Parallel()

	const tools = `"tools":[{"type":"function","name":"f"},{"type":"custom","name":"g"},{"type":"web_search"},
		{"type":"namespace","name":"n","tools":[{"type":"function","name":"h"}]},{"type":"tool_search"}]`

	for choice, want := range map[string]inference.ToolChoice{
		`"none"`:                         {Mode: "none"},
		`"auto"`:                         {Mode: "auto"},
		`"required"`:                     {Mode: "required"},
		`{"type":"any"}`:                 {Mode: "required"},
		`{"type":"auto"}`:                {Mode: "auto"},
		`{"type":"function","name":"f"}`: {Mode: "named", Names: []string{"f"}},
		`{"type":"tool","name":"f"}`:     {Mode: "named", Names: []string{"f"}},
		`{"type":"custom","name":"g"}`:   {Mode: "named", Names: []string{"g"}},
		`{"type":"web_search_preview"}`:  {Mode: "named", Names: []string{"browser_search"}},
		`{"type":"function","name":"h","namespace":"n"}`: {Mode: "named", Names: []string{"n__h"}},
		`{"type":"allowed_tools","mode":"required","tools":[{"type":"custom","name":"g"},{"type":"web_search"},{"type":"tool_search"}]}`: {
			Mode: "required", Names: []string{"g", "browser_search", "browser_open", "browser_find"},
		},
		`{"type":"code_interpreter"}`:                       {},
		`{"type":"tool_search"}`:                            {},
		`{"type":"function","name":"absent"}`:               {},
		`{"type":"allowed_tools","mode":"auto","tools":[]}`: {},
		`"sometimes"`:                       {},
		`{"type":"mcp","server_label":"x"}`: {},
	} {
		t.Run(choice, func(t *testing.T) {
			t.Parallel()

			r, _, err := parse(t, `{"model":"m","input":"Hi",`+tools+`,"tool_choice":`+choice+`}`)
			if want.Mode == "" {
				if e, ok := errors.AsType[*inference.Error](err); !ok || !strings.HasPrefix(e.Param, "tool_choice") {
					t.Errorf("got %v, want an error about tool_choice", err)
				}

				return
			}

			if err != nil {
				t.Fatal(err)
			}

			if diff := cmp.Diff(want, r.ToolChoice); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestABadRequestNamesItsField(t *testing.T) {
	t.Parallel()
	foreign := sealer(t, "0123456789abcdef").Seal("bob", "Which city?")
	other := sealer(t, "another secret of a server").Seal(owner, "Which city?")
	own := sealer(t, "0123456789abcdef").Seal(owner, "Which city?")
	many := make([]string, 120)

	for i := range many {
		many[i] = fmt.Sprintf(`{"type":"function","name":"f%d"}`, i)
	}
	inner := strings.Join(many[:9], ",")
	thought := func(sealed string) string {
		return `"input":[{"type":"reasoning","summary":[],"encrypted_content":"` + sealed + `"},{"role":"user","content":"Hi"}]`
	}

	for name, tc := range map[string]struct{ fields, param string }{
		"no input":                   {`"store":false`, "input"},
		"empty input":                {`"input":[]`, "input"},
		"a number":                   {`"input":7`, "input"},
		"stored answers":             {`"input":"Hi","previous_response_id":"resp_1"`, "previous_response_id"},
		"stored conversations":       {`"input":"Hi","conversation":{"id":"conv_1"}`, "conversation"},
		"background":                 {`"input":"Hi","background":true`, "background"},
		"a stored prompt":            {`"input":"Hi","prompt":{"id":"p"}`, "prompt"},
		"an item reference":          {`"input":[{"type":"item_reference","id":"msg_1"}]`, "input[0].type"},
		"an unknown item":            {`"input":[{"type":"juggle"}]`, "input[0].type"},
		"an unknown role":            {`"input":[{"role":"tool","content":"x"}]`, "input[0].role"},
		"an unknown part":            {`"input":[{"role":"user","content":[{"type":"input_file","file_id":"f"}]}]`, "input[0].content[0].type"},
		"a stored image":             {`"input":[{"role":"user","content":[{"type":"input_image","file_id":"f"}]}]`, "input[0].content[0].file_id"},
		"an output without a call":   {`"input":[{"type":"function_call_output","call_id":"c1","output":"x"}]`, "input[0].call_id"},
		"an output before its call":  {`"input":[{"type":"function_call_output","call_id":"c1","output":"x"},{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"}]`, "input[0].call_id"},
		"two outputs":                {`"input":[{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"x"},{"type":"function_call_output","call_id":"c1","output":"x"}]`, "input[2].call_id"},
		"a call without an output":   {`"input":[{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"role":"user","content":"Hi"}]`, "input"},
		"reasoning of another key":   {thought(foreign), "input[0].encrypted_content"},
		"reasoning of another place": {thought(other), "input[0].encrypted_content"},
		"altered reasoning":          {thought(own[:30] + "A" + own[31:]), "input[0].encrypted_content"},
		"cut reasoning":              {thought(own[:8]), "input[0].encrypted_content"},
		"an unknown tool":            {`"input":"Hi","tools":[{"type":"juggle"}]`, "tools[0].type"},
		"a hosted tool":              {`"input":"Hi","tools":[{"type":"file_search","vector_store_ids":["v"]}]`, "tools[0].type"},
		"a tool without a name":      {`"input":"Hi","tools":[{"type":"function"}]`, "tools[0].name"},
		"two tools of one name":      {`"input":"Hi","tools":[{"type":"function","name":"a__b"},{"type":"namespace","name":"a","tools":[{"type":"function","name":"b"}]}]`, "tools[1].tools[0].name"},
		"too many tools":             {`"input":"Hi","tools":[` + strings.Join(many, ",") + `,{"type":"namespace","name":"n","tools":[` + inner + `]}]`, "tools"},
		"an unknown include":         {`"input":"Hi","include":["everything"]`, "include[0]"},
		"too much metadata":          {`"input":"Hi","metadata":{"a":"` + strings.Repeat("x", 513) + `"}`, "metadata.a"},
		"an unknown effort":          {`"input":"Hi","reasoning":{"effort":"huge"}`, "reasoning.effort"},
		"a format without a name":    {`"input":"Hi","text":{"format":{"type":"json_schema","schema":{}}}`, "text.format.name"},
		"a required tool of none":    {`"input":"Hi","tool_choice":"required"`, "tool_choice"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, _, err := parse(t, `{"model":"m",`+tc.fields+`}`)

			e, ok := errors.AsType[*inference.Error](err)
			if !ok || e.Status != 400 || e.Param != tc.param || e.Message == "" {
				t.Errorf("got %v (%+v), want an error about %s", err, e, tc.param)
			}
		})
	}
}

func TestALongConversationIsTruncated(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("word", 100) // about 100 tokens
	input := `[{"role":"developer","content":"Be brief."},{"role":"user","content":"one ` + long + `"},
		{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},
		{"type":"function_call_output","call_id":"c1","output":"` + long + `"},{"role":"assistant","content":"two"},
		{"role":"user","content":"three ` + long + `"},{"role":"assistant","content":"four"},{"role":"user","content":"five"}]`

	for name, tc := range map[string]struct {
		truncation string
		limit      int
		want       string // the first words of the messages
	}{
		"it fits":   {"auto", 1000, "Be one  word two three four five"},
		"one turn":  {"auto", 200, "Be three four five"},
		"all turns": {"auto", 1, "Be five"},
		"disabled":  {"disabled", 1, "Be one  word two three four five"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r, f, err := parse(t, `{"model":"m","truncation":"`+tc.truncation+`","input":`+input+`}`)
			if err != nil {
				t.Fatal(err)
			}
			f.Fit(r, tc.limit)
			var words []string

			for _, m := range r.Messages {
				first, _, _ := strings.Cut(m.Text(), " ")
				words = append(words, strings.ReplaceAll(first, long, "word"))
			}

			if got := strings.Join(words, " "); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestNoCallsDropTheBuiltInTools(t *testing.T) {
	t.Parallel()

	r, _, err := parse(t, `{"model":"m","input":"Hi","max_tool_calls":0,
		"tools":[{"type":"web_search"},{"type":"function","name":"f"},{"type":"custom","name":"g"}]}`)
	if err != nil || len(r.Tools) != 2 || r.Tools[0].Name != "f" || r.Tools[1].Name != "g" {
		t.Errorf("got %+v, %v; want the functions f and g alone", r, err)
	}
}
