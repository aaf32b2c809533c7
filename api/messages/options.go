package messages

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"math"
	"net/http"
	"slices"

	"presswork/internal/inference"
	"presswork/internal/inference/jsonbody"
)

const (
	// maxStops bounds the stop sequences of a request.
	maxStops = 4
	// maxUser is the longest name of a user that upstreams accept, in bytes.
	maxUser = 64
)

// parser reads one request.
type parser struct {
	jsonbody.Object
	options Options
	// limits checks the sizes of images and schemas.
	limits jsonbody.Limits
	r      *inference.Request // the result
	f      *Format            // how the answer is written
	// servers are the MCP servers of mcp_servers by name, nil for those that are not enabled.
	servers map[string]*inference.ToolServer
	// serverCalls are the calls on MCP servers of an earlier answer, by their ids, until their results are read.
	serverCalls map[string]inference.ToolCall
}

// readModel reads the model first: a wrong one must not cost the reading of a long conversation.
func (p *parser) readModel() {
	p.r.Model = p.Required("model")
	if !p.Failed() {
		*p.Err = p.options.CheckModel(p.r.Model)
	}
}

// rejectThread rejects a conversation that the server would have to store. After this error the SDKs send the whole
// conversation.
func (p *parser) rejectThread() {
	if v := p.Raw("thread"); v != nil && string(v) != "false" {
		p.Fail(inference.Errorf(http.StatusBadRequest, threadUnsupported, "'thread' : it is not supported: "+
			"messages are not stored; send the whole conversation in 'messages'").WithParam("thread"))
	}
}

// readOptions reads the limits, sampling options, stop sequences and tier of the request.
func (p *parser) readOptions() {
	r := p.r

	switch n := p.Integer("max_tokens", 1, math.MaxInt32); {
	case n != nil:
		r.MaxTokens = int(*n)
	case !p.options.Counting:
		p.Failf("max_tokens", "property 'max_tokens' is missing")
	}
	r.Temperature = p.Float("temperature", 0, 2)
	r.TopP = p.Float("top_p", 0, 1)

	p.Integer("top_k", 0, math.MaxInt32) // only its range is checked; it is one of the kept fields
	r.Fields = inference.KeepMessageFields(p.Fields, "model", "messages", "system", "max_tokens", "temperature",
		"top_p", "stream", "stop_sequences", "tools", "tool_choice", "service_tier", "thread",
		"mcp_servers")
	r.Betas = withoutServers(p.options.Betas)
	r.Stream = p.IsTrue("stream")

	p.List("stop_sequences", func(item json.RawMessage, path string) {
		if r.Stop = append(r.Stop, jsonbody.Text(item)); jsonbody.Text(item) == "" {
			p.FailType(path, "a string that is not empty")
		}
	})

	if len(r.Stop) > maxStops {
		p.Failf("stop_sequences", "has %d texts; allowed: up to %d", len(r.Stop), maxStops)
	}

	switch p.Enum("service_tier", "auto", "standard_only", "standard", "priority", "flex", "performance") {
	case "auto":
		r.ServiceTier = "auto"
	case "flex":
		r.ServiceTier = "flex"
	case "priority", "performance":
		r.ServiceTier = "performance"
	}

	if p.Has("metadata") {
		r.User = shortUser(p.Object.Object("metadata").Str("user_id"))
	}
}

// shortUser returns the name of a user, or its hash if upstreams would refuse the length. Some agents send a JSON
// object as the name.
func shortUser(id string) string {
	if len(id) <= maxUser {
		return id
	}
	sum := sha256.Sum256([]byte(id))

	return hex.EncodeToString(sum[:])
}

// readThinking reads whether the answer shows thoughts, and how much the model is to think.
func (p *parser) readThinking() {
	r, effort := p.r, ""
	r.IncludeReasoning, r.ReasoningFormat = true, inference.Hidden

	if p.Has("output_config") {
		effort = p.Object.Object("output_config").Str("effort")
	}

	if p.Has("thinking") {
		o := p.Object.Object("thinking")

		switch o.Enum("type", "enabled", "adaptive", "between_tools", "disabled") {
		case "":
			o.Failf("type", "property 'type' is missing")
		case "disabled":
			effort = "none"
		case "enabled":
			r.ReasoningFormat = inference.Parsed

			if n := o.Integer("budget_tokens", 1, math.MaxInt32); n != nil && effort == "" {
				effort = effortOf(*n)
			}
		default:
			r.ReasoningFormat = inference.Parsed
		}
		p.f.omit = o.Str("display") == "omitted"
	}

	if slices.Contains(inference.Efforts(), effort) {
		r.ReasoningEffort = effort
	}
}

// effortOf returns the effort for a budget in tokens. Other upstreams know efforts, but no budgets.
func effortOf(budget int64) string {
	switch {
	case budget < 2048:
		return "low"
	case budget < 8192:
		return "medium"
	}

	return "high"
}

// readFormat reads the schema of the answer, which older clients send in output_format.
func (p *parser) readFormat() {
	var o jsonbody.Object

	switch config := p.Raw("output_config"); {
	case config != nil && p.Object.Object("output_config").Has("format"):
		o = p.Object.Object("output_config").Object("format")
	case p.Has("output_format"):
		o = p.Object.Object("output_format")
	default:
		return
	}

	if o.Enum("type", inference.JSONSchema) == "" {
		o.Failf("type", "property 'type' is missing")
	}
	p.r.Format = inference.Format{Type: inference.JSONSchema, Name: "answer", Schema: p.limits.Schema(o, "schema")}

	if p.r.Format.Schema == nil {
		o.Failf("schema", "property 'schema' is missing")
	}
}
