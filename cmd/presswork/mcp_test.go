package main

import (
	"bytes"
	"context"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"presswork/cmd/presswork/command"
	"presswork/internal/chromium"
)

// mcpClient is a client of `presswork mcp`, whose allowed folder dir is.
type mcpClient struct {
	*sdk.ClientSession

	dir string
	// ended receives the error of the command.
	ended chan error
}

// startMCP starts `presswork mcp --root dir` and connects the official client to it.
func startMCP(t *testing.T, o *sdk.ClientOptions, args ...string) mcpClient {
	t.Helper()

	if _, err := chromium.Find(""); err != nil && testing.Short() {
		t.Skip("needs Chromium; `make test` runs this test")
	}
	dir := t.TempDir()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	root := newRootCommand(
		&command.Program{Getenv: func(string) string { return "" }, Stdout: toClient, Stderr: io.Discard},
	)
	root.SetIn(fromClient)
	root.SetArgs(append([]string{"mcp", "--root", dir}, args...))

	ended := make(chan error, 1)
	go func() {
		ended <- root.ExecuteContext(t.Context())
		toClient.Close()
	}()

	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o)

	session, err := client.Connect(t.Context(), &sdk.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })

	return mcpClient{session, dir, ended}
}

// write writes a file into the allowed folder and returns its path.
func (c mcpClient) write(t *testing.T, name, text string) string {
	t.Helper()

	path := filepath.Join(c.dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}

	return path
}

// call calls a tool and returns its content with all text.
func (c mcpClient) call(t *testing.T, name string, args map[string]any) (*sdk.CallToolResult, string) {
	t.Helper()

	result, err := c.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	var text strings.Builder

	for _, content := range result.Content {
		if words, ok := content.(*sdk.TextContent); ok {
			text.WriteString(words.Text)
		}
	}

	return result, text.String()
}

func TestMCPToolsMakeFiles(t *testing.T) {
	t.Parallel()
	c := startMCP(t, nil)
	report := c.write(
		t,
		"report.md",
		"---\ntitle: Report\n---\n# One\n\nText.\n\n![A picture](missing.png)\n\n# Two\n\nMore.\n",
	)

	for name, row := range map[string]struct {
		args  map[string]any
		file  string
		begin string
		says  []string
	}{
		"a PDF next to the document": {
			map[string]any{"path": report, "theme": "nord"},
			"report.pdf", "%PDF-",
			[]string{"report.pdf: 1 page", "theme nord", "1 finding", "line 8", "missing.png"},
		},
		"a text and a theme that is chosen": {
			map[string]any{"markdown": "# Minutes\n\nWe met.", "theme": "auto", "output": c.dir + "/new/minutes.pdf"},
			"new/minutes.pdf", "%PDF-",
			[]string{"(chosen: "},
		},
		"HTML": {
			map[string]any{"path": report, "output": c.dir + "/page.html"}, "page.html", "<!DOCTYPE html>", []string{"page.html"},
		},
		"a book": {
			map[string]any{"path": report, "format": "epub"}, "report.epub", "PK", []string{"report.epub"},
		},
		"slides": {
			map[string]any{
				"markdown": "# One\n\n---\n\n# Two", "output": c.dir + "/slides.pdf", "options": map[string]any{"as": "slides"},
			}, "slides.pdf", "%PDF-", []string{"2 pages"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			result, text := c.call(t, "convert_markdown", row.args)
			if result.IsError {
				t.Fatal(text)
			}

			data, err := os.ReadFile(filepath.Join(c.dir, row.file))
			if err != nil || !bytes.HasPrefix(data, []byte(row.begin)) {
				t.Fatalf("%.20q, %v", data, err)
			}

			for _, want := range row.says {
				if !strings.Contains(text, want) {
					t.Errorf("%q lacks %q", text, want)
				}
			}

			link, ok := result.Content[len(result.Content)-1].(*sdk.ResourceLink)
			if !ok || *link.Size != int64(len(data)) {
				t.Fatalf("the link is %+v", link)
			}

			read, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: link.URI})
			if err != nil || string(read.Contents[0].Blob)+read.Contents[0].Text != string(data) {
				t.Errorf("%s is another file: %v", link.URI, err)
			}
		})
	}
}

