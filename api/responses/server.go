package responses

import (
	"encoding/json"
	"net/url"
	"slices"

	"presswork/internal/inference"
	"presswork/internal/inference/history"
	"presswork/internal/inference/jsonbody"
)

// readServer adds an MCP server. With again it ignores a server that was given before, which is an error otherwise.
func (p *parser) readServer(o jsonbody.Object, again bool) {
	s := jsonbody.ToolServer(o, inference.ApproveAlways)
	if again && p.server(s.Label) != nil {
		return
	}
	p.r.Approvals = true
	jsonbody.AddServer(o, "server_label", p.r, s)
}

// server returns the MCP server of the request with this label, nil if there is none.
func (p *parser) server(label string) *inference.ToolServer {
	for _, t := range p.r.Tools {
		if t.Type == inference.MCPTool && t.Server.Label == label {
			return t.Server
		}
	}

	return nil
}

// serverChoice returns the choice of the MCP server or its tool that o names.
func (p *parser) serverChoice(o jsonbody.Object) []string {
	return []string{inference.ServerChoice(jsonbody.ServerLabel(o, "server_label", p.r), o.Str("name"))}
}

// withoutSecrets returns the tools of the request without the headers and the path of MCP servers. The answer repeats
// the tools, and clients may log it. Some services expect a key in the path.
func withoutSecrets(tools json.RawMessage) json.RawMessage {
	var list []map[string]json.RawMessage
	if json.Unmarshal(tools, &list) != nil {
		return tools
	}
	changed := false

	for _, t := range list {
		if jsonbody.Text(t["type"]) != inference.MCPTool {
			continue
		}
		changed = true
		delete(t, "headers")
		delete(t, "authorization")

		if at, err := url.Parse(jsonbody.Text(t["server_url"])); err == nil && at.Host != "" {
			t["server_url"], _ = json.Marshal(at.Scheme + "://" + at.Host + "/<redacted>") // a string
		}
	}

	if !changed {
		return tools
	}
	b, _ := json.Marshal(list) // it was decoded from JSON

	return b
}

// readListed reads the tools of an MCP server from an earlier answer. They replace a new listing unless the request
// allows a tool that is not among them.
func (p *parser) readListed(o jsonbody.Object) {
	s := p.server(o.Required("server_label"))
	if s == nil || o.Has("error") {
		return
	}
	listed := jsonbody.ListedTools(o, &p.limits)

	if s.Allowed != nil {
		for _, name := range s.Allowed.Names {
			if !slices.ContainsFunc(listed, func(t inference.ServerTool) bool { return t.Name == name }) {
				return
			}
		}
	}
	s.Listed = listed
}

// decision is what the user has decided about a call. ran reports that an item has its result.
type decision struct {
	// known is set by an approval response. reason is why the user refused.
	known, approve, ran bool
	reason              string
}

// readDecisions reads what the user has decided about calls, by the ids of the requests.
func (p *parser) readDecisions() {
	requests := map[string]bool{}
	p.decisions = map[string]decision{}

	p.List("input", func(item json.RawMessage, path string) {
		var head struct {
			Type     string `json:"type"`
			ID       string `json:"id"`
			Approval string `json:"approval_request_id"`
		}

		if json.Unmarshal(item, &head) != nil {
			return // readItem returns the error
		}

		switch head.Type {
		case "mcp_approval_request":
			requests[head.ID] = true
		case "mcp_call": // it follows its request, which must not run it again
			p.decisions[head.Approval] = decision{ran: true}
		case "mcp_approval_response":
			o := jsonbody.New(item, path+".", p.Err)

			if id := o.Required("approval_request_id"); !o.Failed() && !requests[id] {
				o.Failf("approval_request_id", "no 'mcp_approval_request' %q precedes it", jsonbody.Bounded(id, 64))
			}

			if !o.Has("approve") {
				o.Failf("approve", "property 'approve' is missing")
			}
			p.decisions[head.Approval] = decision{
				known: true, approve: o.IsTrue("approve"), reason: o.Str("reason"), ran: p.decisions[head.Approval].ran,
			}
		}
	})
}

// readServerCall adds a call of an earlier answer with its result.
func (p *parser) readServerCall(o jsonbody.Object, c *history.History) {
	id, label, name := o.Required("id"), o.Required("server_label"), o.Required("name")
	call := inference.ToolCall{
		ID: id, Name: inference.ServerFunction(label, name), Arguments: argumentsOf(o.Str("arguments")),
	}
	output := ""

	if v := o.Raw("error"); v != nil {
		output = string(v)
	} else {
		output = o.Str("output")
	}

	if c.Waits(id) {
		o.Failf("id", "there are two calls %q", jsonbody.Bounded(id, 64))
	}

	if !o.Failed() {
		c.AddCall(call)
		c.AddResult(inference.Message{
			ToolCallID: id, Parts: []inference.Part{{Text: output}}, Failed: o.Has("error"),
		})
	}
}

// readApprovalRequest adds a call that the user was asked about. The gateway runs it if the user has approved it.
func (p *parser) readApprovalRequest(o jsonbody.Object, c *history.History) {
	call := inference.ServerCall{
		ID: o.Required("id"), Server: o.Required("server_label"), Tool: o.Required("name"),
		Arguments: argumentsOf(o.Str("arguments")),
	}
	decided := p.decisions[call.ID]
	result := inference.Message{ToolCallID: call.ID}

	switch {
	case o.Failed() || decided.ran: // the item of the call has its result
		return
	case decided.approve && p.server(call.Server) == nil:
		o.Failf("server_label", "the MCP server %q is not one of 'tools'", jsonbody.Bounded(call.Server, 64))
		return
	case decided.approve:
		result.Approved = &call
	case decided.known && decided.reason != "":
		result.Parts = []inference.Part{{Text: "The user refused this call: " + decided.reason}}
	default:
		result.Parts = []inference.Part{{Text: "The user has not approved this call."}}
	}

	if c.Waits(call.ID) {
		o.Failf("id", "there are two calls %q", jsonbody.Bounded(call.ID, 64))
		return
	}
	c.AddCall(inference.ToolCall{
		ID: call.ID, Name: inference.ServerFunction(call.Server, call.Tool), Arguments: call.Arguments,
	})
	c.AddResult(result)
}

// argumentsOf returns the arguments of a call, or an empty object in place of text that is not a JSON object.
func argumentsOf(text string) string {
	var object map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &object) != nil || object == nil {
		return "{}"
	}

	return text
}
