package openai_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"presswork/internal/inference"
	"presswork/internal/inference/gateway"
	"presswork/internal/inference/inferencetest"
	"presswork/internal/inference/openai"
	"presswork/internal/inference/openai/wire"
	"presswork/internal/test/wait"
)

// model returns a model that plays a scenario of inferencetest, with one upstream of the given kind.
func model(scenario, kind, base string) inference.Model {
	return inference.Model{
		ID:           scenario,
		Capabilities: []string{inference.CanChat, inference.CanTools, inference.CanVision, inference.CanReason},
		Upstreams:    []inference.Upstream{{Name: "scripted", Kind: kind, BaseURL: base}},
	}
}

// newGateway returns a gateway with these models and no built-in tools.
func newGateway(models ...inference.Model) *gateway.Gateway { return newGatewayWith(nil, models...) }

// newGatewayWith returns a gateway with these models and built-in tools.
func newGatewayWith(tools inference.Toolbox, models ...inference.Model) *gateway.Gateway {
	c := inference.NewCatalogue(models)

	return gateway.New(
		gateway.Options{Catalogue: func() *inference.Catalogue { return c }, Open: openai.New, Tools: tools},
	)
}

// chat returns a request of the model with the message "Hi". fields are further JSON fields, such as `"n":2`.
func chat(t *testing.T, model string, fields ...string) *inference.Request {
	t.Helper()
	fields = append([]string{fmt.Sprintf(`"model":%q`, model)}, fields...)

	return parse(t, `{`+strings.Join(fields, ",")+`,"messages":[{"role":"user","content":"Hi"}]}`)
}

// parse returns the request of a body, which must be valid.
func parse(t *testing.T, body string) *inference.Request {
	t.Helper()

	r, err := wire.ParseRequest([]byte(body), wire.ParseOptions{})
	if err != nil {
		t.Fatalf("%s: %v", body, err)
	}

	return r
}

// answer is a response as a client reads it.
type answer struct {
	Choices []struct {
		Message struct {
			Content   *string `json:"content"`
			Reasoning string  `json:"reasoning"`
			ToolCalls []struct {
				ID       string `json:"id"`
				Function struct {
					Name      string `json:"name"`
					Arguments string `json:"arguments"`
				} `json:"function"`
			} `json:"tool_calls"`
			ExecutedTools []executed `json:"executed_tools"`
			Annotations   []struct {
				Type     string `json:"type"`
				Citation struct {
					Start int    `json:"start_index"`
					End   int    `json:"end_index"`
					URL   string `json:"url"`
				} `json:"url_citation"`
			} `json:"annotations"`
		} `json:"message"`
		FinishReason string `json:"finish_reason"`
	} `json:"choices"`
	Usage map[string]any `json:"usage"`
}

// executed is a call of a built-in tool as a client reads it.
type executed struct {
	Index     int    `json:"index"`
	Type      string `json:"type"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Output    string `json:"output"`
}

// content returns the text of the answer, or "<null>" if there is none.
func (a answer) content() string {
	if c := a.Choices[0].Message.Content; c != nil {
		return *c
	}

	return "<null>"
}

// complete runs a request and collects its response.
func complete(t *testing.T, g *gateway.Gateway, r *inference.Request) (answer, inference.Result, error) {
	t.Helper()

	ctx, cancel := context.WithTimeout(t.Context(), wait.Patience)
	defer cancel()
	c := wire.NewCollector(wire.Head{
		ID:          "chatcmpl-1",
		RequestID:   "req_1",
		Model:       r.Model,
		Vendor:      "presswork",
		ServiceTier: "on_demand",
		Created:     time.Unix(1770770815, 0),
	})
	chunks, finished := 0, false
	result, err := g.Complete(ctx, r, func(chunk *inference.Chunk) error {
		if chunk.First != (chunks == 0) {
			t.Errorf("chunk %d has First %v, want %v", chunks, chunk.First, chunks == 0)
		}

		if finished {
			t.Errorf("got the chunk %+v after the last one", chunk)
		}
		chunks++
		finished = chunk.Finish != ""
		c.Add(&inference.Frame{Chunk: chunk})

		return nil
	})
	var a answer

	if err == nil {
		body := c.Append(nil)
		if uerr := json.Unmarshal(body, &a); uerr != nil {
			t.Fatalf("the response is not JSON: %v: %s", uerr, body)
		}

		if len(a.Choices) != 1 {
			t.Fatalf("got %d choices, want one: %s", len(a.Choices), body)
		}
	}

	return a, result, err
}

// startServer starts a scripted model server and returns its base URL.
func startServer(t *testing.T) string {
	_, base := inferencetest.Start(t)
	return base
}
