package e2e_test

import (
	"bytes"
	"context"
	"image/png"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"presswork/internal/test/e2e"
)

// mcpKey is an http.RoundTripper that sends a key with each request.
type mcpKey string

func (k mcpKey) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("X-API-Key", string(k))

	return http.DefaultTransport.RoundTrip(r)
}

// dialMCP connects the official client to /mcp of a server until the test ends.
func dialMCP(t *testing.T, base, key string, o *sdk.ClientOptions) *sdk.ClientSession {
	t.Helper()
	client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, o)

	session, err := client.Connect(t.Context(), &sdk.StreamableClientTransport{
		Endpoint: base + "/mcp", HTTPClient: &http.Client{Transport: mcpKey(key)},
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { session.Close() })

	return session
}

// TestMCPClientConvertsAndPreviews converts a document, downloads the file and draws its second page.
func TestMCPClientConvertsAndPreviews(t *testing.T) {
	t.Parallel()
	_, server := e2e.Serve(t, map[string]string{"API_KEY": "one"})
	server.Key = "one"

	var progress []float64
	c := dialMCP(t, server.Base, "one", &sdk.ClientOptions{
		ProgressNotificationHandler: func(_ context.Context, req *sdk.ProgressNotificationClientRequest) {
			progress = append(progress, req.Params.Progress)
		},
	})

	const text = "# One\n\n![A picture](none.png)\n\n<div class=\"page-break\"></div>\n\n# Two\n"
	call := &sdk.CallToolParams{
		Name: "convert_markdown", Arguments: map[string]any{"markdown": text, "theme": "auto", "output": "pages.pdf"},
	}
	call.SetProgressToken("p")

	result, err := c.CallTool(t.Context(), call)
	if err != nil || result.IsError {
		t.Fatalf("convert_markdown: result %+v, error %v; want a document", result, err)
	}
	words := result.Content[0].(*sdk.TextContent).Text
	link := result.Content[1].(*sdk.ResourceLink)

	for _, want := range []string{"pages.pdf: 2 pages", "(chosen: ", "line 3", "image_failed", link.URI} {
		if !strings.Contains(words, want) {
			t.Errorf("convert_markdown returned %q, want %q in it", words, want)
		}
	}

	res, err := http.Get(link.URI)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()

	pdf, err := io.ReadAll(res.Body)
	if err != nil || !bytes.HasPrefix(pdf, []byte("%PDF-")) || int64(len(pdf)) != *link.Size {
		t.Errorf("download: status %d, %d bytes %.20q; want a PDF of %d bytes", res.StatusCode, len(pdf), pdf,
			*link.Size)
	}

	if len(progress) == 0 || !slices.IsSorted(progress) {
		t.Errorf("progress %v, want rising numbers", progress)
	}
	uri := words[strings.Index(words, "presswork://artifacts/"):]
	uri, _, _ = strings.Cut(uri, ".") // the period ends the sentence

	if read, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err != nil {
		t.Errorf("read %s: %v", uri, err)
	} else if !bytes.Equal(read.Contents[0].Blob, pdf) {
		t.Errorf("%s has %d bytes, want those of the download", uri, len(read.Contents[0].Blob))
	}

	page, err := c.CallTool(t.Context(), &sdk.CallToolParams{
		Name: "preview_page", Arguments: map[string]any{"markdown": text, "page": 2},
	})
	if err != nil || page.IsError {
		t.Fatalf("preview_page: result %+v, error %v; want a picture", page, err)
	}

	if _, err := png.Decode(bytes.NewReader(page.Content[0].(*sdk.ImageContent).Data)); err != nil {
		t.Errorf("preview_page: %v, want a PNG", err)
	}
}
