package wire

import (
	"encoding/json"
	"fmt"

	"presswork/internal/inference"
	"presswork/internal/inference/jsonbody"
)

// readMessages reads the list of messages.
func (p *parser) readMessages(r *inference.Request) {
	p.List("messages", func(item json.RawMessage, path string) {
		r.Messages = append(r.Messages, p.readMessage(jsonbody.New(item, path+".", p.Err)))
	})

	switch {
	case !p.Has("messages"):
		p.Failf("messages", "property 'messages' is missing")
	case len(r.Messages) == 0:
		p.Failf("messages", "minimum number of items is 1")
	case r.Images() > p.maxImages:
		p.Failf("messages", "at most %d images are allowed in a request", p.maxImages)
	}
}

// readMessage reads one message. Fields depend on its role.
func (p *parser) readMessage(o jsonbody.Object) inference.Message {
	m := inference.Message{Role: o.Str("role"), Name: o.Str("name")}
	if m.Role == "" {
		o.Failf("role", "property 'role' is missing")
		return m
	}
	m.Role = o.Enum(
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
		if m.ToolCallID = o.Str("tool_call_id"); m.ToolCallID == "" {
			o.Failf("tool_call_id", "property 'tool_call_id' is missing")
		}
	case "function": // the older form of a tool message
		if m.Name == "" {
			o.Failf("name", "property 'name' is missing")
		}
		m.Role, m.ToolCallID = inference.ToolRole, "call_"+m.Name
	}

	if !o.Has("content") && m.Role != inference.Assistant {
		o.Failf("content", "property 'content' is missing")
	}

	return m
}

// readAssistant reads the reasoning and the calls of an assistant's message.
func (p *parser) readAssistant(o jsonbody.Object, m *inference.Message) {
	// Other services name the field reasoning_content.
	if m.Reasoning = o.Str("reasoning"); m.Reasoning == "" {
		m.Reasoning = o.Str("reasoning_content")
	}
	o.List("thinking_blocks", func(item json.RawMessage, path string) {
		b := jsonbody.New(item, path+".", o.Err)
		t := inference.Thought{Text: b.Str("thinking"), Signature: b.Str("signature"), Redacted: b.Str("data")}

		if t.Signature != "" || t.Redacted != "" {
			m.Thoughts = append(m.Thoughts, t)
		}
	})
	o.List("tool_calls", func(item json.RawMessage, path string) {
		call := jsonbody.New(item, path+".", o.Err)
		call.Enum("type", inference.FunctionTool)

		id := call.Str("id")
		if id == "" {
			call.Failf("id", "property 'id' is missing")
		}
		m.ToolCalls = append(m.ToolCalls, callOf(call.Object("function"), id))
	})

	if o.Has("function_call") {
		f := callOf(o.Object("function_call"), "")
		f.ID = "call_" + f.Name
		m.ToolCalls = append(m.ToolCalls, f)
	}

	if !o.Has("content") && len(m.ToolCalls) == 0 && m.Reasoning == "" {
		o.Failf("content", "property 'content' is missing; it may be null only next to 'tool_calls'")
	}
}

// callOf reads the function of a tool call. Its name is mandatory.
func callOf(f jsonbody.Object, id string) inference.ToolCall {
	c := inference.ToolCall{ID: id, Name: f.Str("name"), Arguments: f.Str("arguments")}
	if c.Name == "" {
		f.Failf("name", "property 'name' is missing")
	}

	return c
}

// readContent reads a string or a list of parts. role decides which parts are allowed.
func (p *parser) readContent(o jsonbody.Object, role string) []inference.Part {
	v := o.Raw("content")
	switch {
	case v == nil:
		return nil
	case v[0] == '"':
		return []inference.Part{{Text: o.Str("content")}}
	case v[0] != '[':
		o.FailType(o.Path+"content", "a string or a list of content parts")
	}
	var parts []inference.Part
	o.List("content", func(item json.RawMessage, path string) {
		parts = append(parts, p.readPart(jsonbody.New(item, path+".", o.Err), role))
	})

	return parts
}

// readPart reads a content part. The role decides which types are allowed.
func (p *parser) readPart(o jsonbody.Object, role string) inference.Part {
	allowed := []string{"text"}

	switch role {
	case inference.User:
		allowed = append(allowed, "image_url", "document")
	case inference.ToolRole:
		allowed = append(allowed, "document")
	case inference.Assistant:
		allowed = append(allowed, "refusal")
	}

	switch kind := o.Enum("type", allowed...); kind {
	case "":
		o.Failf("type", "property 'type' is missing")
	case "text":
		if !o.Has("text") {
			o.Failf("text", "property 'text' is missing")
		}

		return inference.Part{Text: o.Str("text"), Fields: o.Only("cache_control")}
	case "refusal":
		return inference.Part{Text: o.Str("refusal")}
	case "document":
		d := o.Object("document")
		return inference.Part{Text: fmt.Sprintf("Document %s:\n%s\n", d.Str("id"), d.Raw("data"))}
	case "image_url":
		return inference.Part{Image: p.readImage(o), Fields: o.Only("cache_control")}
	}

	return inference.Part{}
}
