package client

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"presswork/internal/inference"
)

// responses is a conversation in OpenAI's Responses API.
type responses struct {
	server  *Server
	request responsesRequest
}

// responsesRequest is the body of a request. Input has the whole conversation.
type responsesRequest struct {
	Model        string              `json:"model"`
	Instructions string              `json:"instructions,omitempty"`
	Input        []any               `json:"input"`
	Tools        []map[string]any    `json:"tools,omitempty"`
	Include      []string            `json:"include"`
	Reasoning    *responsesReasoning `json:"reasoning,omitempty"`
	Store        bool                `json:"store"`
	Stream       bool                `json:"stream"`
}

// responsesReasoning asks for reasoning in the answer.
type responsesReasoning struct {
	Effort  string `json:"effort,omitempty"`
	Summary string `json:"summary,omitempty"`
}

// newResponses starts a conversation in the format of the Responses API.
func newResponses(s *Server, o ChatOptions) *responses {
	r := responsesRequest{
		Model:        o.Model,
		Instructions: o.System,
		Stream:       true,
		// The server stores no conversation, so the next request must repeat the reasoning.
		Include: []string{
			"reasoning.encrypted_content", "code_interpreter_call.outputs", "web_search_call.action.sources",
		},
	}

	if o.Effort != "" || o.Reasoning {
		r.Reasoning = &responsesReasoning{Effort: o.Effort}
		if o.Reasoning {
			r.Reasoning.Summary = "auto"
		}
	}

	for _, name := range o.Tools {
		tool := map[string]any{"type": "web_search"}
		if name == codeTool {
			tool = map[string]any{"type": "code_interpreter", "container": map[string]string{"type": "auto"}}
		}
		r.Tools = append(r.Tools, tool)
	}

	return &responses{s, r}
}

// ask implements dialogue.
func (r *responses) ask(ctx context.Context, prompt string, pictures []Picture, write func(piece) error) error {
	content := []map[string]string{{"type": "input_text", "text": prompt}}
	for _, p := range pictures {
		content = append(content, map[string]string{"type": "input_image", "image_url": p.url})
	}
	r.request.Input = append(r.request.Input, map[string]any{"role": inference.User, "content": content})

	return r.server.stream(ctx, "/v1/responses", r.request, func(data []byte) error { return r.event(data, write) })
}

// responsesEvent has the fields of events that are read.
type responsesEvent struct {
	Type, Delta, Message string
	Item                 responsesItem
	Response             struct {
		Output []json.RawMessage
		Error  struct{ Message string }
	}
}

// responsesItem has the fields of calls of built-in tools.
type responsesItem struct {
	Type, Code string
	Outputs    []struct{ Type, Logs string }
	Action     struct {
		Type, Query, URL string
		Sources          []struct{ URL string }
	}
}

// event reads one event.
func (r *responses) event(data []byte, write func(piece) error) error {
	var e responsesEvent
	if err := json.Unmarshal(data, &e); err != nil {
		return nil // an event of a later version of the API
	}

	switch e.Type {
	case "response.output_text.delta", "response.refusal.delta":
		return write(piece{text: e.Delta})
	case "response.reasoning_text.delta", "response.reasoning_summary_text.delta":
		return write(piece{reasoning: e.Delta})
	case "response.output_item.done":
		if call := e.Item.call(); call.tool != "" {
			return write(call)
		}
	case "response.completed", "response.incomplete":
		for _, item := range e.Response.Output {
			r.request.Input = append(r.request.Input, item)
		}

		return errEnded
	case "response.failed":
		return fmt.Errorf("%s: %s", r.server.shown, e.Response.Error.Message)
	case "error":
		return fmt.Errorf("%s: %s", r.server.shown, e.Message)
	}

	return nil
}

// call returns the call of a built-in tool, or an empty piece for another item.
func (i *responsesItem) call() piece {
	switch i.Type {
	case "code_interpreter_call":
		var logs strings.Builder
		for _, o := range i.Outputs {
			logs.WriteString(o.Logs)
		}

		return piece{tool: inference.PythonFunction, arguments: i.Code, output: logs.String()}
	case "web_search_call":
		if i.Action.Type == "search" {
			var found strings.Builder
			for _, s := range i.Action.Sources {
				fmt.Fprintln(&found, s.URL)
			}

			return piece{tool: inference.SearchFunction, arguments: i.Action.Query, output: found.String()}
		}

		return piece{tool: inference.OpenFunction, arguments: i.Action.URL}
	}

	return piece{}
}
