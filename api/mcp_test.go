package api_test

import (
	"archive/zip"
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/redis/go-redis/v9"

	"presswork"
	"presswork/api"
	"presswork/internal/inference"
	"presswork/internal/inference/meter"
	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
)

// keyed sends an API key with each request.
type keyed struct {
	key  string
	next http.RoundTripper
}

func (k keyed) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+k.key)

	return k.next.RoundTrip(r)
}

// mcp connects the official client to /mcp.
func (h *harness) mcp(key string, o *sdk.ClientOptions) (*sdk.ClientSession, error) {
	client := *h.client
	client.Transport = keyed{key, h.client.Transport}
	transport := &sdk.StreamableClientTransport{Endpoint: h.url("/mcp"), HTTPClient: &client}

	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o).
		Connect(h.t.Context(), transport, nil)
	if err == nil {
		h.t.Cleanup(func() { session.Close() })
	}

	return session, err
}

// mustMCP is mcp with the key of the tests.
func (h *harness) mustMCP(o *sdk.ClientOptions) *sdk.ClientSession {
	h.t.Helper()

	session, err := h.mcp(testKey, o)
	if err != nil {
		h.t.Fatal(err)
	}

	return session
}

// textOf returns the words of a result.
func textOf(r *sdk.CallToolResult) string {
	var b strings.Builder

	for _, c := range r.Content {
		if text, ok := c.(*sdk.TextContent); ok {
			b.WriteString(text.Text)
		}
	}

	return b.String()
}

// lastJob waits for the n-th submission and returns its id.
func (h *harness) lastJob(n int) string {
	h.t.Helper()
	wait.Until(h.t, "the job is submitted", func() bool { return h.queue.count() == n })

	return h.queue.last().ID
}

func TestMCPToolsAreJobs(t *testing.T) {
	t.Parallel()
	h := serve(t)
	c := h.mustMCP(nil)
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)

	if f, err := z.Create("page-2.png"); err != nil {
		t.Fatal(err)
	} else if _, err := f.Write([]byte("a picture")); err != nil {
		t.Fatal(err)
	}
	z.Close()

	for i, row := range []struct {
		tool        string
		args        map[string]any
		contentType string
		data        string
		says        []string
		kind        presswork.Kind
	}{
		{
			"convert_markdown",
			map[string]any{"markdown": "# Hi", "theme": "nord", "output": "a.pdf"},
			"application/pdf", "%PDF",
			[]string{"Download it from http://127.0.0.1:", "/download?token=", "4 bytes", "presswork://artifacts/"},
			presswork.KindConversion,
		},
		{
			"preview_page",
			map[string]any{"markdown": "# Hi", "page": 2},
			"application/zip", archive.String(),
			[]string{"Page 2"},
			presswork.KindConversion,
		},
		{"check_document", map[string]any{"markdown": "# Hi"}, "application/pdf", "%PDF", []string{"page"}, presswork.KindConversion},
		{
			"export_page",
			map[string]any{"url": "https://example.com/", "output": "a.png", "full_page": true},
			"image/png", "png!",
			[]string{"4 bytes"},
			presswork.KindExport,
		},
	} {
		t.Run(row.tool, func(t *testing.T) {
			called := make(chan *sdk.CallToolResult, 1)

			go func() {
				result, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: row.tool, Arguments: row.args})
				if err != nil {
					t.Error(err)
				}
				called <- result
			}()

			h.finishAs(h.lastJob(i+1), row.contentType, []byte(row.data))

			result := <-called
			if result == nil || result.IsError {
				t.Fatalf("got %+v, want a result without an error", result)
			}

			for _, want := range row.says {
				if text := textOf(result); !strings.Contains(text, want) {
					t.Errorf("got the text %q, want %q in it", text, want)
				}
			}

			if picture, ok := result.Content[0].(*sdk.ImageContent); row.tool == "preview_page" &&
				(!ok || string(picture.Data) != "a picture") {
				t.Errorf("got the content %v, want the picture of the archive", result.Content[0])
			}

			if sub := h.queue.last(); sub.Kind != row.kind || sub.RequestID == "" {
				t.Errorf("got the kind %q and the request ID %q, want %q and an ID", sub.Kind, sub.RequestID, row.kind)
			}
		})
	}
}

