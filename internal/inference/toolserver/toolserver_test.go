package toolserver_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"presswork/internal/guard"
	"presswork/internal/inference"
	"presswork/internal/inference/toolserver"
)

// secret is a header that only the server may see.
const secret = "Bearer s3cr3t-0f-the-c4ller"

// newServer returns a server with the tools add, structured, picture, fail and hang.
func newServer() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "test"}, &sdk.ServerOptions{Capabilities: &sdk.ServerCapabilities{}})
	type numbers struct{ A, B int }

	sdk.AddTool(s, &sdk.Tool{Name: "add", Annotations: &sdk.ToolAnnotations{ReadOnlyHint: true}},
		func(_ context.Context, _ *sdk.CallToolRequest, n numbers) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{
				Content: []sdk.Content{&sdk.TextContent{Text: fmt.Sprint(n.A+n.B, "\x1b[31m")}},
			}, nil, nil
		})
	sdk.AddTool(s, &sdk.Tool{Name: "structured"},
		func(_ context.Context, _ *sdk.CallToolRequest, n numbers) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{StructuredContent: map[string]int{"sum": n.A + n.B}}, nil, nil
		})
	sdk.AddTool(s, &sdk.Tool{Name: "picture"},
		func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			return &sdk.CallToolResult{Content: []sdk.Content{
				&sdk.ImageContent{Data: onePixel, MIMEType: "text/html"},
				&sdk.ImageContent{Data: []byte("<svg/>"), MIMEType: "image/png"},
				&sdk.ResourceLink{Name: "report", URI: "https://paper.example/report.pdf"},
			}}, nil, nil
		})
	sdk.AddTool(s, &sdk.Tool{Name: "fail"},
		func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			return nil, nil, fmt.Errorf("the disk is full")
		})
	sdk.AddTool(s, &sdk.Tool{Name: "hang"},
		func(ctx context.Context, _ *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
			<-ctx.Done()
			return nil, nil, ctx.Err()
		})

	return s
}

// onePixel is a GIF of one pixel.
var onePixel = []byte("GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff!\xf9\x04\x01\x00\x00\x00\x00," +
	"\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;")

// serve serves a handler and returns its address.
func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)

	return s.URL
}

// handler serves s at every path to clients that send the secret.
func handler(s *sdk.Server, stateless bool) http.Handler {
	inner := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s },
		&sdk.StreamableHTTPOptions{Stateless: stateless, PropagateRequestCancellation: true})

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != secret {
			http.Error(w, "who are you", http.StatusUnauthorized)
			return
		}
		inner.ServeHTTP(w, r)
	})
}

// open opens a session with the server at an address. The policy allows this address and the list allow, which is empty
// or begins with a comma. change may edit the server; nil leaves it unchanged.
func open(t *testing.T, address, allow string, change func(*inference.ToolServer)) inference.ServerSession {
	t.Helper()

	at, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}

	policy, err := guard.New(guard.Options{
		Allow: at.Host + allow,
		Lookup: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("10.0.0.7")}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	servers := toolserver.New(toolserver.Options{
		ListTimeout: 5 * time.Second, CallTimeout: 2 * time.Second,
		Client: func(s *inference.ToolServer) (*http.Client, *url.URL, error) {
			at, err := policy.CheckURL(s.URL)
			return policy.Client(guard.ClientOptions{Timeout: time.Minute, MaxRedirects: 3}), at, err
		},
	})
	s := &inference.ToolServer{Label: "test", URL: address, Headers: map[string]string{"Authorization": secret}}

	if change != nil {
		change(s)
	}
	session := servers.Open(s)
	t.Cleanup(func() { _ = session.Close() })

	return session
}

// names returns the names of tools, separated by spaces.
func names(list []inference.ServerTool) string {
	var all []string
	for _, t := range list {
		all = append(all, t.Name)
	}

	return strings.Join(all, " ")
}

func TestToolsAreListedAndCalled(t *testing.T) {
	t.Parallel()

	for name, stateless := range map[string]bool{"stateless": true, "with sessions": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, serve(t, handler(newServer(), stateless)), "", nil)

			list, err := s.List(t.Context())
			if err != nil || names(list) != "add fail hang picture structured" || !list[0].ReadOnly {
				t.Fatalf("got the tools %q, %v; want all five, and add read-only", names(list), err)
			}

			for call, want := range map[string]inference.ToolResult{
				`add {"A":1,"B":2}`:        {Output: "3[31m"},
				`structured {"A":1,"B":2}`: {Output: `{"sum":3}`},
				`fail {}`:                  {Output: "the disk is full", Failed: true},
				`picture {}`: {
					Output: "[image of 43 bytes]\n[image that cannot be shown: the image is image/svg+xml; " +
						"allowed: image/png, image/jpeg, image/gif, image/webp]\n" +
						"[link to report: https://paper.example/report.pdf]",
					Images: []string{"data:image/gif;base64,"},
				},
				`gone {}`: {Failed: true, Broken: true, Output: `The server failed: it answered with error -32602: unknown tool "gone"`},
			} {
				t.Run(call, func(t *testing.T) {
					tool, arguments, _ := strings.Cut(call, " ")

					got, err := s.Call(t.Context(), tool, arguments)
					if err != nil || got.Output != want.Output || got.Failed != want.Failed ||
						got.Broken != want.Broken ||
						len(got.Images) != len(want.Images) {
						t.Errorf("got %+v, %v; want %+v", got, err, want)
					}

					if len(want.Images) > 0 && !strings.HasPrefix(got.Images[0], want.Images[0]) {
						t.Errorf("got the image %.40s, want %s", got.Images[0], want.Images[0])
					}
				})
			}
		})
	}
}

func TestAllowedToolsLimitTheList(t *testing.T) {
	t.Parallel()
	address := serve(t, handler(newServer(), true))

	for name, test := range map[string]struct {
		allowed inference.ToolFilter
		want    string
	}{
		"by name":         {inference.ToolFilter{Names: []string{"fail", "add"}}, "add fail"},
		"all but some":    {inference.ToolFilter{Names: []string{"fail", "hang"}, Invert: true}, "add picture structured"},
		"read only":       {inference.ToolFilter{ReadOnly: new(true)}, "add"},
		"an unknown name": {inference.ToolFilter{Names: []string{"ad"}}, `no tool "ad" of 'allowed_tools'; did you mean "add"?`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, address, "", func(s *inference.ToolServer) { s.Allowed = &test.allowed })

			list, err := s.List(t.Context())
			if err != nil && !strings.Contains(err.Error(), test.want) || err == nil && names(list) != test.want {
				t.Errorf("listed %q, %v; want %q", names(list), err, test.want)
			}
		})
	}
}
