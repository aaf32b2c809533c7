package inference

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"presswork/internal/lazyregexp"
)

// MCPTool is the type of a Tool that stands for the tools of a ToolServer.
const MCPTool = "mcp"

// ToolServer is a server of the Model Context Protocol (MCP) whose tools the model may call. The gateway runs the
// calls.
type ToolServer struct {
	// Label names the server in the answer. Labels of a request differ.
	Label string `json:"label"`
	// URL is the address of the server. With "", the server is the one with this label in models.yaml.
	URL string `json:"url,omitempty"`
	// Headers are sent to the server only. They are secret.
	Headers map[string]string `json:"headers,omitempty"`
	// Description is the caller's text about the server, for the model.
	Description string `json:"description,omitempty"`
	// Allowed are the tools that the model may call; nil allows all.
	Allowed *ToolFilter `json:"allowed,omitempty"`
	// Approve are the tools whose calls the user must approve: those that one of the filters selects.
	Approve []ToolFilter `json:"approve,omitempty"`
	// Listed are the tools of an earlier answer, which replace a new listing; nil asks the server.
	Listed []ServerTool `json:"listed,omitempty"`

	// limits are those of models.yaml for a server of that file.
	limits *NamedServer
}

// ToolFilter selects tools of a server: those that satisfy Names and ReadOnly, or with Invert all others.
type ToolFilter struct {
	// Names are the selected tools; nil selects every name.
	Names []string `json:"names,omitzero"`
	// ReadOnly selects tools by their hint that they change nothing; nil ignores the hint.
	ReadOnly *bool `json:"read_only,omitempty"`
	Invert   bool  `json:"invert,omitempty"`
}

// Has reports whether the filter selects a tool.
func (f *ToolFilter) Has(t ServerTool) bool {
	matches := (f.Names == nil || slices.Contains(f.Names, t.Name)) && (f.ReadOnly == nil || *f.ReadOnly == t.ReadOnly)
	return matches != f.Invert
}

// Allows reports whether the model may call a tool.
func (s *ToolServer) Allows(t ServerTool) bool {
	if s.limits != nil && s.limits.AllowedTools != nil && !slices.Contains(s.limits.AllowedTools, t.Name) {
		return false
	}

	return s.Allowed == nil || s.Allowed.Has(t)
}

// NeedsApproval reports whether the user must approve the calls of a tool.
func (s *ToolServer) NeedsApproval(t ServerTool) bool {
	return slices.ContainsFunc(s.Approve, func(f ToolFilter) bool { return f.Has(t) }) ||
		s.limits != nil && s.limits.RequireApproval == ApproveAlways
}

// Private reports whether the operator permits that the address of the server is private.
func (s *ToolServer) Private() bool { return s.limits != nil && s.limits.Private }

// ServerTool is a tool of a ToolServer. Its texts come from the server, which is not trusted.
type ServerTool struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	// Schema is the JSON Schema of the arguments.
	Schema json.RawMessage `json:"input_schema"`
	// ReadOnly is the hint that a call changes nothing.
	ReadOnly bool `json:"read_only,omitempty"`
}

// The values of require_approval.
const (
	ApproveAlways = "always"
	ApproveNever  = "never"
)

// NamedServer is an entry of mcp_servers in models.yaml.
type NamedServer struct {
	URL string `yaml:"url"`
	// Headers are sent to the server only.
	Headers     map[string]string `yaml:"headers"`
	Description string            `yaml:"description"`
	// AllowedTools are the tools that models may call; nil allows all.
	AllowedTools []string `yaml:"allowed_tools"`
	// RequireApproval is ApproveAlways, ApproveNever or "". ApproveAlways applies whatever the caller asks for.
	RequireApproval string `yaml:"require_approval"`
	// Private permits that the host of URL has a private address.
	Private bool `yaml:"private"`
}

// ServerCall is a call of a tool on a ToolServer.
type ServerCall struct {
	// ID is that of the approval request; "" for a call without one.
	ID string `json:"id,omitempty"`
	// Server is the label.
	Server    string `json:"server"`
	Tool      string `json:"tool"`
	Arguments string `json:"arguments"`
}

// Listing is the tools that a server offers in an answer.
type Listing struct {
	Server string       `json:"server"`
	Tools  []ServerTool `json:"tools,omitempty"`
	// Failure is why there is no list; "" if there is one.
	Failure string `json:"failure,omitempty"`
}

// ToolServers connects to servers. It is safe for concurrent use.
type ToolServers interface {
	// Open returns a session with a server. It connects at the first call of a method.
	Open(s *ToolServer) ServerSession
}

// ServerSession is a connection to a ToolServer for one answer. It is not safe for concurrent use.
type ServerSession interface {
	// List returns the tools that the model may call, within the limits. Errors are *Error.
	List(ctx context.Context) ([]ServerTool, error)
	// Call runs a call. Failures of the call are a ToolResult for the model. An error means that ctx ended.
	Call(ctx context.Context, tool, arguments string) (ToolResult, error)
	// Close ends the connection. It may be called twice.
	Close() error
}

// ServerFunction returns the name of the function that a server's tool becomes for an upstream. A name with other
// characters than functions have, or a long one, ends with a part of its hash.
func ServerFunction(label, tool string) string {
	name := label + "__" + tool
	clean := invalidNameChar().ReplaceAllString(name, "_")

	if clean == name && len(name) <= maxFunctionName {
		return name
	}

	return HashedFunction(label, tool)
}

// ServerChoice returns the entry of ToolChoice.Names for a tool of a server, or with "" for all its tools.
func ServerChoice(label, tool string) string { return "mcp:" + label + ":" + tool }

// HashedFunction returns a name that ends with a part of the tool's hash. It is for tools whose ServerFunction is
// already the name of another function.
func HashedFunction(label, tool string) string {
	return withHash(invalidNameChar().ReplaceAllString(label+"__"+tool, "_"), label+"\x00"+tool)
}

// ShortName returns a name of a function that upstreams accept: a long one ends with a part of its hash. Names with the
// same beginning stay different.
func ShortName(name string) string {
	if len(name) <= maxFunctionName {
		return name
	}

	return withHash(name, name)
}

// withHash returns the beginning of a name and a part of the hash of text, in at most maxFunctionName bytes.
func withHash(name, text string) string {
	sum := sha256.Sum256([]byte(text))

	// The underscore and four bytes of the hash in hexadecimal take 9 bytes.
	return name[:min(len(name), maxFunctionName-9)] + "_" + hex.EncodeToString(sum[:4])
}

// maxFunctionName is the longest name of a function that upstreams accept, in bytes.
const maxFunctionName = 64

// ValidName reports whether a name may be that of a function, a schema or an MCP server.
func ValidName(name string) bool {
	return name != "" && len(name) <= maxFunctionName && !invalidNameChar().MatchString(name)
}

// invalidNameChar matches a character that the names of functions, schemas and MCP servers cannot have.
var invalidNameChar = lazyregexp.New(`[^A-Za-z0-9_-]`)
