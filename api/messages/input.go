package messages

import (
	"encoding/json"
	"slices"
	"strings"

	"presswork/internal/inference"
	"presswork/internal/inference/history"
	"presswork/internal/inference/jsonbody"
)

// The types of blocks.
const (
	textBlock     = "text"
	imageBlock    = "image"
	documentBlock = "document"
	searchBlock   = "search_result"
	callBlock     = "tool_use"
	resultBlock   = "tool_result"
	thoughtBlock  = "thinking"
	hiddenBlock   = "redacted_thinking"
	serverCall    = "server_tool_use"
	// serverToolCall and serverToolResult are those of MCP servers.
	serverToolCall   = "mcp_tool_use"
	serverToolResult = "mcp_tool_result"
)

// billing begins a text of the system prompt that an agent sends for Anthropic's accounts. Other models have no use for
// it.
const billing = "x-anthropic-billing-header:"

// readMessages reads the system prompt and the conversation.
func (p *parser) readMessages() {
	h := history.New()

	if system := p.readContent(p.Object, "system", h, textBlock); len(system) > 0 {
		if strings.HasPrefix(system[0].Text, billing) {
			system = system[1:]
		}

		if len(system) > 0 {
			h.Add(inference.Message{Role: inference.System, Parts: system})
		}
	}
	given := h.Len()

	if !p.Has("messages") {
		p.Failf("messages", "property 'messages' is missing")
	}
	p.List("messages", func(item json.RawMessage, path string) {
		p.readMessage(jsonbody.New(item, path+".", p.Err), h)
	})
	p.r.Messages = h.Messages()

	switch {
	case p.Failed():
	case len(p.r.Messages) == given:
		p.Failf("messages", "must have at least one message with content")
	case h.Unanswered() != "":
		p.failUnanswered(p.Object, "messages", h)
	case p.r.Images() > jsonbody.MaxImages:
		p.Failf("messages", "at most %d images are allowed in a request", jsonbody.MaxImages)
	}
}

// failUnanswered records that a call has no result.
func (p *parser) failUnanswered(o jsonbody.Object, field string, h *history.History) {
	o.Failf(field, "`tool_use` ids were found without `tool_result` blocks immediately after: %s; "+
		"the next message must have a 'tool_result' for each", jsonbody.Bounded(h.Unanswered(), 64))
}

// readMessage adds a message of the request to the history. Each role allows its own kinds of blocks.
func (p *parser) readMessage(o jsonbody.Object, h *history.History) {
	if !o.Has("content") {
		o.Failf("content", "property 'content' is missing")
	}

	switch role := o.Enum("role", inference.User, inference.Assistant, inference.System); role {
	case "":
		o.Failf("role", "property 'role' is missing")
	case inference.System:
		if parts := p.readContent(o, "content", h, textBlock); len(parts) > 0 {
			h.Add(inference.Message{Role: role, Parts: parts})
		}
	case inference.User:
		// Results go to the history while they are read, so they precede the text of their message.
		parts := p.readContent(o, "content", h, textBlock, imageBlock, documentBlock, searchBlock, resultBlock)
		if len(parts) > 0 {
			h.Add(inference.Message{Role: role, Parts: parts})
		}
	default:
		// The results of all calls must be in the message that follows the calls.
		if h.Unanswered() != "" {
			p.failUnanswered(o, "content", h)
		}

		if parts := p.readContent(o, "content", h, textBlock, callBlock, thoughtBlock, hiddenBlock); len(parts) > 0 {
			m := h.Assistant()
			m.Parts = append(m.Parts, parts...)
		}
	}
}

// readContent reads a field with a text or a list of blocks of the allowed types. It returns the parts, and adds calls,
// results and thoughts to h.
func (p *parser) readContent(o jsonbody.Object, field string, h *history.History, allowed ...string) (
	parts []inference.Part,
) {
	v := o.Raw(field)
	switch {
	case v == nil:
		return nil
	case v[0] == '"':
		if s := o.Str(field); s != "" {
			parts = []inference.Part{{Text: s}}
		}

		return parts
	case v[0] != '[':
		o.FailType(o.Path+field, "a string or a list of blocks")
	}

	o.List(field, func(item json.RawMessage, path string) {
		block := jsonbody.New(item, path+".", p.Err)
		parts = append(parts, p.readBlock(block, h, allowed)...)
	})

	return parts
}

