package client

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"presswork/internal/inference"
	"presswork/internal/input"
)

// ChatOptions say which model answers, and how.
type ChatOptions struct {
	// API is the wire format of the conversation, one of ChatAPIs. Default: the first.
	API string
	// Model is the name of a model. Default: the first one that the server lists.
	Model string
	// System tells the model how to behave.
	System string
	// Effort is the level of reasoning. Default: that of the model.
	Effort string
	// Reasoning writes the reasoning to Aside.
	Reasoning bool
	// Tools are built-in tools that the model may use: names of ChatTools.
	Tools []string
	// Out receives the answers as they arrive. Mandatory.
	Out io.Writer
	// Aside receives the reasoning and the calls of tools. Mandatory.
	Aside io.Writer
}

// Chat is a conversation with a model. It is not safe for concurrent use.
type Chat struct {
	o        ChatOptions
	dialogue dialogue
}

// dialogue is a conversation in one wire format.
type dialogue interface {
	// ask adds a prompt to the conversation, sends all of it, and adds the answer. It calls write for each piece of
	// the answer.
	ask(ctx context.Context, prompt string, pictures []Picture, write func(piece) error) error
}

// piece is a part of an answer: text, reasoning, or a call of a built-in tool that the server has run.
type piece struct {
	text, reasoning string
	// tool is the name of the tool; "" if the piece is no call.
	tool, arguments, output string
}

// ChatAPIs returns the wire formats of conversations: chat completions, OpenAI's Responses, Anthropic's Messages.
func ChatAPIs() []string { return []string{"chat", "responses", "messages"} }

// ChatTools returns the names of the built-in tools.
func ChatTools() []string { return []string{codeTool, "search"} }

// codeTool is the name of the tool that runs programs.
const codeTool = "code"

// Chat begins a conversation with ChatOptions.Model, or with the first model of the server. It sends no prompt. Errors
// say which option is invalid, or why the models cannot be listed.
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

	switch o.API {
	case "responses":
		return &Chat{o, newResponses(s, o)}, nil
	case "messages":
		return &Chat{o, newMessages(s, o)}, nil
	}

	d, err := newCompletions(s, o)

	return &Chat{o, d}, err
}

// Model returns the name of the model that answers.
func (c *Chat) Model() string { return c.o.Model }

// Ask sends a prompt with pictures and writes the answer, which ends with a line break. Errors name the server and its
// message, or are those of Out and Aside.
func (c *Chat) Ask(ctx context.Context, prompt string, pictures ...Picture) error {
	open := false // whether the last line of the answer lacks its end

	err := c.dialogue.ask(ctx, prompt, pictures, func(p piece) error {
		if c.o.Reasoning && p.reasoning != "" {
			if _, err := io.WriteString(c.o.Aside, p.reasoning); err != nil {
				return err
			}
		}

		if p.tool != "" {
			_, err := fmt.Fprintf(c.o.Aside, "\n[%s] %s\n%s\n", p.tool, p.arguments, strings.TrimRight(p.output, "\n"))
			if err != nil {
				return err
			}
		}

		if p.text == "" {
			return nil
		}
		open = !strings.HasSuffix(p.text, "\n")
		_, err := io.WriteString(c.o.Out, p.text)

		return err
	})
	if open {
		fmt.Fprintln(c.o.Out)
	}

	return err
}

// maxPicture is the largest picture that is sent, in bytes.
const maxPicture = 20 << 20

// Picture is a picture of a prompt.
type Picture struct{ url string }

// ReadPicture reads a file of at most 20 MiB, or refers to a picture at an http or https address. A file that is not a
// picture is a UsageError.
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
