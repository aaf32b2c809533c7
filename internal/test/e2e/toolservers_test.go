package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/e2e"
	"presswork/internal/test/wait"
)

// serveMCPTools runs an MCP server until the test ends and returns its address. It has the tools echo and wait. wait
// sends to begun, waits until the client cancels the call, and sends to ended. keys gets the header Authorization of
// requests.
func serveMCPTools(t *testing.T, begun, ended chan<- string, keys chan<- string) string {
	t.Helper()
	s := sdk.NewServer(&sdk.Implementation{Name: "tools"}, nil)
	type text struct{ Text string }

	sdk.AddTool(s, &sdk.Tool{Name: "echo"},
		func(_ context.Context, _ *sdk.CallToolRequest, in text) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: "echo " + in.Text}}}, nil, nil
		})
	sdk.AddTool(s, &sdk.Tool{Name: "wait"},
		func(ctx context.Context, _ *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
			begun <- "wait"
			<-ctx.Done()
			ended <- "wait"

			return nil, nil, ctx.Err()
		})
	inner := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s },
		&sdk.StreamableHTTPOptions{Stateless: true, PropagateRequestCancellation: true})
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		select {
		case keys <- r.Header.Get("Authorization"):
		default:
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})

	return web.URL
}

// serverBody returns the body of a chat completion with an MCP server. Its model follows a plan of rounds.
func serverBody(server map[string]any, stream bool, rounds ...string) []byte {
	server["type"] = "mcp"
	b, _ := json.Marshal(map[string]any{
		"model": "tools-plan", "stream": stream, "tools": []any{server},
		"messages": []any{map[string]any{"role": "user", "content": inferencetest.Plan(rounds...)}},
	})

	return b
}

func TestModelCallsToolsOfServers(t *testing.T) {
	t.Parallel()
	const secret, named = "caller-secret-31f", "operator-secret-9c2"
	begun, ended, keys := make(chan string, 1), make(chan string, 1), make(chan string, 1)
	address := serveMCPTools(t, begun, ended, keys)
	_, base := inferencetest.Start(t)

	models := writeFile(t, "models.yaml", fmt.Sprintf(`models:
  - {id: tools-plan, capabilities: [chat, tools], upstreams: [{base_url: %[1]q}]}
mcp_servers:
  local: {url: %[2]q, headers: {Authorization: %[3]q}, private: true}
  guarded: {url: %[2]q, headers: {Authorization: %[3]q}}
`, base, address, named))
	node, c := e2e.Serve(t, map[string]string{
		"INFERENCE_CONFIG": models, "WORKER_QUEUES": "infer", "LOG_LEVEL": "debug",
	})
	chat := func(server map[string]any, rounds ...string) (int, string) {
		status, _, answer := c.Do("POST", "/v1/chat/completions", "application/json",
			serverBody(server, false, rounds...))
		if s := string(answer); strings.Contains(s, secret) || strings.Contains(s, named) {
			t.Errorf("got %s, want an answer without secrets", s)
		}

		return status, string(answer)
	}

	status, answer := chat(map[string]any{"server_label": "local"}, `local__echo {"Text":"hi"}`)
	if status != 200 || !strings.Contains(answer, "The tool says: echo hi") {
		t.Errorf("named server: status %d, %s; want 200 and echo hi", status, answer)
	}

	if key := wait.Receive(t, "a request for the server", keys); key != named {
		t.Errorf("the server got the key %q, want %q", key, named)
	}

	_, _, metrics := c.Do("GET", "/metrics", "", nil)
	if !bytes.Contains(metrics, []byte(`presswork_mcp_call_seconds_count{outcome="ok"} 1`)) {
		t.Errorf("metrics %s, want one call of an MCP server", metrics)
	}
	byAddress := map[string]any{"server_label": "mine", "server_url": address, "authorization": secret}

	if status, answer = chat(byAddress, "say Hi."); status != 403 || !strings.Contains(answer, "address_not_allowed") {
		t.Errorf("private address: status %d, %s; want 403 address_not_allowed", status, answer)
	}

	if status, answer = chat(map[string]any{"server_label": "guarded"}, "say Hi."); status != 403 {
		t.Errorf("named server with a private address that is not allowed: status %d, %s; want 403", status, answer)
	}
	ctx, cancel := context.WithCancel(t.Context())

	response, err := c.PostJSON(ctx, "/v1/chat/completions",
		serverBody(map[string]any{"server_label": "local"}, true, "say Wait. | local__wait {}"))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	wait.Receive(t, "the call on the server", begun)
	cancel()
	wait.Receive(t, "the end of the call after the client has disconnected", ended)
	node.Stop()

	for _, value := range []string{secret, named} {
		if strings.Contains(node.Log(), value) {
			t.Errorf("the log has the secret %q, want none", value)
		}
	}
}
