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
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/e2e"
	"presswork/internal/test/wait"
)

// serveMCPTools serves an MCP server with the tools echo, and wait, which reports to ended that its call is over. It
// records the values of the header Authorization.
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

// serverBody returns the body of a chat completion that follows a plan with an MCP server.
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

	models, err := os.ReadFile(chatModels(t, base, "tools-plan"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "models.yaml")
	file := fmt.Sprintf("%s\nmcp_servers:\n  local: {url: %q, headers: {Authorization: %q}, private: true}\n"+
		"  guarded: {url: %q, headers: {Authorization: %q}}\n", models, address, named, address, named)

	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	node, c := e2e.Serve(t, map[string]string{
		"INFERENCE_CONFIG": path, "WORKER_QUEUES": "infer", "LOG_LEVEL": "debug",
	})
	chat := func(server map[string]any, rounds ...string) (int, string) {
		status, _, answer := c.Do("POST", "/v1/chat/completions", "application/json",
			serverBody(server, false, rounds...))
		if s := string(answer); strings.Contains(s, secret) || strings.Contains(s, named) {
			t.Errorf("the answer reveals a secret: %s", s)
		}

		return status, string(answer)
	}

	status, answer := chat(map[string]any{"server_label": "local"}, `local__echo {"Text":"hi"}`)
	if status != 200 || !strings.Contains(answer, "The tool says: echo hi") {
		t.Errorf("with a name: status %d, %s", status, answer)
	}

	if key := wait.Receive(t, "a request for the server", keys); key != named {
		t.Errorf("the server got the key %q", key)
	}

	_, _, metrics := c.Do("GET", "/metrics", "", nil)
	if !bytes.Contains(metrics, []byte(`presswork_mcp_call_seconds_count{outcome="ok"} 1`)) {
		t.Error("the metrics lack the call of the server")
	}
	byAddress := map[string]any{"server_label": "mine", "server_url": address, "authorization": secret}

	if status, answer = chat(byAddress, "say Hi."); status != 403 || !strings.Contains(answer, "address_not_allowed") {
		t.Errorf("with a private address: status %d, %s", status, answer)
	}

	if status, answer = chat(map[string]any{"server_label": "guarded"}, "say Hi."); status != 403 {
		t.Errorf("with the name of a private address that is not permitted: status %d, %s", status, answer)
	}
	ctx, cancel := context.WithCancel(t.Context())

	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.Base+"/v1/chat/completions",
		bytes.NewReader(serverBody(map[string]any{"server_label": "local"}, true, "say Wait. | local__wait {}")))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")

	response, err := http.DefaultClient.Do(request)
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
			t.Errorf("the log has %q", value)
		}
	}
}
