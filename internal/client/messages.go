package client

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"presswork/internal/inference"
)

// maxMessageTokens is the longest answer that a conversation in Messages requests, in tokens. That API has no default.
const maxMessageTokens = 16384

// messages is a conversation in Anthropic's Messages API.
type messages struct {
	server  *Server
	request messagesRequest
}

// messagesRequest is the body of a request. Messages has the whole conversation.
type messagesRequest struct {
	Model     string              `json:"model"`
	MaxTokens int                 `json:"max_tokens"`
	System    string              `json:"system,omitempty"`
	Messages  []message           `json:"messages"`
	Tools     []map[string]string `json:"tools,omitempty"`
	Thinking  map[string]string   `json:"thinking,omitempty"`
	Output    map[string]string   `json:"output_config,omitempty"`
	Stream    bool                `json:"stream"`
}

// message is a message of the conversation.
type message struct {
	Role    string `json:"role"`
	Content []any  `json:"content"`
}

// sentBlock is a text or a thought as requests and answers have it.
type sentBlock struct {
	Type      string `json:"type"`
	Text      string `json:"text,omitempty"`
	Thinking  string `json:"thinking,omitempty"`
	Signature string `json:"signature,omitempty"`
}

// newMessages starts a conversation in the format of Anthropic's Messages API.
func newMessages(s *Server, o ChatOptions) *messages {
	r := messagesRequest{Model: o.Model, MaxTokens: maxMessageTokens, System: o.System, Stream: true}

	switch {
	case o.Effort == "none":
		r.Thinking = map[string]string{"type": "disabled"}
	case o.Effort != "":
		r.Output = map[string]string{"effort": o.Effort}
	}

	if o.Reasoning && o.Effort != "none" {
		r.Thinking = map[string]string{"type": "adaptive"}
	}

	for _, name := range o.Tools {
		tool := map[string]string{"type": "web_search_20250305", "name": "web_search"}
		if name == codeTool {
			tool = map[string]string{"type": "code_execution_20250522", "name": "code_execution"}
		}
		r.Tools = append(r.Tools, tool)
	}

	return &messages{s, r}
}

// ask implements dialogue.
func (m *messages) ask(ctx context.Context, prompt string, pictures []Picture, write func(piece) error) error {
	content := []any{sentBlock{Type: "text", Text: prompt}}
	for _, p := range pictures {
		content = append(content, map[string]any{"type": "image", "source": p.source()})
	}
	m.request.Messages = append(m.request.Messages, message{inference.User, content})
	answer := messagesAnswer{server: m.server, write: write}

	if err := m.server.stream(ctx, "/v1/messages", m.request, answer.event); err != nil {
		return err
	}

	if len(answer.content) > 0 {
		m.request.Messages = append(m.request.Messages, message{inference.Assistant, answer.content})
	}

	return nil
}

// source returns the picture in the form of Messages.
func (p Picture) source() map[string]string {
	kind, data, inline := strings.Cut(strings.TrimPrefix(p.url, "data:"), ";base64,")
	if !inline {
		return map[string]string{"type": "url", "url": p.url}
	}

	return map[string]string{"type": "base64", "media_type": kind, "data": data}
}

// messagesAnswer reads the events of an answer.
type messagesAnswer struct {
	server *Server
	write  func(piece) error
	// content has the texts and thoughts so far, which the next request repeats. Calls of server tools are left out: the
	// text of the answer has their results.
	content []any
	// open is the block that is being read, and text its text, its thought or its arguments.
	open messagesBlock
	text strings.Builder
	call piece
}

// messagesBlock has the fields of blocks that are read.
type messagesBlock struct {
	Type, Name, Signature string
	Content               json.RawMessage
}

// messagesEvent has the fields of events that are read.
type messagesEvent struct {
	Type  string
	Block messagesBlock `json:"content_block"`
	Delta struct {
		Text, Thinking, Signature string
		JSON                      string `json:"partial_json"`
	}
	Error struct{ Message string }
}

// event reads one event.
func (a *messagesAnswer) event(data []byte) error {
	var e messagesEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return nil // an event of a later version of the API
	}

	switch e.Type {
	case "content_block_start":
		a.open = e.Block
		a.text.Reset()
	case "content_block_delta":
		a.open.Signature += e.Delta.Signature
		a.text.WriteString(e.Delta.Text + e.Delta.Thinking + e.Delta.JSON)

		return a.write(piece{text: e.Delta.Text, reasoning: e.Delta.Thinking})
	case "content_block_stop":
		return a.closeBlock()
	case "message_stop":
		return errEnded
	case "error":
		return fmt.Errorf("%s: %s", a.server.shown, e.Error.Message)
	}

	return nil
}

// closeBlock keeps a text or a thought for the next request, and writes the call of a server tool with its result.
func (a *messagesAnswer) closeBlock() error {
	text := a.text.String()

	switch kind := a.open.Type; {
	case kind == "text" && text != "":
		a.content = append(a.content, sentBlock{Type: kind, Text: text})
	case kind == "thinking":
		a.content = append(a.content, sentBlock{Type: kind, Thinking: text, Signature: a.open.Signature})
	case kind == "server_tool_use":
		a.call = readServerCall(a.open.Name, text)
	case strings.HasSuffix(kind, "_tool_result"):
		a.call.output = outputOf(a.open.Content)
		return a.write(a.call)
	}

	return nil
}

// readServerCall returns the call of a server tool, under the name that chat completions have for it.
func readServerCall(name, arguments string) piece {
	var in struct{ Query, URL string }
	_ = json.Unmarshal([]byte(arguments), &in) // other arguments are shown as they are

	switch name {
	case "web_search":
		return piece{tool: inference.SearchFunction, arguments: in.Query}
	case "web_fetch":
		return piece{tool: inference.OpenFunction, arguments: in.URL}
	}

	return piece{tool: inference.PythonFunction, arguments: programIn(arguments)}
}

// outputOf returns the text of the result of a server tool: what a program printed, or the addresses that a search
// found.
func outputOf(content json.RawMessage) string {
	var printed struct {
		Stdout, Stderr string
		Code           string `json:"error_code"`
	}
	if json.Unmarshal(content, &printed) == nil {
		return printed.Stdout + printed.Stderr + printed.Code
	}

	var pages []struct{ URL string }
	_ = json.Unmarshal(content, &pages) // an unknown form shows nothing

	var found strings.Builder
	for _, p := range pages {
		fmt.Fprintln(&found, p.URL)
	}

	return found.String()
}
