package jsonbody

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"

	"presswork/internal/inference"
)

const (
	// maxServers bounds the MCP servers of a request.
	maxServers = 16
	// maxHeaders bounds the headers for an MCP server.
	maxHeaders = 32
	// maxHeaderBytes bounds the value of a header.
	maxHeaderBytes = 8 << 10
	// maxServerURL bounds the address of an MCP server.
	maxServerURL = 4 << 10
)

// connectionHeaders are the headers that the connection sets itself. Callers may not set them.
var connectionHeaders = []string{
	"Accept", "Connection", "Content-Length", "Content-Type", "Host", "Last-Event-Id", "Mcp-Method", "Mcp-Name",
	"Mcp-Protocol-Version", "Mcp-Session-Id", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// ToolServer reads an MCP server in the form of the Responses API. approval is the default of require_approval.
func ToolServer(o Object, approval string) *inference.ToolServer {
	for name, why := range map[string]string{
		"connector_id": "connectors of a vendor are not supported; set 'server_url' to the server",
		"tunnel_id":    "tunnels of a vendor are not supported; set 'server_url' to the server",
	} {
		if o.Has(name) {
			o.Failf(name, "%s", why)
		}
	}
	s := &inference.ToolServer{Label: o.Required("server_label"), Description: o.Str("server_description")}

	if !inference.ValidName(s.Label) {
		o.Failf("server_label", "must be 1 to 64 letters, digits, underscores and dashes")
	}

	if len(s.Description) > 4096 {
		o.Failf("server_description", "may have at most 4096 bytes")
	}
	s.URL = ServerURL(o, "server_url")
	s.Headers = readHeaders(o)

	if token := o.Str("authorization"); token != "" {
		SetToken(o, "authorization", s, token)
	}

	if s.URL == "" && len(s.Headers) > 0 {
		o.Failf("headers", "headers and 'authorization' are only allowed with 'server_url'")
	}
	s.Allowed = readAllowed(o)
	s.Approve = readApproval(o, approval)

	return s
}

// SetToken sets the header Authorization of a server to a bearer token, which field of o has.
func SetToken(o Object, field string, s *inference.ToolServer, token string) {
	switch {
	case !httpguts.ValidHeaderFieldValue(token) || len(token) > maxHeaderBytes:
		o.Failf(field, "must be at most %d bytes without line breaks", maxHeaderBytes)
	case s.Headers["Authorization"] != "":
		o.Failf(field, "'headers' have an Authorization as well; leave one of them out")
	default:
		if s.Headers == nil {
			s.Headers = map[string]string{}
		}
		s.Headers["Authorization"] = "Bearer " + token
	}
}

// ServerURL reads the address of an MCP server.
func ServerURL(o Object, field string) string {
	address := o.Str(field)
	if address == "" {
		return ""
	}

	u, err := url.Parse(address)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil || u.Fragment != "" ||
		len(address) > maxServerURL {
		o.Failf(field, "must be an http or https address of at most %d bytes, without user and fragment", maxServerURL)
	}

	return address
}

// readHeaders reads the headers for a server. Errors do not quote values, which are secrets.
func readHeaders(o Object) map[string]string {
	if !o.Has("headers") {
		return nil
	}
	given, headers := o.Object("headers"), map[string]string{}

	if len(given.Fields) > maxHeaders {
		o.Failf("headers", "at most %d headers are allowed", maxHeaders)
	}

	for name := range given.Fields {
		value, canonical := given.Str(name), http.CanonicalHeaderKey(name)

		switch {
		case !httpguts.ValidHeaderFieldName(name):
			o.Failf("headers", "%q is not the name of a header", Bounded(name, 60))
		case slices.Contains(connectionHeaders, canonical):
			given.Failf(name, "the connection sets this header; leave it out")
		case !httpguts.ValidHeaderFieldValue(value) || len(value) > maxHeaderBytes:
			given.Failf(name, "must be at most %d bytes without line breaks", maxHeaderBytes)
		case headers[canonical] != "":
			given.Failf(name, "the header occurs more than once")
		default:
			headers[canonical] = value
		}
	}

	return headers
}

// readAllowed reads allowed_tools: names, or a filter.
func readAllowed(o Object) *inference.ToolFilter {
	v := o.Raw("allowed_tools")
	if v == nil {
		return nil
	}

	if v[0] == '[' {
		return &inference.ToolFilter{Names: Strings(o, "allowed_tools")}
	}

	return new(readFilter(o.Object("allowed_tools")))
}

// readFilter reads a filter of tools.
func readFilter(o Object) inference.ToolFilter {
	f := inference.ToolFilter{ReadOnly: o.Boolean("read_only")}
	if o.Has("tool_names") {
		f.Names = Strings(o, "tool_names")
	}

	return f
}

// Strings reads a list of strings. The result is never nil: a filter with no names selects nothing, and without a list
// everything.
func Strings(o Object, field string) []string {
	list := []string{}
	o.List(field, func(item json.RawMessage, path string) {
		if item[0] != '"' {
			o.FailType(path, "a string")
		}
		list = append(list, Text(item))
	})

	return list
}

// readApproval reads require_approval: always, never, or filters. With only the filter "always", the other tools need
// no approval.
func readApproval(o Object, standard string) []inference.ToolFilter {
	mode := standard

	switch v := o.Raw("require_approval"); {
	case v == nil:
	case v[0] == '"':
		mode = o.Enum("require_approval", inference.ApproveAlways, inference.ApproveNever)
	default:
		return readApprovalFilters(o.Object("require_approval"))
	}

	if mode == inference.ApproveAlways {
		return []inference.ToolFilter{{}}
	}

	return nil
}

// readApprovalFilters reads the form of require_approval with filters.
func readApprovalFilters(o Object) (list []inference.ToolFilter) {
	if o.Has(inference.ApproveAlways) {
		list = append(list, readFilter(o.Object(inference.ApproveAlways)))
	}

	if o.Has(inference.ApproveNever) {
		never := readFilter(o.Object(inference.ApproveNever))
		never.Invert = true
		list = append(list, never)
	}

	if !o.Failed() && list == nil {
		o.FailType(strings.TrimSuffix(o.Path, "."), `"always", "never" or an object with these filters`)
	}

	return list
}

// AddServer adds an MCP server to the tools of a request. field of o has its name, which must differ from the others.
func AddServer(o Object, field string, r *inference.Request, s *inference.ToolServer) {
	count := 0

	for _, t := range r.Tools {
		if t.Type != inference.MCPTool {
			continue
		}
		count++

		if t.Server.Label == s.Label {
			o.Failf(field, "there are two MCP servers %q", Bounded(s.Label, 64))
		}
	}

	if count == maxServers {
		o.Failf(field, "at most %d MCP servers are allowed", maxServers)
	}
	r.Tools = append(r.Tools, inference.Tool{Type: inference.MCPTool, Server: s})
}

// ServerLabel reads the label of a server in a tool choice. It must be one of the request.
func ServerLabel(o Object, field string, r *inference.Request) string {
	label := o.Required(field)
	isServer := func(t inference.Tool) bool { return t.Type == inference.MCPTool && t.Server.Label == label }

	if !o.Failed() && !slices.ContainsFunc(r.Tools, isServer) {
		o.Failf(field, "the MCP server %q is not one of 'tools'", Bounded(label, 64))
	}

	return label
}

// maxListed bounds the tools of an MCP server that a request lists.
const maxListed = 512

// ListedTools reads the field tools of o: the tools of an MCP server that replace a new listing.
func ListedTools(o Object, limits *Limits) []inference.ServerTool {
	listed := []inference.ServerTool{}
	o.List("tools", func(item json.RawMessage, path string) {
		t := New(item, path+".", o.Err)
		tool := inference.ServerTool{Name: t.Required("name"), Description: t.Str("description")}

		if tool.Schema = limits.Schema(t, "input_schema"); tool.Schema == nil {
			t.Failf("input_schema", "property 'input_schema' is missing")
		}

		if t.Has("annotations") {
			hints := t.Object("annotations")
			tool.ReadOnly = hints.IsTrue("read_only") || hints.IsTrue("readOnlyHint")
		}

		if listed = append(listed, tool); len(listed) > maxListed {
			o.Failf("tools", "at most %d tools are allowed", maxListed)
		}
	})

	return listed
}
