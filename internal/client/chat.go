package client

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/inference/openai"
	"presswork/internal/input"
)

// ChatOptions say which model answers, and how.
type ChatOptions struct {
	// Model is the name of a model; the default is the first one that the server lists.
	Model string
	// System tells the model how to behave.
	System string
	// Effort is the level of reasoning; empty is the model's default.
	Effort string
	// Reasoning writes the reasoning to Aside.
	Reasoning bool
	// Tools are built-in tools that the model may use: names of ChatTools.
	Tools []string
	// Out gets the answers as they come.
	Out io.Writer
	// Aside gets the reasoning and the calls of tools.
	Aside io.Writer
}

// Chat is a conversation with a model. It is not safe for concurrent use.
type Chat struct {
	o        ChatOptions
	server   *Server
	engine   inference.Engine
	messages []inference.Message
}

// ChatTools returns the names of the built-in tools.
func ChatTools() []string { return []string{"code", "search"} }

func toolType(name string) string {
	if name == "code" {
		return inference.CodeInterpreter
	}

	return inference.BrowserSearch
}

// Chat begins a conversation.
func (s *Server) Chat(ctx context.Context, o ChatOptions) (*Chat, error) {
	if o.Model == "" {
		engine, err := s.engine("")
		if err != nil {
			return nil, err
		}

		models, err := engine.Models(ctx)
		if err != nil {
			return nil, s.modelError(err)
		}

		if len(models) == 0 {
			return nil, errors.New("the server has no models; `presswork models` says how to get one")
		}
		o.Model = models[0]
	}

	engine, err := s.engine(o.Model)
	if err != nil {
		return nil, err
	}

	c := &Chat{o: o, server: s, engine: engine}
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

// Model returns the name of the model that answers.
func (c *Chat) Model() string { return c.o.Model }

func (c *Chat) add(role string, parts ...inference.Part) {
	c.messages = append(c.messages, inference.Message{Role: role, Parts: parts})
}

// Ask sends a prompt with pictures and writes the answer, which ends with a line break.
func (c *Chat) Ask(ctx context.Context, prompt string, pictures ...Picture) error {
	parts := []inference.Part{{Text: prompt}}
	for _, p := range pictures {
		parts = append(parts, inference.Part{Image: &inference.Image{URL: p.url}})
	}
	c.add(inference.User, parts...)

	var answer strings.Builder
	model := &inference.Model{ID: c.o.Model, Capabilities: inference.Capabilities()}

	err := c.engine.Complete(ctx, c.request(), model, func(d *inference.Delta) error {
		if c.o.Reasoning && d.Reasoning != "" {
			if _, err := io.WriteString(c.o.Aside, d.Reasoning); err != nil {
				return err
			}
		}

		if err := writeToolCalls(c.o.Aside, d.Extra); err != nil {
			return err
		}
		answer.WriteString(d.Content)
		_, err := io.WriteString(c.o.Out, d.Content)

		return err
	})
	if answer.Len() > 0 && !strings.HasSuffix(answer.String(), "\n") {
		fmt.Fprintln(c.o.Out)
	}
	c.add(inference.Assistant, inference.Part{Text: answer.String()})

	return c.server.modelError(err)
}

// request returns the next request, which holds the whole conversation.
func (c *Chat) request() *inference.Request {
	request := &inference.Request{
		Model: c.o.Model, Messages: c.messages, Stream: true, IncludeUsage: true, ServiceTier: "auto", Admitted: true,
		ReasoningEffort: c.o.Effort, ReasoningFormat: inference.Hidden, IncludeReasoning: true,
	}
	if c.o.Reasoning {
		request.ReasoningFormat = inference.Parsed
	}

	for _, name := range c.o.Tools {
		request.Tools = append(request.Tools, inference.Tool{Type: toolType(name)})
	}

	return request
}

// writeToolCalls writes the calls of built-in tools that the server has run.
func writeToolCalls(w io.Writer, extra json.RawMessage) error {
	var fields struct {
		Executed []struct {
			Name, Arguments, Output string
		} `json:"executed_tools"`
	}
	if len(extra) == 0 || json.Unmarshal(extra, &fields) != nil {
		return nil
	}

	for _, e := range fields.Executed {
		arguments := e.Arguments

		var code struct{ Code string }
		if json.Unmarshal([]byte(e.Arguments), &code) == nil && code.Code != "" {
			arguments = code.Code
		}

		_, err := fmt.Fprintf(w, "\n[%s] %s\n%s\n", e.Name, arguments, strings.TrimRight(e.Output, "\n"))
		if err != nil {
			return err
		}
	}

	return nil
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

// maxPicture is the largest picture that is sent, in bytes.
const maxPicture = 20 << 20

// Picture is a picture of a prompt.
type Picture struct{ url string }

// ReadPicture reads a file, or refers to a picture at an http or https address. A file that is not a picture is a
// UsageError.
func ReadPicture(name string) (Picture, error) {
	if strings.HasPrefix(name, "http://") || strings.HasPrefix(name, "https://") {
		return Picture{name}, nil
	}

	data, err := input.ReadFile(name, maxPicture)
	if err != nil {
		return Picture{}, fmt.Errorf("--image %s: %w", name, err)
	}

	if err := inference.CheckImage(data); err != nil {
		return Picture{}, UsageError{fmt.Errorf("--image %s: %s", name, err.Message)}
	}

	return Picture{"data:" + http.DetectContentType(data) + ";base64," + base64.StdEncoding.EncodeToString(data)}, nil
}
