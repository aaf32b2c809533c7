package toolserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/inference/schema"
	"presswork/internal/input"
)

// session is a connection to a server.
type session struct {
	o      *Options
	server *inference.ToolServer

	// conn and the fields after it are nil before the first connection.
	conn      *sdk.ClientSession
	transport *transport
	client    *http.Client
	closed    bool
}

var (
	errLate   = errors.New("it did not answer in time")
	errClosed = errors.New("the session is closed")
)

// connect connects to the server, once.
func (s *session) connect(ctx context.Context) error {
	switch {
	case s.closed:
		return errClosed
	case s.conn != nil:
		return nil
	}

	client, at, err := s.o.Client(s.server)
	if err != nil {
		return err
	}
	s.client = client
	s.transport = &transport{
		next: client.Transport, origin: at, headers: s.server.Headers, limit: maxListBytes,
	}
	guarded := *client
	guarded.Transport = s.transport

	if client.CheckRedirect != nil {
		guarded.CheckRedirect = s.transport.checkRedirect(client.CheckRedirect)
	}

	s.conn, err = sdk.NewClient(
		&sdk.Implementation{Name: "presswork", Version: s.o.Version},
		&sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}}, // the server may ask for nothing
	).Connect(ctx, &sdk.StreamableClientTransport{
		Endpoint: at.String(), HTTPClient: &guarded, MaxRetries: -1, DisableStandaloneSSE: true,
		MaxEventSize: maxResultBytes,
	}, nil)
	if err != nil {
		client.CloseIdleConnections()
	}

	return err
}

// List returns the tools that the model may call. A 2xx answer that is not a list is an error as well.
func (s *session) List(ctx context.Context) ([]inference.ServerTool, error) {
	if s.server.Listed != nil {
		return s.choose(s.server.Listed)
	}

	ctx, cancel := context.WithTimeoutCause(ctx, s.o.ListTimeout, errLate)
	defer cancel()

	if err := s.connect(ctx); err != nil {
		return nil, s.publicError(ctx, err)
	}
	var tools []inference.ServerTool
	params, size := &sdk.ListToolsParams{}, 0

	// A server could return cursors without end.
	for range maxPages {
		page, err := s.conn.ListTools(ctx, params)
		if err != nil {
			return nil, s.publicError(ctx, err)
		}

		for _, t := range page.Tools {
			tool, err := toolOf(t)
			if err != nil {
				return nil, s.failedf("%v", err)
			}

			tools = append(tools, tool)
			if size += len(tool.Schema) + len(tool.Description); len(tools) > maxTools || size > maxListBytes {
				return nil, s.failedf("it lists more than %d tools or %d bytes", maxTools, maxListBytes)
			}
		}

		if params.Cursor = page.NextCursor; params.Cursor == "" {
			return s.choose(tools)
		}
	}

	return nil, s.failedf("its list has more than %d pages", maxPages)
}

// toolOf returns a tool of the server's list.
func toolOf(t *sdk.Tool) (inference.ServerTool, error) {
	schema, err := json.Marshal(t.InputSchema)
	if err != nil || string(schema) == "null" {
		schema = []byte(`{"type":"object"}`)
	}
	tool := inference.ServerTool{
		Name: t.Name, Description: input.Cut(plain(t.Description), maxDescription), Schema: schema,
		ReadOnly: t.Annotations != nil && t.Annotations.ReadOnlyHint,
	}

	if plain(t.Name) != t.Name || strings.ContainsAny(t.Name, "\n\t") || t.Name == "" || len(t.Name) > 128 {
		return tool, fmt.Errorf("the name %q of a tool is not 1 to 128 bytes of text", input.Cut(plain(t.Name), 64))
	}

	return tool, nil
}

// choose returns the tools that the model may call, once their schemas are checked.
func (s *session) choose(all []inference.ServerTool) ([]inference.ServerTool, error) {
	names := make([]string, len(all))
	for i, t := range all {
		names[i] = t.Name
	}

	if allowed := s.server.Allowed; allowed != nil {
		for _, name := range allowed.Names {
			if !slices.Contains(names, name) {
				return nil, inference.Invalidf("tools", "the MCP server %q has no tool %q of 'allowed_tools'%s",
					s.server.Label, input.Cut(plain(name), 64), input.DidYouMean(name, names))
			}
		}
	}
	var chosen []inference.ServerTool

	for i, t := range all {
		// A name that two tools share does not say which of them a call means.
		if slices.Contains(names[:i], t.Name) {
			return nil, s.failedf("it lists two tools %q", input.Cut(t.Name, 64))
		}

		if !s.server.Allows(t) {
			continue
		}

		err := schema.Check(t.Schema)
		if len(t.Schema) > maxSchema {
			err = fmt.Errorf("it has more than %d bytes", maxSchema)
		}

		if err != nil {
			return nil, s.failedf("the schema of its tool %q cannot be used: %v; leave it out of 'allowed_tools'",
				input.Cut(t.Name, 64), err)
		}
		chosen = append(chosen, t)
	}

	return chosen, nil
}

