package openai_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"presswork/internal/inference"
	"presswork/internal/inference/openai/wire"
)

// withServer returns a request body with an MCP server that has these JSON fields.
func withServer(fields string) string {
	return `{"model":"m","messages":[{"role":"user","content":"Hi"}],"tools":[{"type":"mcp",` + fields + `}]}`
}

func TestServersAreRead(t *testing.T) {
	t.Parallel()
	r := parse(t, withServer(`"server_label":"docs","server_url":"https://mcp.example/x?y=1","server_description":"d",
		"headers":{"x-team":"blue"},"authorization":"t0ken","require_approval":"never",
		"allowed_tools":{"read_only":true,"tool_names":["a"]}`))
	want := &inference.ToolServer{
		Label: "docs", URL: "https://mcp.example/x?y=1", Description: "d",
		Headers: map[string]string{"X-Team": "blue", "Authorization": "Bearer t0ken"},
		Allowed: &inference.ToolFilter{Names: []string{"a"}, ReadOnly: new(true)},
	}

	if got := r.Tools[0].Server; r.Tools[0].Type != inference.MCPTool || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	r = parse(t, strings.TrimSuffix(withServer(`"server_label":"docs"`), "}")+
		`,"tool_choice":{"type":"mcp","server_label":"docs","name":"a"}}`)

	if got := r.ToolChoice; got.Mode != inference.ChooseNamed || got.Names[0] != inference.ServerChoice("docs", "a") {
		t.Errorf("got the choice %+v, want the tool a of docs", got)
	}
}

func TestInvalidServersAreRejected(t *testing.T) {
	t.Parallel()
	const at = `"server_label":"docs","server_url":"https://mcp.example",`

	for fields, want := range map[string]string{
		`"server_url":"https://mcp.example"`:                                 "tools[0].server_label: property 'server_label' is missing",
		`"server_label":"a b"`:                                               "tools[0].server_label: must be 1 to 64 letters",
		`"server_label":"` + strings.Repeat("x", 65) + `"`:                   "tools[0].server_label: must be 1 to 64 letters",
		`"server_label":"docs","server_url":"ftp://x"`:                       "tools[0].server_url: must be an http or https address",
		`"server_label":"docs","server_url":"https://u:p@x/"`:                "tools[0].server_url: must be an http or https address",
		`"server_label":"docs","connector_id":"connector_gmail"`:             "tools[0].connector_id: connectors of a vendor are not supported",
		`"server_label":"docs","headers":{"a":"b"}`:                          "tools[0].headers: headers and 'authorization' are only allowed with 'server_url'",
		at + `"headers":{"a b":"c"}`:                                         `tools[0].headers: "a b" is not the name of a header`,
		at + `"headers":{"a":"s3cr3t\r\nb: c"}`:                              "tools[0].headers.a: must be at most 8192 bytes without line breaks",
		at + `"headers":{"host":"s3cr3t"}`:                                   "tools[0].headers.host: the connection sets this header",
		at + `"headers":{"authorization":"s3cr3t"},"authorization":"s3cr3t"`: "tools[0].authorization: 'headers' have an Authorization",
		at + `"headers":{"a":7}`:                                             "tools[0].headers.a: value must be a string",
		at + `"allowed_tools":"x"`:                                           "tools[0].allowed_tools: value must be an object",
		at + `"allowed_tools":[1]`:                                           "tools[0].allowed_tools[0]: value must be a string",
		at + `"require_approval":"sometimes"`:                                `tools[0].require_approval: value "sometimes" must be one of [always, never]`,
		at + `"require_approval":{}`:                                         "tools[0].require_approval: value must be",
		at + `"require_approval":"always"`:                                   `tools[0].require_approval: must be "never": chat completions have no approval requests`,
		at + `"x":1},{"type":"mcp",` + at + `"x":1`:                          `tools[1].server_label: there are two MCP servers "docs"`,
	} {
		t.Run(fields[:min(60, len(fields))], func(t *testing.T) {
			t.Parallel()
			_, err := wire.ParseRequest([]byte(withServer(fields)), wire.ParseOptions{})
			e := inference.AsError(err)

			if e == nil || e.Status != 400 {
				t.Fatalf("got %v, want %q", err, want)
			}
			got := e.Param + ": " + strings.TrimPrefix(e.Message, "'"+e.Param+"' : ")

			if !strings.HasPrefix(got, want) || strings.Contains(got, "s3cr3t") {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}

func TestCallsOfServersAreExecutedTools(t *testing.T) {
	t.Parallel()
	var e struct {
		Choices []struct {
			Delta struct {
				Executed []map[string]any `json:"executed_tools"`
			}
		}
	}
	event := wire.NewWriter(wire.Head{}).Append(nil, &inference.Chunk{Executed: []inference.ExecutedTool{{
		Server: "docs", BuiltinCall: inference.BuiltinCall{Name: "read", Arguments: `{"n":1}`},
		ToolResult: inference.ToolResult{Output: "text"},
	}}})

	_, data, _ := strings.Cut(string(event), "data: ")
	if err := json.Unmarshal([]byte(data), &e); err != nil {
		t.Fatal(err)
	}
	want := `[map[arguments:{"n":1} index:0 name:read output:text server_label:docs type:mcp]]`

	if got := fmt.Sprint(e.Choices[0].Delta.Executed); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