func TestCancellingAnMCPCallCancelsItsJob(t *testing.T) {
	t.Parallel()
	h := serve(t)
	c := h.mustMCP(nil)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)

	go func() {
		_, err := c.CallTool(
			ctx,
			&sdk.CallToolParams{Name: "convert_markdown", Arguments: map[string]any{"markdown": "# Hi"}},
		)
		ended <- err
	}()
	id := h.lastJob(1)
	cancel()

	if err := <-ended; err == nil {
		t.Error("the cancelled call returned no error")
	}
	wait.Until(t, "the job is cancelled", func() bool {
		rec, err := h.queue.Job(t.Context(), id)
		return err == nil && rec.Status == presswork.Cancelled
	})
}

func TestMCPChecksKeysOriginsMethodsAndSizes(t *testing.T) {
	t.Parallel()
	h := serve(t, func(o *api.Options) { o.MaxContentBytes = 1000 })

	if _, err := h.mcp("wrong", nil); err == nil {
		t.Error("connecting with a wrong key: got no error, want one")
	}

	const list = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	headers := []string{"Content-Type: application/json", "Accept: application/json, text/event-stream"}

	for name, row := range map[string]struct {
		method, body string
		headers      []string
		status       int
		says         string
	}{
		"a list":               {"POST", list, headers, 200, "convert_markdown"},
		"its own page":         {"POST", list, append([]string{"Origin: " + h.url("")}, headers...), 200, "convert_markdown"},
		"another site's page":  {"POST", list, append([]string{"Origin: https://evil.example"}, headers...), 403, "origin_not_allowed"},
		"a stream by GET":      {"GET", "", []string{"Accept: text/event-stream"}, 405, "method_not_allowed"},
		"the end of a session": {"DELETE", "", nil, 405, "method_not_allowed"},
		"broken JSON":          {"POST", "{", headers, 400, ""},
		"another type":         {"POST", list, []string{"Content-Type: text/plain", "Accept: */*"}, 415, "application/json"},
		"an unknown version":   {"POST", list, append([]string{"MCP-Protocol-Version: 1999-01-01"}, headers...), 400, "nsupported protocol version"},
		"a long message":       {"POST", strings.Repeat(" ", 2<<20), headers, 413, "content_too_large"},
		"a notification":       {"POST", `{"jsonrpc":"2.0","method":"notifications/initialized"}`, headers, 202, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			got := h.do(row.method, "/mcp", strings.NewReader(row.body), row.headers...)
			if got.StatusCode != row.status || !strings.Contains(string(got.body), row.says) {
				t.Errorf(
					"got status %d and %s, want %d and %q in the body",
					got.StatusCode,
					got.body,
					row.status,
					row.says,
				)
			}
		})
	}
}

func TestMCPErrorsAreForTheModel(t *testing.T) {
	t.Parallel()
	h := serve(t, func(o *api.Options) { o.MaxContentBytes = 1000 })
	c := h.mustMCP(nil)

	for name, row := range map[string]struct {
		tool string
		args map[string]any
		says string
	}{
		"an unknown theme": {"convert_markdown", map[string]any{"markdown": "x", "theme": "nrod"}, `did you mean "nord"?`},
		"a wrong option":   {"convert_markdown", map[string]any{"markdown": "x", "options": map[string]any{"scale": 9}}, "0.1 to 2"},
		"a path":           {"check_document", map[string]any{"path": "/etc/passwd"}, "send markdown instead"},
		"a long text":      {"analyze_document", map[string]any{"markdown": strings.Repeat("x", 1001)}, "allowed: 1000"},
		"a private page":   {"export_page", map[string]any{"url": "http://127.0.0.1/", "output": "x.pdf"}, "127.0.0.1"},
		"no models":        {"transcribe", map[string]any{"url": "https://example.com/a.mp3"}, "no models"},
		"no web":           {"search_web", map[string]any{"query": "x"}, "cannot reach the web"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			result, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: row.tool, Arguments: row.args})
			if err != nil {
				t.Fatal(err)
			}

			if text := textOf(result); !result.IsError || !strings.Contains(text, row.says) {
				t.Errorf("got IsError %v and %q, want true and %q in the text", result.IsError, text, row.says)
			}
		})
	}

	if n := h.queue.count(); n != 0 {
		t.Errorf("the rejected calls submitted %d jobs, want none", n)
	}
}

