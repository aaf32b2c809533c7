package responses

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"presswork/internal/inference"
	"presswork/internal/inference/jsonbody"
)

// conversation collects the messages of a request from its items. Items of the model between two messages of others
// become one message, because chat templates need that form.
type conversation struct {
	messages []inference.Message
	// thoughts is the reasoning of a message by its index.
	thoughts map[int][]string
	// open has the ids of the calls without a result. All are in the message with the index calls.
	open  map[string]bool
	calls int
	// later are the messages that follow the results, although their items precede some of them.
	later []inference.Message
	// pictures are those of results. They follow the results as a message of the user, because a result is a text.
	pictures []inference.Part
}

// readInput reads the instructions and the items.
func (p *parser) readInput() {
	c := &conversation{thoughts: map[int][]string{}, open: map[string]bool{}}
	if s := p.Str("instructions"); s != "" {
		c.add(inference.Message{Role: inference.System, Parts: []inference.Part{{Text: s}}})
	}
	given := len(c.messages)

	switch v := p.Raw("input"); {
	case v == nil:
		p.Failf("input", "property 'input' is missing")
	case v[0] == '"':
		c.add(inference.Message{Role: inference.User, Parts: []inference.Part{{Text: p.Str("input")}}})
	case v[0] != '[':
		p.FailType("input", "a string or a list of items")
	}

	if v := p.Raw("input"); v != nil && v[0] == '[' {
		p.List("input", func(item json.RawMessage, path string) {
			p.readItem(jsonbody.New(item, path+".", p.Err), c)
		})
	}
	c.finish()
	p.r.Messages = c.messages

	switch {
	case p.Failed():
	case len(c.messages) == given:
		p.Failf("input", "must have at least one message")
	case len(c.open) > 0:
		first := slices.Sorted(maps.Keys(c.open))[0]
		p.Failf("input", "no output was found for the call %q; send an item with its 'call_id' and 'output'",
			jsonbody.Bounded(first, 64))
	case p.r.Images() > jsonbody.MaxImages:
		p.Failf("input", "at most %d images are allowed in a request", jsonbody.MaxImages)
	}
}

// The types of items that are read or ignored.
var itemTypes = []string{
	"message", "reasoning", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output",
	"additional_tools", "web_search_call", "code_interpreter_call", "mcp_list_tools",
}

func (p *parser) readItem(o jsonbody.Object, c *conversation) {
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
	case "web_search_call", "code_interpreter_call", "mcp_list_tools":
		// The message after it has its result.
	case "":
		o.Failf("type", "property 'type' is missing")
	case "item_reference":
		o.Failf("type", "items are not stored; send the item itself (clients do so with 'store' false)")
	default:
		o.Enum("type", itemTypes...)
	}
}

func (p *parser) readMessage(o jsonbody.Object, c *conversation) {
	role := o.Enum("role", inference.System, inference.Developer, inference.User, inference.Assistant)
	if role == "" {
		o.Failf("role", "property 'role' is missing")
	}

	parts := p.readContent(o, "content", role)
	if o.Failed() {
		return
	}

	if role == inference.Assistant {
		m := &c.messages[c.assistant()]
		m.Parts = append(m.Parts, parts...)

		return
	}
	c.add(inference.Message{Role: role, Parts: parts})
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
		if detail == "original" {
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
func (p *parser) readThought(o jsonbody.Object, c *conversation) {
	var texts []string

	if sealed := o.Str("encrypted_content"); sealed != "" {
		text, err := p.options.Sealer.Open(p.options.Owner, sealed)
		if err != nil {
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
		i := c.assistant()
		c.thoughts[i] = append(c.thoughts[i], texts...)
	}
}

func (p *parser) readCall(o jsonbody.Object, kind string, c *conversation) {
	id := o.Required("call_id")
	name := toolName{namespace: o.Str("namespace"), name: o.Required("name")}
	call := inference.ToolCall{ID: id, Name: name.flat()}

	if kind == "custom_tool_call" {
		b, _ := json.Marshal(map[string]string{customInput: o.Str("input")})
		call.Arguments = string(b)
	} else {
		call.Arguments = o.Str("arguments")
	}

	if c.open[id] {
		o.Failf("call_id", "there are two calls %q", jsonbody.Bounded(id, 64))
	}

	if !o.Failed() {
		c.addCall(call)
	}
}

func (p *parser) readResult(o jsonbody.Object, c *conversation) {
	id := o.Required("call_id")
	parts := p.readContent(o, "output", inference.ToolRole)

	if o.Failed() {
		return
	}

	if !c.open[id] {
		o.Failf("call_id", "no call %q without an output precedes it", jsonbody.Bounded(id, 64))
		return
	}
	c.addResult(id, parts)
}

// add adds a message that is not the model's. Upstreams need the results of calls before it.
func (c *conversation) add(m inference.Message) {
	if len(c.open) > 0 {
		c.later = append(c.later, m)
		return
	}
	c.addPictures()
	c.messages = append(c.messages, m)
}

func (c *conversation) addPictures() {
	if len(c.pictures) > 0 {
		c.messages = append(c.messages, inference.Message{Role: inference.User, Parts: c.pictures})
		c.pictures = nil
	}
}

// finish adds what is left after the last item.
func (c *conversation) finish() {
	c.addPictures()

	for i, texts := range c.thoughts {
		c.messages[i].Reasoning = strings.Join(texts, "\n\n")
	}
	// Reasoning that nothing follows has no use.
	c.messages = slices.DeleteFunc(c.messages, func(m inference.Message) bool {
		return m.Role == inference.Assistant && len(m.Parts) == 0 && len(m.ToolCalls) == 0
	})
}

// assistant returns the index of the message to which the next item of the model belongs. That is the message whose
// calls have no results yet, or the last one.
func (c *conversation) assistant() int {
	if len(c.open) > 0 {
		return c.calls
	}

	if last := len(c.messages) - 1; last >= 0 && c.messages[last].Role == inference.Assistant {
		return last
	}
	c.add(inference.Message{Role: inference.Assistant})

	return len(c.messages) - 1
}

func (c *conversation) addCall(call inference.ToolCall) {
	c.calls = c.assistant()
	c.open[call.ID] = true
	m := &c.messages[c.calls]
	m.ToolCalls = append(m.ToolCalls, call)
}

// addResult adds the result of an open call.
func (c *conversation) addResult(id string, parts []inference.Part) {
	delete(c.open, id)
	m := inference.Message{Role: inference.ToolRole, ToolCallID: id}

	for _, part := range parts {
		if part.Image != nil {
			c.pictures = append(c.pictures, part)
		} else {
			m.Parts = append(m.Parts, part)
		}
	}

	if len(m.Parts) == 0 {
		m.Parts = []inference.Part{{Text: ""}}
	}
	c.messages = append(c.messages, m)

	if len(c.open) == 0 {
		for _, m := range c.later {
			c.add(m)
		}
		c.later = nil
	}
}