func TestMCPToolsShowPagesAndFindings(t *testing.T) {
	t.Parallel()
	c := startMCP(t, nil)
	doc := c.write(t, "doc.md", "# One\n\n### Three\n\n<div class=\"page-break\"></div>\n\nEnd of it.\n")

	result, text := c.call(t, "preview_page", map[string]any{"path": doc, "page": 2})
	if result.IsError {
		t.Fatal(text)
	}

	picture, err := png.Decode(bytes.NewReader(result.Content[0].(*sdk.ImageContent).Data))
	if err != nil || picture.Bounds().Dx() != 826 {
		t.Errorf("the picture is %v wide: %v", picture.Bounds(), err)
	}

	if result, text := c.call(t, "preview_page", map[string]any{"path": doc, "page": 9}); !result.IsError {
		t.Errorf("page 9 of 2: %s", text)
	}

	if _, text := c.call(t, "check_document", map[string]any{"path": doc}); !strings.Contains(text, "2 pages") ||
		!strings.Contains(text, "line 3: ") || !strings.Contains(text, "heading_skipped") {
		t.Errorf("check_document: %s", text)
	}

	if _, text := c.call(t, "analyze_document", map[string]any{"path": doc}); !strings.Contains(text, `"primary"`) {
		t.Errorf("analyze_document: %s", text)
	}

	if _, text := c.call(t, "list_themes", nil); !strings.Contains(text, "nord (light): ") {
		t.Errorf("list_themes: %s", text)
	}
}

func TestMCPToolsRefuse(t *testing.T) {
	t.Parallel()
	c := startMCP(t, nil)
	doc := c.write(t, "doc.md", "# One\n\n![x](secret/picture.png)\n")
	outside := t.TempDir()

	for _, name := range []string{"secret.md", "picture.png"} {
		if err := os.WriteFile(filepath.Join(outside, name), []byte("secret words"), 0o600); err != nil {
			t.Fatal(err)
		}
	}

	for from, to := range map[string]string{
		"link.md": outside + "/secret.md", "secret": outside, "link.pdf": outside + "/new.pdf",
	} {
		if err := os.Symlink(to, filepath.Join(c.dir, from)); err != nil {
			t.Fatal(err)
		}
	}

	for name, row := range map[string]struct {
		tool string
		args map[string]any
		says string
	}{
		"an unknown theme":      {"convert_markdown", map[string]any{"path": doc, "theme": "nrod"}, `did you mean "nord"?`},
		"an unknown argument":   {"convert_markdown", map[string]any{"path": doc, "them": "nord"}, `did you mean "theme"?`},
		"an unknown option":     {"convert_markdown", map[string]any{"path": doc, "options": map[string]any{"tok": 1}}, `did you mean "toc"?`},
		"a wrong option":        {"convert_markdown", map[string]any{"path": doc, "options": map[string]any{"scale": 9}}, "0.1 to 2"},
		"no text":               {"convert_markdown", nil, "markdown is missing"},
		"two texts":             {"check_document", map[string]any{"path": doc, "markdown": "x"}, "set one of them"},
		"no output":             {"convert_markdown", map[string]any{"markdown": "x"}, "output is missing"},
		"an unknown extension":  {"convert_markdown", map[string]any{"path": doc, "output": "x.docx"}, "allowed: .pdf"},
		"the document itself":   {"convert_markdown", map[string]any{"path": doc, "output": doc, "format": "pdf"}, "overwrite"},
		"a file outside":        {"convert_markdown", map[string]any{"path": outside + "/secret.md"}, "--root DIR"},
		"dots":                  {"convert_markdown", map[string]any{"path": c.dir + "/../" + filepath.Base(outside) + "/secret.md"}, "outside the allowed"},
		"a link to a file":      {"check_document", map[string]any{"path": c.dir + "/link.md"}, "symbolic link"},
		"a link to a folder":    {"check_document", map[string]any{"path": c.dir + "/secret/secret.md"}, "symbolic link"},
		"a folder outside":      {"check_document", map[string]any{"path": c.dir + "/secret"}, "symbolic link"},
		"an analysis outside":   {"analyze_document", map[string]any{"path": c.dir + "/link.md"}, "symbolic link"},
		"a recording outside":   {"transcribe", map[string]any{"path": c.dir + "/link.md"}, "symbolic link"},
		"an output outside":     {"convert_markdown", map[string]any{"path": doc, "output": outside + "/x.pdf"}, "outside the allowed"},
		"an output in a link":   {"convert_markdown", map[string]any{"path": doc, "output": c.dir + "/secret/x.pdf"}, "symbolic link"},
		"an output on a link":   {"convert_markdown", map[string]any{"path": doc, "output": c.dir + "/link.pdf"}, "symbolic link"},
		"an image through one":  {"check_document", map[string]any{"path": doc}, "image_failed"},
		"20 MB of text":         {"check_document", map[string]any{"markdown": strings.Repeat("word ", 4<<20)}, "allowed: 10485760"},
		"a missing file":        {"check_document", map[string]any{"path": c.dir + "/none.md"}, "there is no such file"},
		"a private address":     {"fetch_page", map[string]any{"url": "http://127.0.0.1:1/"}, "127.0.0.1"},
		"a private page":        {"export_page", map[string]any{"url": "http://169.254.169.254/", "output": c.dir + "/x.pdf"}, "169.254.169.254"},
		"no search engine":      {"search_web", map[string]any{"query": "paper"}, "SEARXNG_URL"},
		"too many results":      {"search_web", map[string]any{"query": "paper", "results": 99}, "1 to 20"},
		"a page of no document": {"preview_page", map[string]any{"path": doc, "page": -1}, "1 to 10000"},
	} {
		t.Run(name, func(t *testing.T) {
			result, text := c.call(t, row.tool, row.args)
			if !strings.Contains(text, row.says) || !result.IsError && row.says != "image_failed" {
				t.Errorf("%v %s", result.IsError, text)
			}

			if strings.Contains(text, "secret words") {
				t.Errorf("it reads a file outside: %s", text)
			}
		})
	}

	for _, uri := range []string{"file://" + outside + "/secret.md", "file://" + c.dir + "/link.md", "file:///etc/passwd"} {
		if read, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err == nil {
			t.Errorf("%s can be read: %v", uri, read)
		}
	}

	if files, _ := os.ReadDir(outside); len(files) != 2 {
		t.Errorf("something was written outside: %v", files)
	}
}