// Call runs a call. If the server fails, the result says so to the model.
func (s *session) Call(ctx context.Context, tool, arguments string) (inference.ToolResult, error) {
	began := time.Now()

	limited, cancel := context.WithTimeoutCause(ctx, s.o.CallTimeout, errLate)
	defer cancel()

	err := s.connect(limited)
	var result *sdk.CallToolResult

	if err == nil {
		s.transport.setLimit(maxResultBytes)
		params := &sdk.CallToolParams{Name: tool, Arguments: json.RawMessage(arguments)}
		result, err = s.conn.CallTool(limited, params)
	}

	switch {
	case ctx.Err() != nil:
		return inference.ToolResult{}, context.Cause(ctx)
	case err != nil:
		r := inference.ToolResult{Output: "The server failed: " + s.reason(limited, err), Failed: true, Broken: true}
		if !isWireError(err) {
			s.disconnect() // the next call connects again
		}
		r.Took = time.Since(began)

		return r, nil
	}
	r := resultOf(result)
	r.Took = time.Since(began)

	return r, nil
}

// Close ends the session at the server and all its connections.
func (s *session) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	s.disconnect()

	return nil
}

// disconnect ends the connection, if there is one.
func (s *session) disconnect() {
	if s.conn == nil {
		return
	}
	_ = s.conn.Close() // the server may be gone
	s.client.CloseIdleConnections()
	s.conn = nil
}

// failedf returns the error of a server that cannot be used.
func (s *session) failedf(format string, args ...any) *inference.Error {
	return inference.Errorf(http.StatusFailedDependency, inference.ToolServerFailed,
		"the MCP server %q cannot be used: %s", s.server.Label, fmt.Sprintf(format, args...)).WithParam("tools")
}

// publicError returns the public error for a failed connection or list. It has no cause, because the address and the
// errors of a server may have secrets, and causes are logged.
func (s *session) publicError(ctx context.Context, err error) error {
	if ctx.Err() != nil && !errors.Is(context.Cause(ctx), errLate) {
		return context.Cause(ctx)
	}
	e := s.failedf("%s", s.reason(ctx, err))

	switch code := fault.CodeOf(s.causeOf(err)); code {
	case fault.AddressNotAllowed:
		e.Status, e.Code = http.StatusForbidden, code
	case fault.InvalidURL:
		e.Status, e.Code = http.StatusBadRequest, code
	}

	return e
}

// causeOf returns the error of the guard or of the last answer in place of a general one of the SDK.
func (s *session) causeOf(err error) error {
	if s.transport != nil && fault.CodeOf(err) == fault.Internal {
		if last := s.transport.lastFailure(); last != nil {
			return last
		}
	}

	return err
}

// reason says why the server failed. It reveals no address and no header.
func (s *session) reason(ctx context.Context, err error) string {
	cause := s.causeOf(err)
	status, isStatus := errors.AsType[statusError](cause)
	wire, _ := errors.AsType[*jsonrpc.Error](err)

	switch {
	case errors.Is(context.Cause(ctx), errLate):
		return errLate.Error()
	case fault.CodeOf(cause) != fault.Internal:
		return fault.AsError(cause).Message
	case isWireError(err):
		return fmt.Sprintf("it answered with error %d: %s", wire.Code, input.Cut(s.redact(plain(wire.Message)), 300))
	case isStatus && (status == http.StatusUnauthorized || status == http.StatusForbidden):
		return status.Error() + ", so it does not accept the credentials"
	case isStatus:
		return status.Error()
	case !errors.Is(cause, err):
		return "its address does not answer"
	}

	return "it does not answer as a server of the protocol"
}

// codeRejected is the code of errors that the SDK makes itself for failed requests.
const codeRejected = -32005

// isWireError reports whether the server has answered with an error of JSON-RPC.
func isWireError(err error) bool {
	e, ok := errors.AsType[*jsonrpc.Error](err)
	return ok && e.Code != codeRejected
}

// redact removes the values of the headers from a text of the server.
func (s *session) redact(text string) string {
	for _, value := range s.server.Headers {
		_, token, _ := strings.Cut(value, " ") // servers repeat a token without its scheme, such as Bearer

		for _, secret := range []string{value, token} {
			if secret != "" {
				text = strings.ReplaceAll(text, secret, "[header]")
			}
		}
	}

	return text
}
