package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"

	"presswork/internal/inference"
	"presswork/internal/inference/upstream"
)

// relayPaths are the routes of upstreams by the capability that a request needs.
var relayPaths = map[string]string{
	inference.CanDraw:     "/images/generations",
	inference.CanModerate: "/moderations",
}

// Relay passes a request on with the upstream's name of the model, and returns the whole answer. Errors are
// *inference.Error or the cause of ctx.
func (c *Client) Relay(ctx context.Context, r *inference.Relay) (*inference.Relayed, error) {
	model, err := json.Marshal(c.upstream.Model)
	if err != nil {
		return nil, err
	}
	// The gateway may send r to another upstream, which has another name for the model.
	fields := maps.Clone(r.Fields)
	fields["model"] = model

	payload, err := json.Marshal(fields)
	if err != nil {
		return nil, err
	}

	resp, err := c.conn.Do(ctx, http.MethodPost, relayPaths[r.Capability], payload, nil)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()

	if resp.StatusCode != http.StatusOK {
		return nil, upstream.ResponseError(resp)
	}

	b, err := upstream.ReadWhole(ctx, resp.Body, inference.MaxRelayed)
	if err != nil {
		return nil, err
	}

	return readRelayed(b)
}

// readRelayed reads the usage in the answer to a relayed request.
func readRelayed(b []byte) (*inference.Relayed, error) {
	var answer struct {
		Error json.RawMessage `json:"error"`
		Usage struct {
			Input  float64 `json:"input_tokens"`
			Output float64 `json:"output_tokens"`
		} `json:"usage"`
	}

	if upstream.DecodeLenient(b, &answer) != nil || bytes.TrimSpace(b)[0] != '{' {
		return nil, upstream.Unreadable("it sent what is not a JSON object")
	}

	if upstream.IsSet(answer.Error) {
		return nil, upstream.ErrorOf(http.StatusBadGateway, b)
	}

	return &inference.Relayed{
		Data:             b,
		PromptTokens:     upstream.Count(answer.Usage.Input),
		CompletionTokens: upstream.Count(answer.Usage.Output),
	}, nil
}
