package openai

import (
	"context"
	"encoding/json"
	"net/http"

	"presswork/internal/inference"
	"presswork/internal/inference/upstream"
)

// prompt is the part of a request that a chat template turns into text.
type prompt struct {
	Model             string         `json:"model"`
	Messages          []message      `json:"messages"`
	Tools             []tool         `json:"tools,omitempty"`
	TemplateArguments map[string]any `json:"chat_template_kwargs,omitempty"`
}

// CountTokens implements inference.TokenCounter for vLLM and llama-server. It returns 0 for other kinds. Errors are
// *inference.Error or the cause of ctx.
func (c *Client) CountTokens(ctx context.Context, r *inference.Request, m *inference.Model) (int, error) {
	b := newBody(c.upstream, m, r)
	p := prompt{b.Model, b.Messages, b.Tools, b.TemplateArguments}

	switch c.upstream.Kind {
	case inference.VLLM:
		return c.countByVLLM(ctx, p)
	case inference.LlamaServer:
		return c.countByLlamaServer(ctx, p)
	}

	return 0, nil
}

// countByVLLM sends the messages to /tokenize, which applies the chat template.
func (c *Client) countByVLLM(ctx context.Context, p prompt) (int, error) {
	var answer struct {
		Count float64 `json:"count"`
	}
	err := c.askEngine(ctx, "/tokenize", p, &answer)

	return upstream.Count(answer.Count), err
}

// countByLlamaServer applies the chat template with one route and counts the tokens of its result with another.
func (c *Client) countByLlamaServer(ctx context.Context, p prompt) (int, error) {
	var applied struct {
		Prompt string `json:"prompt"`
	}
	if err := c.askEngine(ctx, "/apply-template", p, &applied); err != nil {
		return 0, err
	}

	var answer struct {
		Tokens []json.RawMessage `json:"tokens"`
	}
	text := map[string]any{"content": applied.Prompt, "add_special": true, "parse_special": true}
	err := c.askEngine(ctx, "/tokenize", text, &answer)

	return len(answer.Tokens), err
}

// askEngine sends a request to a route of the engine itself and decodes its answer.
func (c *Client) askEngine(ctx context.Context, path string, request, answer any) error {
	payload, err := json.Marshal(request)
	if err != nil {
		return err
	}

	resp, err := c.rootConn.Do(ctx, http.MethodPost, path, payload, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()

	if resp.StatusCode != http.StatusOK {
		return upstream.ResponseError(resp)
	}

	b, err := upstream.ReadWhole(ctx, resp.Body, upstream.MaxWhole)
	if err != nil {
		return err
	}

	return decodeAnswer(b, answer)
}
