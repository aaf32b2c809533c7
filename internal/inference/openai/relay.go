package openai

import (
	"bytes"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strings"

	"presswork/internal/inference"
	"presswork/internal/inference/jsonbody"
	"presswork/internal/inference/upstream"
)

// relayPaths are the routes of upstreams by the capability that a request needs.
var relayPaths = map[string]string{
	inference.CanDraw:     "/images/generations",
	inference.CanModerate: "/moderations",
}

// ParseRelay reads the body of a request that is passed on (OpenAI: images/generations, moderations). capability is as
// in inference.Relay. Errors are *inference.Error.
func ParseRelay(body []byte, capability string) (_ *inference.Relay, err error) {
	o := jsonbody.Parse(body, &err)
	if err != nil {
		return nil, err
	}
	r := &inference.Relay{Model: o.Str("model"), Capability: capability, Fields: maps.Clone(o.Fields)}
	delete(r.Fields, "model")

	if capability == inference.CanDraw {
		o.Required("prompt")
		o.Integer("n", 1, 10)

		if o.IsTrue("stream") {
			o.Failf("stream", "it is not supported: images are sent when they are complete; leave it out")
		}

		return r, err
	}

	if !o.Has("input") {
		o.Failf("input", "property 'input' is missing")
	}

	if v := o.Raw("input"); v != nil && v[0] == '[' {
		o.List("input", func(item json.RawMessage, path string) { checkModerated(item, path, o.Err) })
	}

	return r, err
}

// checkModerated rejects an image that the upstream would load: its address was not checked by the guard.
func checkModerated(item json.RawMessage, path string, err *error) {
	if item[0] == '"' {
		return
	}
	o := jsonbody.New(item, path+".", err)

	if !o.Has("image_url") {
		return
	}
	image := o.Object("image_url")

	if url := image.Required("url"); !o.Failed() && !strings.HasPrefix(url, "data:") {
		image.Failf("url", "must be a data URI, such as data:image/png;base64,…")
	}
}

// Relay passes a request on with the upstream's name of the model, and returns the whole answer.
func (c *Client) Relay(ctx context.Context, r *inference.Relay) (*inference.Relayed, error) {
	model, err := json.Marshal(c.upstream.Model)
	if err != nil {
		return nil, err
	}
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

// RelayCollector joins the pieces of the answer to a relayed request.
type RelayCollector struct{ body []byte }

// Add adds the piece of the next frame.
func (c *RelayCollector) Add(f *inference.Frame) {
	if f.Relayed != nil {
		c.body = append(c.body, f.Relayed.Data...)
	}
}

// Append appends the answer as the upstream sent it to dst.
func (c *RelayCollector) Append(dst []byte) []byte { return slices.Concat(dst, c.body) }

// Failed returns e.
func (*RelayCollector) Failed(e *inference.Error) *inference.Error { return e }
