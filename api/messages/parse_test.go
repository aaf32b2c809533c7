package messages_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/inference"
)

// pixel is an image in base64.
const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func TestBlocksBecomeMessages(t *testing.T) {
	t.Parallel()
	signature := "presswork-1." + sealer(t, "0123456789abcdef").Seal(owner, "Which city?")

	for name, tc := range map[string]struct{ fields, want string }{
		"text": {`"messages":[{"role":"user","content":"Hi"}]`, `user: Hi`},
		"system": {
			`"system":"Be brief.","messages":[{"role":"user","content":"Hi"},{"role":"system","content":"Now."}]`,
			`system: Be brief. | user: Hi | system: Now.`,
		},
		"system blocks": {
			`"system":[{"type":"text","text":"x-anthropic-billing-header: 1"},{"type":"text","text":"a","cache_control":{"type":"ephemeral"}}],
			"messages":[{"role":"user","content":[{"type":"text","text":"Hi"}]}]`,
			`system: a | user: Hi`,
		},
		"images and documents": {
			`"messages":[{"role":"user","content":[
			{"type":"image","source":{"type":"base64","media_type":"image/png","data":"` + pixel + `"}},
			{"type":"image","source":{"type":"url","url":"https://x.example/a.png"}},
			{"type":"document","title":"T","context":"C","source":{"type":"text","media_type":"text/plain","data":"d"},"citations":{"enabled":true}},
			{"type":"document","source":{"type":"content","content":[{"type":"text","text":"e"}]}},
			{"type":"search_result","source":"https://s.example","title":"S","content":[{"type":"text","text":"f"}]}]}]`,
			`user: [data:image/png;base64,` + pixel + `]+[https://x.example/a.png]+Title: T` + "\n" + `Context: C+d+e+Title: S` + "\n" +
				`Context: https://s.example+f`,
		},
		"a turn with tools": {
			`"messages":[{"role":"user","content":"Hi"},{"role":"assistant","content":[
			{"type":"thinking","thinking":"Which city?","signature":"` + signature + `"},
			{"type":"thinking","thinking":"Of another server.","signature":"EqQBCg"},{"type":"redacted_thinking","data":"EmwKAh"},
			{"type":"text","text":"I call."},{"type":"tool_use","id":"c1","name":"f","input":{"a":1}},{"type":"tool_use","id":"c2","name":"g"},
			{"type":"server_tool_use","id":"s1","name":"web_search","input":{}},{"type":"web_search_tool_result","tool_use_id":"s1","content":[]}]},
			{"role":"user","content":[{"type":"tool_result","tool_use_id":"c2","is_error":true,"content":"two"},
			{"type":"tool_result","tool_use_id":"c1","content":[{"type":"text","text":"one"},{"type":"image","source":{"type":"url","url":"https://x.example/a.png"}}]},
			{"type":"text","text":"Go on."}]}]`,
			`user: Hi | assistant: I call. (Which city?) f{"a":1} g{} | tool c2: Error:+two | tool c1: one | ` +
				`user: [https://x.example/a.png] | user: Go on.`,
		},
		"a redacted thought": {
			`"messages":[{"role":"assistant","content":[{"type":"redacted_thinking","data":"` + signature + `"},{"type":"text","text":"Oslo."}]}]`,
			`assistant: Oslo. (Which city?)`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r, _, err := parse(t, `{"model":"m","max_tokens":9,`+tc.fields+`}`)
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

		if m.Failed {
			parts = append([]string{"Error:"}, parts...)
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

	long := strings.Repeat("x", 100)

	r, _, err := parse(
		t,
		`{"model":"m","max_tokens":2048,"messages":[{"role":"user","content":"Hi"}],"temperature":0.5,"top_p":0.9,"top_k":40,
		"stream":true,"stop_sequences":["a","b"],"metadata":{"user_id":"{\"session\":1}"},"service_tier":"standard_only",
		"thinking":{"type":"enabled","budget_tokens":4000},"output_config":{"format":{"type":"json_schema","schema":{"type":"object"}}},
		"tools":[{"name":"`+long+`","description":"d","input_schema":{"type":"object"},"strict":true,"defer_loading":true},
		{"type":"code_execution_20250825","name":"code_execution"},{"type":"tool_search_tool_regex_20251119","name":"tool_search_tool_regex"}],
		"tool_choice":{"type":"any","disable_parallel_tool_use":true},"context_management":{"edits":[]},"unknown":{"a":[1]}}`,
	)
	if err != nil {
		t.Fatal(err)
	}

	if name := r.Tools[0].Name; len(name) != 64 || !strings.HasPrefix(long, name[:55]) {
		t.Errorf("the long name became %s, want 64 bytes", name)
	}
	r.Tools[0].Name, r.Messages = "long", nil

	fields := r.Fields
	if string(fields["top_k"]) != "40" || fields["messages"] != nil || fields["temperature"] != nil {
		t.Errorf("the fields are %s, want top_k and none that the parser reads", fields)
	}

	want := &inference.Request{
		Model:             "m",
		MaxTokens:         2048,
		Temperature:       new(0.5),
		TopP:              new(0.9),
		Fields:            fields,
		Stream:            true,
		Stop:              []string{"a", "b"},
		User:              `{"session":1}`,
		ServiceTier:       "on_demand",
		ReasoningEffort:   "medium",
		ReasoningFormat:   inference.Parsed,
		IncludeReasoning:  true,
		ParallelToolCalls: new(false),
		ToolChoice:        inference.ToolChoice{Mode: inference.ChooseRequired},
		Format: inference.Format{
			Type:   inference.JSONSchema,
			Name:   "answer",
			Schema: []byte(`{"type":"object"}`),
		},
		Tools: []inference.Tool{
			{
				Type:        inference.FunctionTool,
				Name:        "long",
				Description: "d",
				Parameters:  []byte(`{"type":"object"}`),
				Strict:      true,
			},
			{Type: inference.CodeInterpreter},
		},
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Error(diff)
	}
}

func TestThinkingBecomesAnEffort(t *testing.T) {
	t.Parallel()

	for fields, want := range map[string]struct {
		effort string
		format inference.ReasoningFormat
	}{
		`"stream":false`:                 {"", inference.Hidden},
		`"thinking":{"type":"adaptive"}`: {"", inference.Parsed},
		`"thinking":{"type":"disabled"},"output_config":{"effort":"high"}`:                    {"none", inference.Hidden},
		`"thinking":{"type":"enabled","budget_tokens":1024}`:                                  {"low", inference.Parsed},
		`"thinking":{"type":"enabled","budget_tokens":31999}`:                                 {"high", inference.Parsed},
		`"thinking":{"type":"adaptive"},"output_config":{"effort":"max"}`:                     {"max", inference.Parsed},
		`"thinking":{"type":"adaptive"},"output_config":{"effort":"of a later version"}`:      {"", inference.Parsed},
		`"thinking":{"type":"enabled","budget_tokens":9999},"output_config":{"effort":"low"}`: {"low", inference.Parsed},
	} {
		t.Run(fields, func(t *testing.T) {
			t.Parallel()

			r, _, err := parse(t, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi"}],`+fields+`}`)
			if err != nil {
				t.Fatal(err)
			}

			if r.ReasoningEffort != want.effort || r.ReasoningFormat != want.format {
				t.Errorf("got %q %s, want %+v", r.ReasoningEffort, r.ReasoningFormat, want)
			}
		})
	}
}

func TestToolChoices(t *testing.T) {
	t.Parallel()

	const tools = `"tools":[{"name":"f"},{"type":"web_search_20250305","name":"web_search"}]`

	for choice, want := range map[string]inference.ToolChoice{
		`{"type":"auto"}`:                     {Mode: inference.ChooseAuto},
		`{"type":"none"}`:                     {Mode: inference.ChooseNone},
		`{"type":"any"}`:                      {Mode: inference.ChooseRequired},
		`{"type":"tool","name":"f"}`:          {Mode: inference.ChooseNamed, Names: []string{"f"}},
		`{"type":"tool","name":"web_search"}`: {Mode: inference.ChooseNamed, Names: []string{inference.SearchFunction}},
	} {
		t.Run(choice, func(t *testing.T) {
			t.Parallel()

			r, _, err := parse(t, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi"}],`+tools+
				`,"tool_choice":`+choice+`}`)
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

	own := "presswork-1." + sealer(t, "0123456789abcdef").Seal(owner, "Which city?")
	foreign := "presswork-1." + sealer(t, "0123456789abcdef").Seal("bob", "Which city?")
	other := "presswork-1." + sealer(t, "another secret of a server").Seal(owner, "Which city?")

	const call = `{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f","input":{}}]}`
	const result = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"x"}]}`
	block := func(role, block string) string {
		return `"max_tokens":9,"messages":[{"role":"` + role + `","content":[` + block + `]}]`
	}
	thought := func(text, signature string) string {
		return block("assistant", `{"type":"thinking","thinking":"`+text+`","signature":"`+signature+`"}`)
	}
	with := func(fields string) string {
		return `"max_tokens":9,"messages":[{"role":"user","content":"Hi"}],` + fields
	}

	many := make([]string, 129)
	for i := range many {
		many[i] = fmt.Sprintf(`{"name":"f%d"}`, i)
	}

	for name, tc := range map[string]struct{ fields, param string }{
		"no max_tokens":                 {`"messages":[{"role":"user","content":"Hi"}]`, "max_tokens"},
		"a stored thread":               {with(`"thread":{"type":"create"}`), "thread"},
		"no messages":                   {`"max_tokens":9`, "messages"},
		"empty messages":                {`"max_tokens":9,"messages":[]`, "messages"},
		"no content":                    {`"max_tokens":9,"messages":[{"role":"user"}]`, "messages[0].content"},
		"an unknown role":               {`"max_tokens":9,"messages":[{"role":"tool","content":"x"}]`, "messages[0].role"},
		"an unknown block":              {block("user", `{"type":"juggle"}`), "messages[0].content[0].type"},
		"a block without a type":        {block("user", `{"text":"Hi"}`), "messages[0].content[0].type"},
		"a call of the user":            {block("user", `{"type":"tool_use","id":"c1","name":"f"}`), "messages[0].content[0].type"},
		"a stored image":                {block("user", `{"type":"image","source":{"type":"file","file_id":"f"}}`), "messages[0].content[0].source.type"},
		"a damaged image":               {block("user", `{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}`), "messages[0].content[0].source.data"},
		"a call without an input":       {block("assistant", `{"type":"tool_use","id":"c1","name":"f","input":"x"}`), "messages[0].content[0].input"},
		"a result without a call":       {`"max_tokens":9,"messages":[` + result + `]`, "messages[0].content[0].tool_use_id"},
		"a result before its call":      {`"max_tokens":9,"messages":[` + result + `,` + call + `]`, "messages[0].content[0].tool_use_id"},
		"two results":                   {`"max_tokens":9,"messages":[` + call + `,` + result + `,` + result + `]`, "messages[2].content[0].tool_use_id"},
		"a call without a result":       {`"max_tokens":9,"messages":[` + call + `,{"role":"user","content":"Hi"}]`, "messages"},
		"an answer before a result":     {`"max_tokens":9,"messages":[` + call + `,{"role":"assistant","content":"Hi"},` + result + `]`, "messages[1].content"},
		"two calls of one id":           {`"max_tokens":9,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"f"},{"type":"tool_use","id":"c1","name":"g"}]}]`, "messages[0].content[1].id"},
		"a changed thought":             {thought("Which town?", own), "messages[0].content[0].signature"},
		"an altered signature":          {thought("Which city?", own[:40]+"A"+own[41:]), "messages[0].content[0].signature"},
		"a cut signature":               {thought("Which city?", own[:20]), "messages[0].content[0].signature"},
		"a signature for another key":   {thought("Which city?", foreign), "messages[0].content[0].signature"},
		"a signature by another server": {thought("Which city?", other), "messages[0].content[0].signature"},
		"an altered redaction":          {block("assistant", `{"type":"redacted_thinking","data":"`+foreign+`"}`), "messages[0].content[0].data"},
		"a server tool":                 {with(`"tools":[{"type":"computer_20250124","name":"computer"}]`), "tools[0].type"},
		"a tool without a name":         {with(`"tools":[{"input_schema":{"type":"object"}}]`), "tools[0].name"},
		"a wrong schema":                {with(`"tools":[{"name":"f","input_schema":{"type":"juggle"}}]`), "tools[0].input_schema"},
		"two tools of one name":         {with(`"tools":[{"name":"f"},{"name":"f"}]`), "tools[1].name"},
		"too many tools":                {with(`"tools":[` + strings.Join(many, ",") + `]`), "tools"},
		"a choice of an unknown tool":   {with(`"tools":[{"name":"f"}],"tool_choice":{"type":"tool","name":"g"}`), "tool_choice.name"},
		"a required tool without tools": {with(`"tool_choice":{"type":"any"}`), "tool_choice"},
		"too many stop sequences":       {with(`"stop_sequences":["a","b","c","d","e"]`), "stop_sequences"},
		"a stop sequence of 0":          {with(`"stop_sequences":[""]`), "stop_sequences[0]"},
		"an unknown thinking":           {with(`"thinking":{"type":"deep"}`), "thinking.type"},
		"a format without a schema":     {with(`"output_config":{"format":{"type":"json_schema"}}`), "output_config.format.schema"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, _, err := parse(t, `{"model":"m",`+tc.fields+`}`)
			if e, ok := errors.AsType[*inference.Error](err); !ok || e.Status != http.StatusBadRequest ||
				e.Param != tc.param {
				t.Errorf("got %v, want a 400 about %s", err, tc.param)
			}
		})
	}
}
