package openai

import (
	"context"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"presswork/internal/inference"
)

// Encode shows tests what an upstream is sent.
func Encode(u inference.Upstream, m *inference.Model, r *inference.Request) ([]byte, error) {
	return encode(u, m, r)
}

// Decode shows tests what the last of a stream's chunks becomes.
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

// WithText returns a chunk with another text, for the decoder's memory of chunks alone:
// nil when it would not remember the chunk.
func WithText(chunk []byte, text string) []byte {
	d := decoder{choices: 1}
	if _, err := d.decode(chunk); err != nil || len(d.template.before) == 0 {
		return nil
	}

	return slices.Concat(d.template.before, []byte(text), d.template.after)
}

// DecodeCost reads a chunk as one of many of a stream, to be measured.
func DecodeCost(chunk []byte) func() string {
	d := decoder{choices: 1}

	return func() string {
		deltas, _ := d.decode(chunk)
		return deltas[0].Content
	}
}

// Kinds lists the kinds of upstream with a row in the table of engines.
func Kinds() []string { return slices.Sorted(maps.Keys(engines)) }

// Stream reads a stream of one answer, and lists its deltas.
func Stream(ctx context.Context, body string) (deltas []inference.Delta, err error) {
	err = readStream(ctx, io.NopCloser(strings.NewReader(body)), 1, func(d *inference.Delta) error {
		deltas = append(deltas, *d)
		return nil
	})

	return deltas, err
}

// RefusedTimes makes a client believe that its upstream refused to give times that long ago.
func RefusedTimes(e inference.Engine, ago time.Duration) {
	e.(*Client).untimed.Store(time.Now().Add(untimedFor - ago).UnixNano())
}

// Events lists the data of every event that has some.
func Events(r io.Reader) (events []string, err error) {
	e := newEventReader(r)
	for {
		data, err := e.next()
		if err != nil {
			return events, err
		}

		if len(data) > 0 {
			events = append(events, string(data))
		}
	}
}

// AppendString shows tests how a string is written.
func AppendString(dst []byte, s string) []byte { return appendString(dst, s) }
