package mcp

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"net/http"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"presswork/internal/fault"
)

// maxMessage is the largest message of a client on a stream, in bytes. It is far more than a document may have, so that
// a document that is too large gets an answer.
const maxMessage = 64 << 20

// instructions tell the model how the tools work together.
const instructions = "Presswork turns Markdown into PDF, HTML, EPUB or slides. Call convert_markdown with the " +
	"text and theme \"auto\", or choose from list_themes. Then look at the result with preview_page, and fix what " +
	"check_document lists. Options such as toc, cover and as are in the schema of convert_markdown; " +
	"presswork://docs/markdown.md has the syntax."

// Options configure a Server.
type Options struct {
	// Version is that of the program.
	Version string
	// Files offers arguments that name files of this machine. Without it, documents come as text only.
	Files bool
	// Message returns the text of an error for the model. Default: the message of a fault.Error; others stay private.
	Message func(error) string
	// Log receives errors that are not shown to the model. Default: discard.
	Log *slog.Logger
}

// Server offers the tools. Its methods are safe for concurrent use.
type Server struct {
	o   Options
	sdk *sdk.Server
}

// New returns a server with all tools, prompts and resources. It serves nothing until Serve or Handler.
func New(o Options) *Server {
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	if o.Message == nil {
		o.Message = func(err error) string { return fault.AsError(err).Message }
	}
	s := &Server{o: o}
	s.sdk = sdk.NewServer(
		&sdk.Implementation{Name: "presswork", Title: "Presswork", Version: o.Version},
		&sdk.ServerOptions{
			Instructions: instructions,
			Capabilities: &sdk.ServerCapabilities{
				Tools:     &sdk.ToolCapabilities{},
				Prompts:   &sdk.PromptCapabilities{},
				Resources: &sdk.ResourceCapabilities{},
			},
			SetCacheable: cacheable,
		},
	)
	s.addTools()
	s.addPrompts()
	s.addResources()

	return s
}

// listTTL is how long clients may keep the lists of tools, prompts and resources, in milliseconds.
const listTTL = 5 * 60 * 1000

// cacheable sets how long a client may keep a result. Lists are the same for every caller.
func cacheable(_ context.Context, req sdk.Request, c *sdk.Cacheable) {
	if _, read := req.(*sdk.ReadResourceRequest); read {
		c.CacheScope = "private"
		return
	}
	c.TTLMs, c.CacheScope = listTTL, "public"
}

// caller is the Backend of a connection or a request, with the context that ends when its client leaves.
type caller struct {
	backend Backend
	// ctx ends when the client leaves.
	ctx context.Context
}

// callerKey is the key of the caller in a context.
type callerKey struct{}

// With returns a context for the requests of one client. Tools called in it use the backend, and end when it ends.
func With(ctx context.Context, b Backend) context.Context {
	return context.WithValue(ctx, callerKey{}, caller{b, ctx})
}

// enter returns the backend of a call and a context that ends when the call is cancelled or its client leaves. Call
// the returned function when the call has ended. It panics if the context is not from With.
func enter(ctx context.Context) (Backend, context.Context, context.CancelFunc) {
	client := ctx.Value(callerKey{}).(caller) //nolint:forcetypeassert // With is part of every path to a tool
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(client.ctx, func() { cancel(context.Cause(client.ctx)) })

	return client.backend, ctx, func() {
		stop()
		cancel(context.Canceled)
	}
}

// Serve answers one client that writes to in and reads from out, a line for each message. It returns when in ends.
// Errors: those of reading and writing, the cause of ctx.
func (s *Server) Serve(ctx context.Context, b Backend, in io.ReadCloser, out io.WriteCloser) error {
	ctx, leave := context.WithCancel(ctx)
	defer leave()

	return s.sdk.Run(With(ctx, b), &sdk.IOTransport{Reader: in, Writer: out, MaxLineLength: maxMessage})
}

// Handler returns the handler of POST requests. The context of each request must be from With. The caller checks the
// size of bodies, Host and Origin.
func (s *Server) Handler() http.Handler {
	return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s.sdk }, &sdk.StreamableHTTPOptions{
		Stateless: true, PropagateRequestCancellation: true, DisableLocalhostProtection: true, MaxRequestBodyBytes: -1,
	})
}
