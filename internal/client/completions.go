package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/inference/openai"
)

// completions is a conversation in chat completions.
type completions struct {
	o        ChatOptions
	server   *Server
	engine   inference.Engine
	messages []inference.Message
}

// newCompletions starts a conversation in the format of chat completions.
func newCompletions(s *Server, o ChatOptions) (*completions, error) {
	engine, err := s.engine(o.Model)
	if err != nil {
		return nil, err
	}

	c := &completions{o: o, server: s, engine: engine}
	if o.System != "" {
		c.add(inference.System, inference.Part{Text: o.System})
	}

	return c, nil
}

// engine returns a client of the server's /v1 for a model. Errors: UsageError.
func (s *Server) engine(model string) (inference.Engine, error) {
	engine, err := openai.New(inference.Upstream{
		Name: "presswork", Kind: inference.Plain, BaseURL: s.base + "/v1", APIKey: s.key, Model: model,
	})
	if err != nil {
		return nil, UsageError{fmt.Errorf("--server: %w", err)}
	}

	return engine, nil
}

// add adds a message to the conversation.
func (c *completions) add(role string, parts ...inference.Part) {
	c.messages = append(c.messages, inference.Message{Role: role, Parts: parts})
}

// ask implements dialogue.
func (c *completions) ask(ctx context.Context, prompt string, pictures []Picture, write func(piece) error) error {
	parts := []inference.Part{{Text: prompt}}
	for _, p := range pictures {
		parts = append(parts, inference.Part{Image: &inference.Image{URL: p.url}})
	}
	c.add(inference.User, parts...)

	var answer strings.Builder
	// The server checks the capabilities of the real model.
	model := &inference.Model{ID: c.o.Model, Capabilities: inference.Capabilities()}

	err := c.engine.Complete(ctx, c.request(), model, func(d *inference.Delta) error {
		for _, call := range executedIn(d.Extra) {
			if err := write(call); err != nil {
				return err
			}
		}
		answer.WriteString(d.Content)

		return write(piece{text: d.Content, reasoning: d.Reasoning})
	})
	c.add(inference.Assistant, inference.Part{Text: answer.String()})

	return c.server.modelError(err)
}

// request returns the next request, which holds the whole conversation.
func (c *completions) request() *inference.Request {
	request := &inference.Request{
		Model: c.o.Model, Messages: c.messages, Stream: true, IncludeUsage: true, ServiceTier: "auto", Admitted: true,
		ReasoningEffort: c.o.Effort, ReasoningFormat: inference.Hidden, IncludeReasoning: true,
	}
	if c.o.Reasoning {
		request.ReasoningFormat = inference.Parsed
	}

	for _, name := range c.o.Tools {
		kind := inference.BrowserSearch
		if name == codeTool {
			kind = inference.CodeInterpreter
		}
		request.Tools = append(request.Tools, inference.Tool{Type: kind})
	}

	return request
}

// executedIn returns the calls of built-in tools in the extra fields of a chunk.
func executedIn(extra json.RawMessage) (calls []piece) {
	var fields struct {
		Executed []struct {
			Name, Arguments, Output string
		} `json:"executed_tools"`
	}
	if len(extra) == 0 || json.Unmarshal(extra, &fields) != nil {
		return nil
	}

	for _, e := range fields.Executed {
		calls = append(calls, piece{tool: e.Name, arguments: programIn(e.Arguments), output: e.Output})
	}

	return calls
}

// programIn returns the program in the arguments of a call, or the arguments if they have none.
func programIn(arguments string) string {
	var code struct{ Code string }
	if json.Unmarshal([]byte(arguments), &code) == nil && code.Code != "" {
		return code.Code
	}

	return arguments
}

// modelError shortens an error of the server to its message, with the address of the server.
func (s *Server) modelError(err error) error {
	switch fault.CodeOf(err) {
	case "":
		return nil
	case fault.Internal:
		return err // an interruption, or an error of this machine
	case inference.UpstreamUnavailable:
		return fmt.Errorf("%s: %s (`presswork serve` starts one on this machine)", s.shown,
			inference.AsError(err).Message)
	}

	if errors.Is(err, inference.ErrKeyRefused) {
		if s.key == "" {
			return s.keyError("the server requires an API key")
		}

		return s.keyError("the API key is not valid, or does not allow this model")
	}

	return fmt.Errorf("%s: %s", s.shown, inference.AsError(err).Message)
}