func TestMCPProgressGrows(t *testing.T) {
	t.Parallel()

	var seen []float64
	c := startMCP(t, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
			seen = append(seen, req.Params.Progress)
		},
	})
	params := &sdk.CallToolParams{
		Name:      "check_document",
		Arguments: map[string]any{"markdown": "# Hi", "theme": "auto"},
	}
	params.SetProgressToken("t")

	if _, err := c.CallTool(t.Context(), params); err != nil {
		t.Fatal(err)
	}

	if len(seen) < 3 || !slices.IsSorted(seen) {
		t.Errorf("progress: %v", seen)
	}
}

// TestMCPCallsAreCancelled cancels a print in the middle: the call ends, the next one works and the file is not made.
func TestMCPCallsAreCancelled(t *testing.T) {
	t.Parallel()

	ctx, cancel := context.WithCancel(t.Context())
	var printing atomic.Bool
	c := startMCP(t, &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
			if req.Params.Message == "printing" && printing.CompareAndSwap(false, true) {
				cancel()
			}
		},
	})
	long := strings.Repeat("# Chapter\n\n"+strings.Repeat("Words of a long document. ", 200)+"\n\n", 200)
	params := &sdk.CallToolParams{
		Name: "convert_markdown", Arguments: map[string]any{"markdown": long, "output": c.dir + "/long.pdf"},
	}
	params.SetProgressToken(1)

	if result, err := c.CallTool(ctx, params); err == nil {
		t.Fatalf("the call was not cancelled: %v", result)
	}

	if _, text := c.call(t, "check_document", map[string]any{"markdown": "# Hi"}); !strings.Contains(text, "1 page") {
		t.Errorf("after a cancelled call: %s", text)
	}

	if files, _ := os.ReadDir(c.dir); len(files) != 0 {
		t.Errorf("a cancelled call has left %v", files)
	}
}

// TestMCPEndsWithItsClient closes the client while a document is printed.
func TestMCPEndsWithItsClient(t *testing.T) {
	t.Parallel()
	c := startMCP(t, nil)

	go func() { // its error is that the connection is closed
		_, _ = c.CallTool(t.Context(), &sdk.CallToolParams{
			Name:      "check_document",
			Arguments: map[string]any{"markdown": strings.Repeat("# Chapter\n\nWords.\n\n", 5000)},
		})
	}()

	if err := c.Ping(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	c.Close()

	if err := <-c.ended; err != nil {
		t.Errorf("the command ended with %v", err)
	}
}

func TestMCPFlags(t *testing.T) {
	t.Parallel()

	for name, row := range map[string]struct {
		args []string
		says string
	}{
		"a missing root":  {[]string{"--root", "/does/not/exist"}, "--root /does/not/exist"},
		"a wrong address": {[]string{"--server", "nowhere"}, "--server"},
		"an argument":     {[]string{"serve"}, "takes only flags"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			runCommand(t, append([]string{"mcp"}, row.args...)...).check(t, exitUsage, row.says)
		})
	}
}
