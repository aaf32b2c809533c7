package responses

import (
	"encoding/json"
	"strings"

	"presswork/internal/inference"
	"presswork/internal/inference/history"
	"presswork/internal/inference/jsonbody"
)

// readInput reads the instructions and the items.
func (p *parser) readInput() {
	c := history.New()
	if s := p.Str("instructions"); s != "" {
		c.Add(inference.Message{Role: inference.System, Parts: []inference.Part{{Text: s}}})
	}
	given := c.Len()

	switch v := p.Raw("input"); {
	case v == nil:
		p.Failf("input", "property 'input' is missing")
	case v[0] == '"':
		c.Add(inference.Message{Role: inference.User, Parts: []inference.Part{{Text: p.Str("input")}}})
	case v[0] != '[':
		p.FailType("input", "a string or a list of items")
	}

	if v := p.Raw("input"); v != nil && v[0] == '[' {
		// A decision follows its request in the input, so read the decisions first.
		p.readDecisions()
		p.List("input", func(item json.RawMessage, path string) {
			p.readItem(jsonbody.New(item, path+".", p.Err), c)
		})
	}
	p.r.Messages = c.Messages()

	switch {
	case p.Failed():
	case len(p.r.Messages) == given:
		p.Failf("input", "must have at least one message")
	case c.Unanswered() != "":
		p.Failf("input", "no output was found for the call %q; send an item with its 'call_id' and 'output'",
			jsonbody.Bounded(c.Unanswered(), 64))
	case p.r.Images() > jsonbody.MaxImages:
		p.Failf("input", "at most %d images are allowed in a request", jsonbody.MaxImages)
	}
}

// The types of items that are read or ignored.
var itemTypes = []string{
	"message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output",
	"additional_tools", "web_search_call", "code_interpreter_call", "mcp_list_tools", "mcp_call",
	"mcp_approval_request", "mcp_approval_response",
}

// readItem adds an item of the input to the history.
func (p *parser) readItem(o jsonbody.Object, c *history.History) {
	kind := o.Str("type")
	if kind == "" && o.Has("role") {
		kind = "message"
	}

	switch kind {
	case "message":
		p.readMessage(o, c)
	case "reasoning":
		p.readThought(o, c)
	case "function_call", "custom_tool_call":
		p.readCall(o, kind, c)
	case "function_call_output", "custom_tool_call_output":
		p.readResult(o, c)
	case "additional_tools":
		o.List("tools", func(item json.RawMessage, path string) {
			p.readTool(jsonbody.New(item, path+".", p.Err), "", true)
		})
	case "mcp_list_tools":
		p.readListed(o)
	case "mcp_call":
		p.readServerCall(o, c)
	case "mcp_approval_request":
		p.readApprovalRequest(o, c)
	case "web_search_call", "code_interpreter_call", "mcp_approval_response":
		// The message after it has its result. readDecisions has read the approvals.
	case "":
		o.Failf("type", "property 'type' is missing")
	case "item_reference":
		o.Failf("type", "items are not stored; send the item itself (clients do so with 'store' false)")
	default:
		o.Enum("type", itemTypes...)
	}
}

// readMessage adds a message item. Parts of an assistant go to the assistant's open message.
func (p *parser) readMessage(o jsonbody.Object, c *history.History) {
	role := o.Enum("role", inference.System, inference.Developer, inference.User, inference.Assistant)
	if role == "" {
		o.Failf("role", "property 'role' is missing")
	}

	parts := p.readContent(o, "content", role)
	if o.Failed() {
		return
	}

	if role == inference.Assistant {
		m := c.Assistant()
		m.Parts = append(m.Parts, parts...)

		return
	}
	c.Add(inference.Message{Role: role, Parts: parts})
}

