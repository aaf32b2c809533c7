package messages

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"presswork/internal/inference"
	"presswork/internal/inference/history"
	"presswork/internal/inference/jsonbody"
)

const (
	// toolset is the type of a tool that chooses the tools of an MCP server.
	toolset = "mcp_toolset"
	// listingBlock is the type of a block with the tools of an MCP server.
	listingBlock = "mcp_tool_listing"
	// serverBeta begins the beta features of MCP servers. No upstream gets them, because Presswork runs the tools.
	serverBeta = "mcp-client-"
)

// withoutServers returns the beta features without those of MCP servers.
func withoutServers(betas []string) []string {
	return slices.DeleteFunc(slices.Clone(betas), func(beta string) bool { return strings.HasPrefix(beta, serverBeta) })
}

// readServers reads the MCP servers. Tools of the type mcp_toolset choose their tools; without any, the servers
// themselves do. A toolset may also name a server of models.yaml.
func (p *parser) readServers() {
	p.servers, p.serverCalls = map[string]*inference.ToolServer{}, map[string]inference.ToolCall{}
	var order []jsonbody.Object

	p.List("mcp_servers", func(item json.RawMessage, path string) {
		o := jsonbody.New(item, path+".", p.Err)
		order = append(order, o)
		p.readServer(o)
	})
	isToolset := func(o jsonbody.Object) bool { return o.Str("type") == toolset }
	var toolsets []jsonbody.Object

	p.List("tools", func(item json.RawMessage, path string) {
		if o := jsonbody.New(item, path+".", p.Err); isToolset(o) {
			toolsets = append(toolsets, o)
		}
	})

	for _, o := range toolsets {
		p.readToolset(o)
	}

	for _, o := range order {
		name := o.Str("name")

		switch s := p.servers[name]; {
		case p.Failed():
			return
		case len(toolsets) == 0 && s != nil:
			jsonbody.AddServer(o, "name", p.r, s)
		case s != nil && p.serverNamed(name) == nil:
			o.Failf("name", "no %q of 'tools' has the mcp_server_name %q", toolset, name)
		}
	}
}

// readServer reads an MCP server. One that is not enabled is kept as nil.
func (p *parser) readServer(o jsonbody.Object) {
	if o.Enum("type", "url") == "" {
		o.Failf("type", "property 'type' is missing")
	}
	s := &inference.ToolServer{Label: o.Required("name"), URL: jsonbody.ServerURL(o, "url")}

	if !inference.ValidName(s.Label) {
		o.Failf("name", "must be 1 to 64 letters, digits, underscores and dashes")
	}

	if token := o.Str("authorization_token"); token != "" {
		if s.URL == "" {
			o.Failf("authorization_token", "it is only allowed with 'url'")
		}
		jsonbody.SetToken(o, "authorization_token", s, token)
	}

	if o.Has("tool_configuration") {
		config := o.Object("tool_configuration")
		if config.Has("allowed_tools") {
			s.Allowed = &inference.ToolFilter{Names: jsonbody.Strings(config, "allowed_tools")}
		}

		if enabled := config.Boolean("enabled"); enabled != nil && !*enabled {
			s = nil
		}
	}
	name := o.Str("name")

	if _, twice := p.servers[name]; twice {
		o.Failf("name", "there are two MCP servers %q", jsonbody.Bounded(name, 64))
	}
	p.servers[name] = s
}

// serverNamed returns the MCP server of the request with this name, nil if there is none.
func (p *parser) serverNamed(name string) *inference.ToolServer {
	for _, t := range p.r.Tools {
		if t.Type == inference.MCPTool && t.Server.Label == name {
			return t.Server
		}
	}

	return nil
}

