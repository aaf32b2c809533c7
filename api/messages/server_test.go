package messages_test

import (
	"reflect"
	"strings"
	"testing"

	"presswork/api/messages"
	"presswork/internal/inference"
)

// withServers returns a request with these MCP servers and tools.
func withServers(servers, tools string) string {
	return `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"Hi"}],"mcp_servers":[` + servers +
		`],"tools":[` + tools + `]}`
}

func TestServersAreRead(t *testing.T) {
	t.Parallel()
	const docs = `{"type":"url","name":"docs","url":"https://mcp.example","authorization_token":"t0ken"`
	headers := map[string]string{"Authorization": "Bearer t0ken"}

	for name, test := range map[string]struct {
		servers, tools string
		want           *inference.ToolServer
	}{
		"with their tools": {
			docs + `,"tool_configuration":{"enabled":true,"allowed_tools":["a"]}}`, "",
			&inference.ToolServer{Label: "docs", URL: "https://mcp.example", Headers: headers, Allowed: &inference.ToolFilter{Names: []string{"a"}}},
		},
		"not enabled": {docs + `,"tool_configuration":{"enabled":false}}`, "", nil},
		"tools that are enabled one by one": {
			docs + `}`, `{"type":"mcp_toolset","mcp_server_name":"docs","default_config":{"enabled":false},"configs":{"b":{"enabled":true},"a":{"enabled":true},"c":{}}}`,
			&inference.ToolServer{Label: "docs", URL: "https://mcp.example", Headers: headers, Allowed: &inference.ToolFilter{Names: []string{"a", "b"}}},
		},
		"all tools except a disabled one": {
			docs + `}`, `{"type":"mcp_toolset","mcp_server_name":"docs","configs":{"b":{"enabled":false}}}`,
			&inference.ToolServer{Label: "docs", URL: "https://mcp.example", Headers: headers, Allowed: &inference.ToolFilter{Names: []string{"b"}, Invert: true}},
		},
		"tools of a server in models.yaml, as the client lists them": {
			"", `{"type":"mcp_toolset","mcp_server_name":"wiki","tools":[{"name":"read","input_schema":{"type":"object"}}]}`,
			&inference.ToolServer{Label: "wiki", Listed: []inference.ServerTool{{Name: "read", Schema: []byte(`{"type":"object"}`)}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			r, _, err := parse(t, withServers(test.servers, test.tools))
			if err != nil {
				t.Fatal(err)
			}
			var got *inference.ToolServer

			if len(r.Tools) > 0 {
				got = r.Tools[0].Server
			}

			if !reflect.DeepEqual(got, test.want) || r.Fields["mcp_servers"] != nil {
				t.Errorf("got %+v, want %+v; passed on: %s", got, test.want, r.Fields)
			}
		})
	}
}

func TestEarlierCallsOfServersAreKept(t *testing.T) {
	t.Parallel()
	const turn = `{"role":"user","content":"Hi"},{"role":"assistant","content":[{"type":"text","text":"Reading."},
		{"type":"mcp_tool_use","id":"m1","name":"read","server_name":"docs","input":{"n":1}},
		{"type":"mcp_tool_result","tool_use_id":"m1","is_error":true,"content":[{"type":"text","text":"gone"}]},
		{"type":"mcp_tool_use","id":"m2","name":"read","server_name":"wiki","input":{}},
		{"type":"mcp_tool_result","tool_use_id":"m2","content":"left out"},
		{"type":"mcp_tool_use","id":"m3","name":"read","server_name":"docs","input":{}},
		{"type":"text","text":"It is gone."}]},{"role":"user","content":"Why?"}`
	body := strings.Replace(
		withServers(`{"type":"url","name":"docs","url":"https://x"}`, ""),
		`{"role":"user","content":"Hi"}`,
		turn,
		1,
	)

	r, _, err := parse(t, body)
	if err != nil {
		t.Fatal(err)
	}
	const want = `user: Hi | assistant:  docs__read{"n":1} | tool m1: Error:+gone | assistant: Reading.+It is gone. | user: Why?`

	if got := transcript(r.Messages); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestBetasOfServersAreNotPassedOn(t *testing.T) {
	t.Parallel()

	r, _, err := messages.Parse([]byte(withServers("", "")), messages.Options{
		CheckModel: func(string) error { return nil }, Sealer: sealer(t, "0123456789abcdef"),
		Betas: []string{"mcp-client-2025-11-20", "context-1m-2025-08-07"},
	})
	if err != nil || len(r.Betas) != 1 || r.Betas[0] != "context-1m-2025-08-07" {
		t.Errorf("got the beta features %q, error %v; want only context-1m-2025-08-07", r.Betas, err)
	}
}

func TestInvalidServersAreRejected(t *testing.T) {
	t.Parallel()
	const docs = `{"type":"url","name":"docs","url":"https://mcp.example"}`

	for name, test := range map[string]struct{ servers, tools, want string }{
		"two of one name":      {docs + "," + docs, "", `there are two MCP servers "docs"`},
		"another type":         {`{"type":"stdio","name":"docs"}`, "", "'mcp_servers[0].type' : value \"stdio\" must be one of [url]"},
		"a name with spaces":   {`{"type":"url","name":"my docs","url":"https://x"}`, "", "'mcp_servers[0].name' : must be 1 to 64 letters"},
		"another scheme":       {`{"type":"url","name":"docs","url":"file:///etc/passwd"}`, "", "'mcp_servers[0].url' : must be an http or https address"},
		"a token with a break": {`{"type":"url","name":"docs","url":"https://x","authorization_token":"s3cr3t\n"}`, "", "'mcp_servers[0].authorization_token' : must be at most"},
		"a server without set": {docs + `,{"type":"url","name":"more","url":"https://x"}`, `{"type":"mcp_toolset","mcp_server_name":"docs"}`, `no "mcp_toolset" of 'tools' has the mcp_server_name "more"`},
		"two sets of a server": {docs, `{"type":"mcp_toolset","mcp_server_name":"docs"},{"type":"mcp_toolset","mcp_server_name":"docs"}`, `'tools[1].mcp_server_name' : there are two MCP servers "docs"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			_, _, err := parse(t, withServers(test.servers, test.tools))
			if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "s3cr3t") {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}
