package openai

import (
	"encoding/json"
	"fmt"

	"presswork/internal/inference"
)

func (p *parser) readMessages(r *inference.Request) {
	p.list("messages", func(item json.RawMessage, path string) {
		r.Messages = append(r.Messages, p.readMessage(newObject(item, path+".", p.err)))
	})

	switch {
	case !p.has("messages"):
		p.failf("messages", "property 'messages' is missing")
	case len(r.Messages) == 0:
		p.failf("messages", "minimum number of items is 1")
	case r.Images() > p.maxImages:
		p.failf("messages", "at most %d images are allowed in a request", p.maxImages)
	}
}

func (p *parser) readMessage(o object) inference.Message {
	m := inference.Message{Role: o.str("role"), Name: o.str("name")}
	if m.Role == "" {
		o.failf("role", "property 'role' is missing")
		return m
	}
	m.Role = o.enum(
		"role",
		inference.System,
		inference.Developer,
		inference.User,
		inference.Assistant,
		inference.ToolRole,
		"function",
	)

	m.Parts = p.readContent(o, m.Role)
	switch m.Role {
	case inference.Assistant:
		p.readAssistant(o, &m)
	case inference.ToolRole:
		if m.ToolCallID = o.str("tool_call_id"); m.ToolCallID == "" {
			o.failf("tool_call_id", "property 'tool_call_id' is missing")
		}
	case "function": // the form before tools
		if m.Name == "" {
			o.failf("name", "property 'name' is missing")
		}
		m.Role, m.ToolCallID = inference.ToolRole, "call_"+m.Name
	}

	if !o.has("content") && m.Role != inference.Assistant {
		o.failf("content", "property 'content' is missing")
	}

	return m
}

func (p *parser) readAssistant(o object, m *inference.Message) {
	// Other services call it reasoning_content.
	if m.Reasoning = o.str("reasoning"); m.Reasoning == "" {
		m.Reasoning = o.str("reasoning_content")
	}
	o.list("tool_calls", func(item json.RawMessage, path string) {
		call := newObject(item, path+".", o.err)
		call.enum("type", inference.FunctionTool)

		id := call.str("id")
		if id == "" {
			call.failf("id", "property 'id' is missing")
		}
		m.ToolCalls = append(m.ToolCalls, callOf(call.object("function"), id))
	})

	if o.has("function_call") {
		f := callOf(o.object("function_call"), "")
		f.ID = "call_" + f.Name
		m.ToolCalls = append(m.ToolCalls, f)
	}

	if !o.has("content") && len(m.ToolCalls) == 0 && m.Reasoning == "" {
		o.failf("content", "property 'content' is missing; it may be null only beside 'tool_calls'")
	}
}

func callOf(f object, id string) inference.ToolCall {
	c := inference.ToolCall{ID: id, Name: f.str("name"), Arguments: f.str("arguments")}
	if c.Name == "" {
		f.failf("name", "property 'name' is missing")
	}

	return c
}

func (p *parser) readContent(o object, role string) []inference.Part {
	v := o.raw("content")
	switch {
	case v == nil:
		return nil
	case v[0] == '"':
		return []inference.Part{{Text: o.str("content")}}
	case v[0] != '[':
		o.failType(o.path+"content", "a string or a list of content parts")
	}
	var parts []inference.Part
	o.list("content", func(item json.RawMessage, path string) {
		parts = append(parts, p.readPart(newObject(item, path+".", o.err), role))
	})

	return parts
}

func (p *parser) readPart(o object, role string) inference.Part {
	allowed := []string{"text"}

	switch role {
	case inference.User:
		allowed = append(allowed, "image_url", "document")
	case inference.ToolRole:
		allowed = append(allowed, "document")
	case inference.Assistant:
		allowed = append(allowed, "refusal")
	}

	switch kind := o.enum("type", allowed...); kind {
	case "":
		o.failf("type", "property 'type' is missing")
	case "text":
		if !o.has("text") {
			o.failf("text", "property 'text' is missing")
		}

		return inference.Part{Text: o.str("text")}
	case "refusal":
		return inference.Part{Text: o.str("refusal")}
	case "document":
		d := o.object("document")
		return inference.Part{Text: fmt.Sprintf("Document %s:\n%s\n", d.str("id"), d.raw("data"))}
	case "image_url":
		return inference.Part{Image: p.readImage(o)}
	}

	return inference.Part{}
}
