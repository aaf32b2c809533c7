//go:build compat

package compat

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"presswork/internal/inference/inferencetest"
	"presswork/internal/test/e2e"
)

// serveTools runs an MCP server until the test ends and returns its address. It has the tools city and fail, and needs a
// token.
func serveTools(t *testing.T, token string) string {
	t.Helper()
	type city struct{ Name string }
	s := sdk.NewServer(&sdk.Implementation{Name: "tools"}, nil)
	cityTool := &sdk.Tool{
		Name: "city", Description: "Returns the country of a city.",
		Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true},
	}
	sdk.AddTool(s, cityTool, func(_ context.Context, _ *sdk.CallToolRequest, c city) (*sdk.CallToolResult, any, error) {
		return &sdk.CallToolResult{Content: []sdk.Content{&sdk.TextContent{Text: c.Name + " is in Norway"}}}, nil, nil
	})
	sdk.AddTool(s, &sdk.Tool{Name: "fail"},
		func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			return nil, nil, fmt.Errorf("the map is lost")
		})
	inner := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+token {
			http.Error(w, "unauthorized", http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		web.CloseClientConnections()
		web.Close()
	})

	return web.URL
}

// TestSDKsReadCallsOfServers runs the SDKs of OpenAI and Anthropic with an MCP server of models.yaml. The programs check
// the answers and exit with an error.
func TestSDKsReadCallsOfServers(t *testing.T) {
	t.Parallel()
	_, base := inferencetest.Start(t)
	models := fmt.Sprintf(`models:
  - {id: tools-plan, capabilities: [chat, tools, reasoning], upstreams: [{base_url: %q}]}
mcp_servers:
  maps: {url: %q, headers: {Authorization: "Bearer map-token"}, private: true}
`, base, serveTools(t, "map-token"))
	_, c := e2e.Serve(t, map[string]string{
		"INFERENCE_CONFIG": writeFile(t, "models.yaml", models), "API_KEY": apiKey, "WORKER_QUEUES": "infer",
	})
	tools := os.Getenv("PRESSWORK_COMPAT")

	for name, command := range map[string][]string{
		"python": {"py", "python3", "-W", "ignore", "servers_sdk.py"},
		"node":   {"js", tools + "/nodejs", "servers.mjs"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runAgent(t, command[0], []string{
				"PYTHONPATH=" + tools + "/python:" + tools + "/anthropic-2.14.0", "COMPAT_MODULES=" + tools + "/node",
				"COMPAT_ANTHROPIC=" + tools + "/anthropic-2.14.0", "COMPAT_BASE=" + c.Base, "COMPAT_KEY=" + apiKey,
				"PYTHONDONTWRITEBYTECODE=1",
			}, command[1], command[2:]...)
		})
	}
}
