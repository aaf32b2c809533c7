package toolserver_test

import (
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

	"presswork/internal/inference"
	"presswork/internal/test/wait"
)

// scripted returns a server that answers each method with the JSON of its result, and other methods with status 400.
func scripted(results map[string]string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var call struct {
			ID     json.RawMessage
			Method string
		}
		_ = json.NewDecoder(r.Body).Decode(&call)

		switch result, ok := results[call.Method]; {
		case call.ID == nil:
			w.WriteHeader(http.StatusAccepted)
		case ok:
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, call.ID, result)
		default:
			w.WriteHeader(http.StatusBadRequest)
		}
	})
}

// listing returns a scripted server with these tools.
func listing(tools string) http.Handler {
	return scripted(map[string]string{
		"initialize": `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}`,
		"tools/list": `{"tools":[` + tools + `]}`,
	})
}

// tool returns the JSON of a tool with a schema.
func tool(name, schema string) string {
	return fmt.Sprintf(`{"name":%q,"description":"d","inputSchema":%s}`, name, schema)
}

func TestServersThatCannotBeUsedAreRejected(t *testing.T) {
	t.Parallel()

	var many []string
	for i := range 600 {
		many = append(many, tool(fmt.Sprint("t", i), `{"type":"object"}`))
	}
	const object = `{"type":"object"}`

	for name, test := range map[string]struct {
		server http.Handler
		status int
		want   string
	}{
		"a list of 2 MB": {
			listing(tool("t", `{"type":"object","description":"`+strings.Repeat("x", 2<<20)+`"}`)), 424,
			"answered with more than 1048576 bytes",
		},
		"too many tools": {listing(strings.Join(many, ",")), 424, "more than 512 tools"},
		"a large schema": {listing(tool("t", `{"type":"object","description":"`+strings.Repeat("x", 70<<10)+`"}`)), 424, `schema of its tool "t" cannot be used: it has more than 65536 bytes`},
		"a schema that leads to itself": {
			listing(tool("t", `{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/a"}}}`)), 424,
			"a $ref leads to itself",
		},
		"a schema of another document":   {listing(tool("t", `{"$ref":"http://127.0.0.1/secret"}`)), 424, "another document"},
		"two tools of one name":          {listing(tool("t", object) + "," + tool("t", object)), 424, `two tools "t"`},
		"a name with control characters": {listing(tool("t\nIgnore", object)), 424, "is not 1 to 128 bytes of text"},
		"pages without an end": {scripted(map[string]string{
			"initialize": `{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"t","version":"1"}}`,
			"tools/list": `{"tools":[],"nextCursor":"more"}`,
		}), 424, "more than 16 pages"},
		"a web site": {
			http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }), 424,
			"it does not answer as a server of the protocol",
		},
		"wrong credentials": {
			http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(401) }), 424,
			"it answered with status 401, so it does not accept the credentials",
		},
		"an error that repeats the secret": {http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var call struct{ ID json.RawMessage }
			_ = json.NewDecoder(r.Body).Decode(&call)
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"error":{"code":-1,"message":"no: %s\u0007, %s"}}`, call.ID,
				r.Header.Get("Authorization"), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		}), 424, "it answered with error -1: no: [header], [header]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := open(t, serve(t, test.server), "", nil).List(t.Context())
			expectError(t, err, test.status, test.want)
		})
	}
}

// expectError fails the test if err has another status or text, or reveals the secret.
func expectError(t *testing.T, err error, status int, want string) {
	t.Helper()

	e := inference.AsError(err)
	if e == nil || e.Status != status || !strings.Contains(e.Message, want) {
		t.Fatalf("got %v, want status %d and %q", err, status, want)
	}

	if strings.Contains(e.Error(), "s3cr3t") { // with the cause, which is logged
		t.Errorf("the error reveals the secret: %v", e)
	}
}

func TestRedirectsAreChecked(t *testing.T) {
	t.Parallel()
	var seen atomic.Value // the headers at the other host
	other := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen.Store(r.Header.Clone())
		w.WriteHeader(http.StatusNotFound)
	}))
	redirect := serve(t, http.RedirectHandler(other, http.StatusTemporaryRedirect))

	_, err := open(t, redirect, "", nil).List(t.Context())
	expectError(t, err, http.StatusForbidden, "is not allowed")

	if seen.Load() != nil {
		t.Error("the private address got a request, want none")
	}
	_, err = open(t, redirect, ","+strings.TrimPrefix(other, "http://"), nil).List(t.Context())
	expectError(t, err, http.StatusFailedDependency, "status 404")

	if h := seen.Load().(http.Header); h.Get("Authorization") != "" || h.Get("X-Custom") != "" {
		t.Errorf("another host got the headers %v, want neither Authorization nor X-Custom", h)
	}
}

func TestPrivateAddressIsRejected(t *testing.T) {
	t.Parallel()
	address := serve(t, handler(newServer(), true))

	for name, at := range map[string]string{
		"as a literal":           strings.Replace(address, "127.0.0.1", "127.0.0.2", 1),
		"of a name":              strings.Replace(address, "127.0.0.1", "rebind.example", 1),
		"of the cloud":           "http://169.254.169.254/latest/meta-data",
		"in an unusual notation": "http://0x7f000001/mcp",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := open(t, address, "", func(s *inference.ToolServer) { s.URL = at })
			_, err := s.List(t.Context())
			expectError(t, err, http.StatusForbidden, "is not allowed")
		})
	}
}

func TestToolThatNeverAnswersIsEnded(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	server := newServer()
	sdk.AddTool(server, &sdk.Tool{Name: "wait"},
		func(ctx context.Context, _ *sdk.CallToolRequest, _ struct{}) (*sdk.CallToolResult, any, error) {
			<-ctx.Done()
			close(gone)

			return nil, nil, ctx.Err()
		})
	web := httptest.NewServer(handler(server, true))
	s := open(t, web.URL, "", nil)
	began := time.Now()

	got, err := s.Call(t.Context(), "wait", "{}")
	if err != nil || !got.Broken || got.Output != "The server failed: it did not answer in time" ||
		time.Since(began) > wait.Patience {
		t.Errorf("got %+v, %v after %s; want that the server did not answer in time", got, err, time.Since(began))
	}

	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)

	if got, err := s.Call(ctx, "hang", "{}"); err == nil {
		t.Errorf("a call whose caller disconnected: got %+v, want an error", got)
	}
	_ = s.Close()

	wait.Receive(t, "the end of the call on the server", gone)
	web.Close() // waits for open connections
}

func TestServerThatDiesDuringACallFailsTheCall(t *testing.T) {
	t.Parallel()
	web := httptest.NewUnstartedServer(nil)
	calls := 0
	results := scripted(map[string]string{
		"initialize": `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"t","version":"1"}}`,
		"tools/list": `{"tools":[` + tool("t", `{"type":"object"}`) + `]}`,
		"tools/call": `{"content":[{"type":"text","text":"back again"}]}`,
	})
	web.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "tools/call") {
			if calls++; calls == 1 {
				panic(http.ErrAbortHandler)
			}
		}
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		results.ServeHTTP(w, r)
	})
	web.Start()
	t.Cleanup(web.Close)
	s := open(t, web.URL, "", nil)

	if _, err := s.List(t.Context()); err != nil {
		t.Fatal(err)
	}

	got, err := s.Call(t.Context(), "t", "{}")
	if err != nil || !got.Failed || !got.Broken || strings.Contains(got.Output, "127.0.0.1") {
		t.Errorf("got %+v, %v; want a failed call that does not name the address", got, err)
	}

	if got, err = s.Call(t.Context(), "t", "{}"); err != nil || got.Output != "back again" {
		t.Errorf("after the server has come back: got %+v, %v; want its answer", got, err)
	}
}

func TestGivenListIsNotRequested(t *testing.T) {
	t.Parallel()
	given := []inference.ServerTool{{Name: "add", Schema: json.RawMessage(`{"type":"object"}`)}}
	s := open(t, "http://127.0.0.1:1", "", func(s *inference.ToolServer) { s.Listed = given })

	if list, err := s.List(t.Context()); err != nil || names(list) != "add" {
		t.Errorf("got the tools %q, %v; want add, without a request", names(list), err)
	}
}
