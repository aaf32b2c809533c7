package openai

import (
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"presswork/internal/inference"
	"presswork/internal/inference/upstream"
)

// Encode returns the body that an upstream receives for a request.
func Encode(u inference.Upstream, m *inference.Model, r *inference.Request) ([]byte, error) {
	return encode(u, m, r)
}

// Decode decodes the chunks of a stream. It returns the delta of the last one, or an empty delta after an error.
func Decode(chunks ...[]byte) (last inference.Delta) {
	d := decoder{choices: 1}
	for _, chunk := range chunks {
		deltas, err := d.decode(chunk)
		if err != nil {
			return inference.Delta{}
		}
		last = deltas[0]
	}

	return last
}

// WithText returns the chunk with another text. It returns nil if the decoder does not remember the chunk as a
// template for similar ones.
func WithText(chunk []byte, text string) []byte {
	d := decoder{choices: 1}
	if _, err := d.decode(chunk); err != nil || len(d.template.before) == 0 {
		return nil
	}

	return slices.Concat(d.template.before, []byte(text), d.template.after)
}

// NewDecodeLoop returns a function that decodes the same chunk again and returns its content, for benchmarks.
func NewDecodeLoop(chunk []byte) func() string {
	d := decoder{choices: 1}

	return func() string {
		deltas, _ := d.decode(chunk)
		return deltas[0].Content
	}
}

// Kinds lists the kinds of upstream with a row in the table of engines.
func Kinds() []string { return slices.Sorted(maps.Keys(engines)) }

// Stream reads a stream of one answer and returns its deltas.
func Stream(ctx context.Context, body string) (deltas []inference.Delta, err error) {
	err = readStream(ctx, io.NopCloser(strings.NewReader(body)), 1, func(d *inference.Delta) error {
		deltas = append(deltas, *d)
		return nil
	})

	return deltas, err
}

// SetTimesRejected sets how long ago the upstream of a client has rejected a request for times.
func SetTimesRejected(e inference.Engine, ago time.Duration) {
	e.(*Client).untimedUntil.Store(time.Now().Add(untimedFor - ago).UnixNano())
}

// Events returns the data of the events of a stream, and the error that ended it. Events without data are left out.
func Events(r io.Reader) (events []string, err error) {
	e := upstream.NewEventReader(r)
	for {
		data, err := e.Next()
		if err != nil {
			return events, err
		}

		if len(data) > 0 {
			events = append(events, string(data))
		}
	}
}