// readToolset adds the server of a toolset with the tools that it chooses.
func (p *parser) readToolset(o jsonbody.Object) {
	name := o.Required("mcp_server_name")
	s, given := p.servers[name]

	switch {
	case o.Failed() || given && s == nil: // the server is not enabled
		return
	case !given && !inference.ValidName(name):
		o.Failf("mcp_server_name", "must be 1 to 64 letters, digits, underscores and dashes")
		return
	case !given:
		s = &inference.ToolServer{Label: name} // of models.yaml
	}

	if f := readToolFilter(o); f != nil {
		s.Allowed = f
	}

	if o.Has("tools") {
		s.Listed = jsonbody.ListedTools(o, &p.limits)
	}
	jsonbody.AddServer(o, "mcp_server_name", p.r, s)
}

// readToolFilter reads which tools of a toolset are enabled, nil for all.
func readToolFilter(o jsonbody.Object) *inference.ToolFilter {
	isEnabled := func(o jsonbody.Object, standard bool) bool {
		if enabled := o.Boolean("enabled"); enabled != nil {
			return *enabled
		}

		return standard
	}
	all := true

	if o.Has("default_config") {
		all = isEnabled(o.Object("default_config"), true)
	}
	f := &inference.ToolFilter{Names: []string{}, Invert: all} // the tools that differ from the default

	if o.Has("configs") {
		configs := o.Object("configs")
		for name := range configs.Fields {
			if isEnabled(configs.Object(name), all) != all {
				f.Names = append(f.Names, name)
			}
		}
		slices.Sort(f.Names)
	}

	if all && len(f.Names) == 0 {
		return nil
	}

	return f
}

// readListing uses the tools of an MCP server in an earlier answer in place of a new listing.
func (p *parser) readListing(o jsonbody.Object) {
	if s := p.serverNamed(o.Required("mcp_server_name")); s != nil && s.Listed == nil {
		s.Listed = jsonbody.ListedTools(o, &p.limits)
	}
}

// readServerCall reads a call on an MCP server of the request in an earlier answer. It leaves out calls on other
// servers: the model has no such function any more.
func (p *parser) readServerCall(o jsonbody.Object) {
	id, name, server := o.Required("id"), o.Required("name"), o.Str("server_name")
	arguments := "{}"

	if o.Has("input") {
		if o.Object("input"); !o.Failed() {
			arguments = string(o.Raw("input"))
		}
	}

	if p.serverNamed(server) != nil {
		p.serverCalls[id] = inference.ToolCall{
			ID: id, Name: inference.ServerFunction(server, name), Arguments: arguments,
		}
	}
}

// readServerResult adds a call that readServerCall has read to the history, with its result.
func (p *parser) readServerResult(o jsonbody.Object, h *history.History) {
	call, ok := p.serverCalls[o.Str("tool_use_id")]
	if !ok || h.Waits(call.ID) {
		return
	}
	delete(p.serverCalls, call.ID)
	parts := p.readContent(o, "content", h, textBlock)

	if !o.Failed() {
		h.AddCall(call)
		h.AddResult(inference.Message{ToolCallID: call.ID, Parts: parts, Failed: o.IsTrue("is_error")})
	}
}

// serverResult is the block with the result of a call on an MCP server.
type serverResult struct {
	Type    string     `json:"type"`
	ID      string     `json:"tool_use_id"`
	IsError bool       `json:"is_error"`
	Content []textPart `json:"content"`
}

// textPart is a text in the result of a call.
type textPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

// addServerTool adds the blocks of a call on an MCP server and its result.
func (w *Writer) addServerTool(e *inference.ExecutedTool) {
	call := w.newBlock(serverToolCall)
	call.id, call.name, call.server = "mcptoolu_"+w.id+strconv.Itoa(e.Index), e.Name, e.Server
	call.text = []byte(e.Arguments)

	b, _ := json.Marshal(serverResult{ // strings only
		Type: serverToolResult, ID: call.id, IsError: e.Failed, Content: []textPart{{textBlock, e.Output}},
	})
	result := w.newBlock(serverToolResult)
	result.whole, result.done = oneLine(b), true
}
