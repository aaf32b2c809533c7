// Package formattest answers requests with the scripted model and writes the answers in a wire format. Several
// formats are thus tested with the same answers: calls, reasoning, failures.
package formattest

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"

	"presswork/internal/inference"
	"presswork/internal/inference/gateway"
	"presswork/internal/inference/openai"
	"presswork/internal/test/wait"
)

// Writer writes an answer as a stream, as the writers of api/messages and api/responses do.
type Writer interface {
	Begin(dst []byte) []byte
	Append(dst []byte, c *inference.Chunk) []byte
	End(dst []byte) []byte
	Fail(dst []byte, e *inference.Error) []byte
}

// Collector gathers an answer that is sent whole.
type Collector interface {
	Add(f *inference.Frame)
	Append(dst []byte) []byte
}

// Answer sends a request to the scripted model that it names, on the server at base. It returns the answer as a stream
// and as a whole. If the model fails, the whole answer is empty.
func Answer(t *testing.T, base string, r *inference.Request, w Writer, c Collector) (stream, whole string) {
	t.Helper()
	catalogue := inference.NewCatalogue([]inference.Model{{
		ID: r.Model,
		Capabilities: []string{
			inference.CanChat, inference.CanTools, inference.CanVision, inference.CanReason,
			inference.CanLogprobs, inference.CanChoices,
		},
		Upstreams: []inference.Upstream{{Name: "scripted", BaseURL: base}},
	}})
	g := gateway.New(gateway.Options{
		Catalogue: func() *inference.Catalogue { return catalogue }, Open: openai.New, Tools: toolbox{},
		Servers: servers{},
	})

	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()
	out := w.Begin(nil)

	_, err := g.Complete(ctx, r, func(chunk *inference.Chunk) error {
		out = w.Append(out, chunk)
		c.Add(&inference.Frame{Chunk: chunk})

		return nil
	})
	if err != nil {
		return string(w.Fail(out, inference.AsError(err))), ""
	}

	return string(w.End(out)), string(c.Append(nil))
}

// toolbox returns the same result for each call of a tool.
type toolbox struct{}

// Open returns the toolbox itself as a session.
func (b toolbox) Open(context.Context, *inference.Request, []string) (inference.ToolSession, error) {
	return b, nil
}

// Call returns the same result for each call of a function.
func (toolbox) Call(_ context.Context, c inference.BuiltinCall) (inference.ToolResult, error) {
	const page = "https://paper.example/page"

	switch c.Name {
	case inference.PythonFunction:
		return inference.ToolResult{Output: "42\n", Code: []inference.CodeResult{{PNG: "iVBORw0KGgo="}}}, nil
	case inference.SearchFunction:
		return inference.ToolResult{
			Output: "[0] Paper",
			Search: []inference.SearchResult{{Title: "Paper", URL: page}},
		}, nil
	}

	return inference.ToolResult{
		Output: "L1: Cai Lun made paper.", Pages: []inference.PageResult{{Title: "Paper", URL: page}},
		Origins: []inference.Origin{{Cursor: 1, First: 0, Last: 9, URL: page, Title: "Paper"}},
	}, nil
}

func (toolbox) Close() error { return nil }

// servers has MCP servers with two tools: read changes nothing, and write fails. The server with the label "down" does
// not answer.
type servers struct{}

func (servers) Open(s *inference.ToolServer) inference.ServerSession { return session{s.Label} }

type session struct{ label string }

func (s session) List(context.Context) ([]inference.ServerTool, error) {
	if s.label == "down" {
		return nil, inference.Errorf(http.StatusFailedDependency, inference.ToolServerFailed, "the server is down")
	}
	object := json.RawMessage(`{"type":"object"}`)

	return []inference.ServerTool{
		{Name: "read", Description: "Reads a file.", Schema: object, ReadOnly: true}, {Name: "write", Schema: object},
	}, nil
}

func (session) Call(_ context.Context, tool, _ string) (inference.ToolResult, error) {
	if tool == "write" {
		return inference.ToolResult{Output: "the disk is full", Failed: true}, nil
	}

	return inference.ToolResult{Output: "Cai Lun made paper."}, nil
}

func (session) Close() error { return nil }