// readBlock reads one content block. Calls and results go to the history; other blocks are returned as parts.
func (p *parser) readBlock(o jsonbody.Object, h *history.History, allowed []string) []inference.Part {
	kind := o.Str("type")

	switch kind {
	case "":
		o.Failf("type", "property 'type' is missing")
	case listingBlock:
		p.readListing(o)
		return nil
	case serverToolCall:
		p.readServerCall(o)
		return nil
	case serverToolResult:
		p.readServerResult(o, h)
		return nil
	case serverCall, "tool_reference", "web_search_tool_result",
		"web_fetch_tool_result", "code_execution_tool_result":
		// The text after it has what it found.
		return nil
	case "container_upload":
		o.Failf("type", "files are not stored; send the text of the file in a 'document' block")
	default:
		o.Enum("type", allowed...)
	}

	if o.Failed() {
		return nil
	}

	switch kind {
	case imageBlock:
		return p.withFields(p.readImage(o), o, "type", "source")
	case documentBlock:
		return p.readDocument(o, h)
	case searchBlock:
		return p.withBlock(titled(o.Str("title"), o.Str("source"), p.readContent(o, "content", h, textBlock)), o)
	case callBlock:
		p.readCall(o, h)
	case resultBlock:
		p.readResult(o, h)
	case thoughtBlock, hiddenBlock:
		p.readThought(o, kind, h)
	default:
		if s := o.Str("text"); s != "" {
			return p.withFields([]inference.Part{{Text: s}}, o, "type", "text")
		}
	}

	return nil
}

// withFields adds the other fields of a block to its part, for upstreams that speak the Messages API.
func (p *parser) withFields(parts []inference.Part, o jsonbody.Object, read ...string) []inference.Part {
	if len(parts) == 1 && p.options.Native() {
		parts[0].Fields = o.Except(read...)
	}

	return parts
}

// withBlock returns parts as one, which also has the whole block for upstreams that speak the Messages API. Images stay
// parts of their own for other upstreams, so a block with images is not kept.
func (p *parser) withBlock(parts []inference.Part, o jsonbody.Object) []inference.Part {
	hasImage := func(part inference.Part) bool { return part.Image != nil }
	if o.Failed() || !p.options.Native() || slices.ContainsFunc(parts, hasImage) {
		return parts
	}
	text := inference.Message{Parts: parts}.Text()

	return []inference.Part{{Text: text, Block: o.Except()}}
}

// readImage returns the image of an image block. An image in base64 becomes a data: URL.
func (p *parser) readImage(o jsonbody.Object) []inference.Part {
	source := o.Object("source")
	address, field := "", "url"

	switch source.Enum("type", "base64", "url", "file") {
	case "":
		source.Failf("type", "property 'type' is missing")
	case "file":
		source.Failf("type", "files are not stored; send the image as 'base64' or 'url'")
	case "base64":
		field = "data"
		address = "data:" + source.Required("media_type") + ";base64," + source.Required("data")
	default:
		address = source.Required("url")
	}

	if o.Failed() {
		return nil
	}

	return []inference.Part{{Image: &inference.Image{URL: p.limits.ImageURL(source, field, address)}}}
}

// readCall adds a tool_use block to the history. The ids of waiting calls must differ.
func (p *parser) readCall(o jsonbody.Object, h *history.History) {
	id, name := o.Required("id"), o.Required("name")
	arguments := "{}"

	if o.Has("input") {
		if o.Object("input"); !o.Failed() {
			arguments = string(o.Raw("input"))
		}
	}

	if h.Waits(id) {
		o.Failf("id", "there are two calls %q", jsonbody.Bounded(id, 64))
	}

	if !o.Failed() {
		call := inference.ToolCall{ID: id, Name: inference.ShortName(name), Arguments: arguments}
		if p.options.Native() {
			call.Fields = o.Except("type", "id", "name", "input")
		}
		h.AddCall(call)
	}
}

// readResult adds a tool_result block to the history. Its tool_use must precede it and have no result yet.
func (p *parser) readResult(o jsonbody.Object, h *history.History) {
	id := o.Required("tool_use_id")
	parts := p.readContent(o, "content", h, textBlock, imageBlock, documentBlock, searchBlock)

	if o.Failed() {
		return
	}

	if !h.Waits(id) {
		o.Failf("tool_use_id", "no 'tool_use' %q without a result is in the message before it",
			jsonbody.Bounded(id, 64))

		return
	}
	result := inference.Message{ToolCallID: id, Parts: parts, Failed: o.IsTrue("is_error")}

	if p.options.Native() {
		result.Fields = o.Except("type", "tool_use_id", "content", "is_error")
	}
	h.AddResult(result)
}
