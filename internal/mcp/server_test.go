package mcp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"presswork"
	"presswork/internal/analysis/finding"
	"presswork/internal/fault"
	"presswork/internal/mcp"
	"presswork/internal/test/wait"
	"presswork/themes"
)

// backend makes a file of each document, or waits for the end of the call if its text is "wait".
type backend struct {
	running atomic.Int32
}

// Convert waits or fails if the Markdown says so.
func (b *backend) Convert(ctx context.Context, c mcp.Conversion, report mcp.Progress) (mcp.File, error) {
	b.running.Add(1)
	defer b.running.Add(-1)

	switch c.Markdown {
	case "wait":
		report(10, presswork.StageRendering)
		<-ctx.Done()

		return mcp.File{}, context.Cause(ctx)
	case "break":
		return mcp.File{}, fmt.Errorf("the password is hunter2")
	}
	report(10, presswork.StageRendering)
	report(5, presswork.StageRendering)
	report(60, presswork.StagePrinting)

	return mcp.File{
		Name: "report.pdf", URI: "https://example.com/x?token=t", ContentType: "application/pdf", Size: 12345, Pages: 3,
		Theme: c.Theme, Job: "j1", ExpiresAt: time.Date(2026, 1, 2, 3, 4, 0, 0, time.UTC),
		Warnings: make([]fault.Warning, 60),
	}, nil
}

func (b *backend) Preview(context.Context, mcp.Document, int, mcp.Progress) (mcp.Picture, error) {
	return mcp.Picture{PNG: []byte("png")}, nil
}

func (b *backend) Check(context.Context, mcp.Document, mcp.Progress) (mcp.Checked, error) {
	return mcp.Checked{Pages: 1, Theme: "light"}, nil
}

func (b *backend) Themes() []themes.Theme { return []themes.Theme{{Name: "nord", Scheme: "light"}} }

func (b *backend) Analyze(context.Context, mcp.Document) (finding.Analysis, error) {
	return finding.Analysis{DocumentType: "letter"}, nil
}

func (b *backend) ExportPage(context.Context, mcp.Page, mcp.Progress) (mcp.File, error) {
	return mcp.File{Name: "page.pdf"}, nil
}

func (b *backend) FetchPage(context.Context, mcp.View) (string, error) { return "L0: words", nil }

func (b *backend) SearchWeb(context.Context, mcp.Search) (string, error) { return "a result", nil }

func (b *backend) Transcribe(context.Context, mcp.Recording, mcp.Progress) (mcp.Transcript, error) {
	return mcp.Transcript{Text: "spoken"}, nil
}

func (b *backend) Open(_ context.Context, uri string) (mcp.Content, error) {
	if strings.HasSuffix(uri, "j1") {
		return mcp.Content{Data: []byte("%PDF"), ContentType: "application/pdf"}, nil
	}

	return mcp.Content{}, fault.Errorf(fault.NotFound, "there is no such job")
}

// serveHTTP serves a backend over HTTP and returns the address.
func serveHTTP(t *testing.T, b mcp.Backend) string {
	t.Helper()
	handler := mcp.New(mcp.Options{Version: "1"}).Handler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler.ServeHTTP(w, r.WithContext(mcp.With(r.Context(), b)))
	}))
	t.Cleanup(server.Close)

	return server.URL
}

// connect connects the official client.
func connect(t *testing.T, transport sdk.Transport, o *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()

	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o).
		Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })

	return session
}

// stream serves a backend on pipes and returns the client's ends.
func stream(t *testing.T, b mcp.Backend) (io.ReadCloser, io.WriteCloser, chan error) {
	t.Helper()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	ended := make(chan error, 1)

	go func() {
		ended <- mcp.New(mcp.Options{Version: "1", Files: true}).Serve(t.Context(), b, fromClient, toClient)
		toClient.Close()
	}()
	t.Cleanup(func() { toServer.Close() })

	return fromServer, toServer, ended
}