// readContent reads a field with a text or a list of parts.
func (p *parser) readContent(o jsonbody.Object, field, role string) (parts []inference.Part) {
	v := o.Raw(field)
	switch {
	case v == nil:
		o.Failf(field, "property '%s' is missing", field)
	case v[0] == '"':
		return []inference.Part{{Text: o.Str(field)}}
	case v[0] != '[':
		o.FailType(o.Path+field, "a string or a list of parts")
	}

	o.List(field, func(item json.RawMessage, path string) {
		parts = append(parts, p.readPart(jsonbody.New(item, path+".", p.Err), role))
	})

	return parts
}

// readPart reads a part of a message. The role decides which types are allowed.
func (p *parser) readPart(o jsonbody.Object, role string) inference.Part {
	allowed := []string{"input_text", "text"}

	switch role {
	case inference.User, inference.ToolRole:
		allowed = append(allowed, "input_image")
	case inference.Assistant:
		allowed = append(allowed, "output_text", "refusal")
	}

	switch kind := o.Enum("type", allowed...); kind {
	case "":
		o.Failf("type", "property 'type' is missing")
	case "refusal":
		return inference.Part{Text: o.Str("refusal")}
	case "input_image":
		if o.Has("file_id") {
			o.Failf("file_id", "files are not stored; send the image in 'image_url'")
		}

		detail := o.Enum("detail", "auto", "low", "high", "original")
		if detail == "original" { // chat completions have no such value
			detail = "high"
		}

		return inference.Part{Image: &inference.Image{
			URL: p.limits.ImageURL(o, "image_url", o.Required("image_url")), Detail: detail,
		}}
	default:
		if !o.Has("text") {
			o.Failf("text", "property 'text' is missing")
		}

		return inference.Part{Text: o.Str("text")}
	}

	return inference.Part{}
}

// readThought reads an item of reasoning: its encrypted form, its text or its summary, in this order.
func (p *parser) readThought(o jsonbody.Object, c *history.History) {
	var texts []string

	// Only the encrypted form is authentic; a client may have changed the texts.
	if sealed := o.Str("encrypted_content"); sealed != "" {
		inner, isSigned := strings.CutPrefix(sealed, sealedThought)
		text, err := p.options.Sealer.Open(p.options.Owner, inner)

		var t inference.Thought
		if err == nil && isSigned && json.Unmarshal([]byte(text), &t) == nil {
			c.AddSigned(t)
			return
		}

		if err != nil || isSigned {
			o.Failf("encrypted_content", "it was changed, or was not made by this server for this key; "+
				"leave the item out")
		}
		texts = append(texts, text)
	}

	for _, field := range []string{"content", "summary"} {
		if len(texts) == 0 {
			o.List(field, func(item json.RawMessage, path string) {
				texts = append(texts, jsonbody.New(item, path+".", p.Err).Str("text"))
			})
		}
	}

	if !o.Failed() && len(texts) > 0 {
		c.AddThought(texts...)
	}
}

// readCall adds a call of a function or a custom tool. The input of a custom tool becomes the JSON argument of a
// function.
func (p *parser) readCall(o jsonbody.Object, kind string, c *history.History) {
	id := o.Required("call_id")
	name := toolName{namespace: o.Str("namespace"), name: o.Required("name")}
	call := inference.ToolCall{ID: id, Name: name.flat()}

	if kind == "custom_tool_call" {
		b, _ := json.Marshal(map[string]string{customInput: o.Str("input")})
		call.Arguments = string(b)
	} else {
		call.Arguments = o.Str("arguments")
	}

	if c.Waits(id) {
		o.Failf("call_id", "there are two calls %q", jsonbody.Bounded(id, 64))
	}

	if !o.Failed() {
		c.AddCall(call)
	}
}

// readResult adds the output of a call. The call must precede it and have no output yet.
func (p *parser) readResult(o jsonbody.Object, c *history.History) {
	id := o.Required("call_id")
	parts := p.readContent(o, "output", inference.ToolRole)

	if o.Failed() {
		return
	}

	if !c.Waits(id) {
		o.Failf("call_id", "no call %q without an output precedes it", jsonbody.Bounded(id, 64))
		return
	}
	c.AddResult(inference.Message{ToolCallID: id, Parts: parts})
}
