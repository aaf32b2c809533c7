package messages_test

import (
	"context"
	"testing"

	"presswork/api/messages"
	"presswork/internal/inference"
	"presswork/internal/inference/gateway"
	"presswork/internal/inference/inferencetest"
	"presswork/internal/inference/openai"
	"presswork/internal/inference/seal"
	"presswork/internal/test/wait"
)

// owner is the holder of the key in these tests.
const owner = "ann"

func sealer(t *testing.T, secret string) *seal.Sealer {
	t.Helper()

	s, err := seal.New([]byte(secret))
	if err != nil {
		t.Fatal(err)
	}

	return s
}

func parse(t *testing.T, body string) (*inference.Request, *messages.Format, error) {
	t.Helper()

	r, f, err := messages.Parse([]byte(body), messages.Options{
		CheckModel: func(string) error { return nil }, Owner: owner, Sealer: sealer(t, "0123456789abcdef"),
	})
	if err == nil {
		f.Model, f.RequestID, f.Tokens = r.Model, "req_1", 7
	}

	return r, f, err
}

// answer is what a model that plays a scenario sends for a request, in chunks.
type answer struct {
	format *messages.Format
	chunks []*inference.Chunk
	err    error
}

// ask runs a request with the scripted model that its body names.
func ask(t *testing.T, base, body string) answer {
	t.Helper()

	r, format, err := parse(t, body)
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	c := inference.NewCatalogue([]inference.Model{{
		ID: r.Model,
		Capabilities: []string{
			inference.CanChat, inference.CanTools, inference.CanVision, inference.CanReason,
		},
		Upstreams: []inference.Upstream{{Name: "scripted", BaseURL: base}},
	}})
	g := gateway.New(gateway.Options{
		Catalogue: func() *inference.Catalogue { return c }, Open: openai.New, Tools: toolbox{},
	})

	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()
	a := answer{format: format}

	_, a.err = g.Complete(ctx, r, func(chunk *inference.Chunk) error {
		a.chunks = append(a.chunks, chunk)
		return nil
	})

	return a
}

// events returns the stream of an answer.
func (a answer) events() string {
	w := a.format.Events("call")

	out := w.Begin(nil)
	for _, chunk := range a.chunks {
		out = w.Append(out, chunk)
	}

	if a.err != nil {
		return string(w.Fail(out, inference.AsError(a.err)))
	}

	return string(w.End(out))
}

// whole returns the body of an answer that is sent whole.
func (a answer) whole() string {
	c := a.format.Collector("call")
	for _, chunk := range a.chunks {
		c.Add(&inference.Frame{Chunk: chunk})
	}

	return string(c.Append(nil))
}

// toolbox has one page and one program.
type toolbox struct{}

func (b toolbox) Open(context.Context, *inference.Request, []string) (inference.ToolSession, error) {
	return b, nil
}

func (toolbox) Call(_ context.Context, c inference.BuiltinCall) (inference.ToolResult, error) {
	const page = "https://paper.example/page"

	switch c.Name {
	case inference.PythonFunction:
		return inference.ToolResult{Output: "42\n"}, nil
	case inference.SearchFunction:
		return inference.ToolResult{
			Output: "[0] Paper",
			Search: []inference.SearchResult{{Title: "Paper", URL: page}},
		}, nil
	}

	return inference.ToolResult{
		Output: "L1: Cai Lun made paper.", Pages: []inference.PageResult{{Title: "Paper", URL: page}},
	}, nil
}

func (toolbox) Close() error { return nil }

func start(t *testing.T) string {
	t.Helper()
	_, base := inferencetest.Start(t)

	return base
}