func TestToolsOverBothTransports(t *testing.T) {
	t.Parallel()
	in, out, _ := stream(t, &backend{})

	for name, transport := range map[string]sdk.Transport{
		"stream": &sdk.IOTransport{Reader: in, Writer: out},
		"HTTP":   &sdk.StreamableClientTransport{Endpoint: serveHTTP(t, &backend{})},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			progress := make(chan float64, 10)
			c := connect(t, transport, &sdk.ClientOptions{
				ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
					progress <- req.Params.Progress
				},
			})

			list, err := c.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatalf("listing the tools: %v", err)
			}

			if got := len(list.Tools); got != 9 {
				t.Fatalf("got %d tools, want 9", got)
			}
			files := name == "stream"

			for _, tool := range list.Tools {
				schema, _ := json.Marshal(tool.InputSchema)
				if strings.Contains(string(schema), `"path"`) && !files {
					t.Errorf("%s offers a path: %s", tool.Name, schema)
				}
			}
			params := &sdk.CallToolParams{
				Name: "convert_markdown", Arguments: map[string]any{"markdown": "# Hi", "theme": "nord"},
			}
			params.SetProgressToken("p")

			result, err := c.CallTool(t.Context(), params)
			if err != nil || result.IsError {
				t.Fatalf("got %+v, %v; want a result", result, err)
			}
			text := result.Content[0].(*sdk.TextContent).Text

			for _, want := range []string{
				"Made report.pdf: 3 pages, 12 345 bytes, theme nord.", "https://example.com/x?token=t", "2026-01-02 03:04 UTC",
				"presswork://artifacts/j1", "60 findings:", "and 10 more",
			} {
				if !strings.Contains(text, want) {
					t.Errorf("got %q, want %q in it", text, want)
				}
			}

			if first, second := <-progress, <-progress; first != 10 || second != 60 {
				t.Errorf("got progress %v and %v, want 10 and 60", first, second)
			}
		})
	}
}

func TestErrorsAreForTheModel(t *testing.T) {
	t.Parallel()
	c := connect(t, &sdk.StreamableClientTransport{Endpoint: serveHTTP(t, &backend{})}, nil)

	for name, row := range map[string]struct {
		tool string
		args any
		says string
	}{
		"a path":             {"convert_markdown", map[string]any{"path": "/etc/passwd"}, "send markdown instead of path"},
		"a recording's path": {"transcribe", map[string]any{"path": "/etc/passwd"}, "send url instead of path"},
		"a private error":    {"convert_markdown", map[string]any{"markdown": "break"}, "internal error"},
		"a list":             {"convert_markdown", []int{1}, "must be an object"},
		"a number":           {"convert_markdown", map[string]any{"markdown": 1}, "markdown must be a string"},
		"an empty search":    {"search_web", map[string]any{"query": " "}, "query is missing"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			result, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: row.tool, Arguments: row.args})
			if err != nil {
				t.Fatal(err)
			}

			if text := result.Content[0].(*sdk.TextContent).Text; !result.IsError ||
				!strings.Contains(text, row.says) ||
				strings.Contains(text, "hunter2") {
				t.Errorf("got IsError %v and %q; want true and %q, without secrets", result.IsError, text, row.says)
			}
		})
	}

	if _, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: "convert"}); err == nil {
		t.Error("calling an unknown tool: got no error, want one")
	}
}