// web is a toolbox whose calls return their names and arguments. Calls for a "broken" page fail.
type web struct{ inference.Toolbox }

func (web) Open(context.Context, *inference.Request, []string) (inference.ToolSession, error) {
	return webSession{}, nil
}

type webSession struct{}

func (webSession) Call(_ context.Context, c inference.BuiltinCall) (inference.ToolResult, error) {
	if strings.Contains(c.Arguments, "broken") {
		return inference.ToolResult{Output: "Error: no such page", Failed: true}, nil
	}

	return inference.ToolResult{Output: c.Name + c.Arguments}, nil
}

func (webSession) Close() error { return nil }

func TestMCPReadsTheWebWithTheToolbox(t *testing.T) {
	t.Parallel()
	c := serve(t, func(o *api.Options) { o.Toolbox = web{} }).mustMCP(nil)

	for name, row := range map[string]struct {
		tool string
		args map[string]any
		says string
	}{
		"a search": {"search_web", map[string]any{"query": "paper"}, `browser_search{"query":"paper","topn":10}`},
		"a page": {
			"fetch_page",
			map[string]any{"url": "https://example.com/", "line": 3},
			`browser_open{"id":"https://example.com/","loc":3,"num_lines":0}`,
		},
		"a missing page": {"fetch_page", map[string]any{"url": "https://broken.example/"}, "no such page"},
	} {
		t.Run(name, func(t *testing.T) {
			result, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: row.tool, Arguments: row.args})
			if err != nil {
				t.Fatal(err)
			}

			if text := textOf(result); !strings.Contains(text, row.says) {
				t.Errorf("got the text %q, want %q in it", text, row.says)
			}
		})
	}
}

// TestMCPKnowsOwnersAndLimits checks that a key reads only its own files, and that rejected calls count as requests.
func TestMCPKnowsOwnersAndLimits(t *testing.T) {
	t.Parallel()

	o, err := redis.ParseURL(redistest.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(o)
	t.Cleanup(func() { client.Close() })
	h := serve(
		t,
		keysFile(t, "keys: [{name: alice, key: alices, rpm: 2}, {name: bob, key: bobs}]"),
		func(o *api.Options) {
			o.Meter = meter.New(client, slog.New(slog.DiscardHandler))
		},
	)
	h.key = "alices"
	id := h.submit().JobID
	h.finish(id, []byte("%PDF"))

	for key, allowed := range map[string]bool{"alices": true, "bobs": false} {
		c, err := h.mcp(key, nil)
		if err != nil {
			t.Fatal(err)
		}

		_, err = c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "presswork://artifacts/" + id})
		if (err == nil) != allowed {
			t.Errorf("reading alice's file as %s: got error %v, want success %v", key, err, allowed)
		}
	}

	c, err := h.mcp("alices", nil)
	if err != nil {
		t.Fatal(err)
	}

	// One of the two requests is used already, so the second call is over the limit.
	for _, want := range []string{"did you mean", "this key may make 2 requests"} {
		result, err := c.CallTool(t.Context(), &sdk.CallToolParams{
			Name: "convert_markdown", Arguments: map[string]any{"markdown": "x", "theme": "nrod"},
		})
		if err != nil || !strings.Contains(textOf(result), want) {
			t.Errorf("got %v, error %v; want %q in the text", result, err, want)
		}
	}
}
