package wire

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"presswork/internal/inference"
	"presswork/internal/inference/jsonbody"
)

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