func TestResourcesAndPrompts(t *testing.T) {
	t.Parallel()
	c := connect(t, &sdk.StreamableClientTransport{Endpoint: serveHTTP(t, &backend{})}, nil)

	for uri, want := range map[string]string{
		"presswork://themes":           "nord (light)",
		"presswork://options":          "- `density` [compact normal generous]: Size",
		"presswork://docs/markdown.md": "# Markdown",
		"presswork://artifacts/j1":     "%PDF",
	} {
		found, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if err != nil || !strings.Contains(found.Contents[0].Text+string(found.Contents[0].Blob), want) {
			t.Errorf("%s: got %+v, %v; want %q in it", uri, found, err, want)
		}
	}

	for _, uri := range []string{"presswork://artifacts/j2", "presswork://docs/../secret", "file:///etc/passwd"} {
		if found, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s: got %+v, want an error", uri, found)
		}
	}

	got, err := c.GetPrompt(
		t.Context(),
		&sdk.GetPromptParams{Name: "report", Arguments: map[string]string{"notes": "sales"}},
	)
	if err != nil || !strings.Contains(got.Messages[0].Content.(*sdk.TextContent).Text, "into a report: sales") {
		t.Errorf("got the prompt %+v, %v; want its notes at the end", got, err)
	}

	list, err := c.ListPrompts(t.Context(), nil)
	if err != nil {
		t.Fatalf("listing the prompts: %v", err)
	}

	if len(list.Prompts) != 3 {
		t.Errorf("got %d prompts, want 3", len(list.Prompts))
	}
}

// TestACallEndsWithItsClient checks that work ends when a client cancels a call, and when it closes the connection,
// for clients of both generations of the protocol.
func TestACallEndsWithItsClient(t *testing.T) {
	t.Parallel()

	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"convert_markdown",` +
		`"arguments":{"markdown":"wait"}%s}}`

	for version, meta := range map[string]string{
		"2025-06-18": "",
		"2026-07-28": `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
			`"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}`,
	} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			b := &backend{}
			ctx, cancel := context.WithCancel(t.Context())

			req, err := http.NewRequestWithContext(
				ctx,
				http.MethodPost,
				serveHTTP(t, b),
				strings.NewReader(fmt.Sprintf(call, meta)),
			)
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			req.Header.Set("MCP-Protocol-Version", version)
			req.Header.Set("Mcp-Method", "tools/call")
			req.Header.Set("Mcp-Name", "convert_markdown")
			done := make(chan error, 1)

			go func() {
				res, err := http.DefaultClient.Do(req)
				if err == nil {
					body, _ := io.ReadAll(res.Body)
					err = fmt.Errorf("%d %s", res.StatusCode, body)
					res.Body.Close()
				}
				done <- err
			}()
			wait.Until(t, "the call runs", func() bool {
				select {
				case err := <-done:
					t.Fatal(err)
				default:
				}

				return b.running.Load() == 1
			})
			cancel()
			wait.Until(t, "the call has ended", func() bool { return b.running.Load() == 0 })
		})
	}
	b := &backend{}
	in, out, ended := stream(t, b)
	fmt.Fprintln(out, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",`+
		`"capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`)

	go io.Copy(io.Discard, in)
	fmt.Fprintf(out, call+"\n", "")
	wait.Until(t, "the call runs", func() bool { return b.running.Load() == 1 })
	out.Close()
	<-ended
	wait.Until(t, "the call has ended", func() bool { return b.running.Load() == 0 })
}

// TestTwoClientsOnOneStream checks that a second client cannot take over a stream.
func TestTwoClientsOnOneStream(t *testing.T) {
	t.Parallel()
	in, out, _ := stream(t, &backend{})
	lines := bufio.NewScanner(in)

	const initialize = `{"jsonrpc":"2.0","id":%d,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":{},"clientInfo":{"name":"x","version":"1"}}}` + "\n"

	for id, want := range []string{"serverInfo", "duplicate"} {
		fmt.Fprintf(out, initialize, id)

		if !lines.Scan() || !strings.Contains(lines.Text(), want) {
			t.Errorf("initialize %d: got %s, want %q in it", id, lines.Text(), want)
		}
	}
	fmt.Fprintln(out, `{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"list_themes"}}`)

	if !lines.Scan() || !strings.Contains(lines.Text(), "nord") {
		t.Errorf("after the second client: got %s, want the theme nord in it", lines.Text())
	}
}
