package openai

import (
	"io"

	"presswork/internal/inference"
)

// Encode shows tests what an upstream is sent.
func Encode(u inference.Upstream, m *inference.Model, r *inference.Request) ([]byte, error) {
	return encode(u, m, r)
}

// Decode shows tests what a chunk becomes.
func Decode(chunk []byte) inference.Delta {
	d := decoder{choices: 1}
	deltas, err := d.decode(chunk)
	if err != nil {
		return inference.Delta{}
	}
	return deltas[0]
}

// Events lists the data of every event.
func Events(r io.Reader) (events []string, err error) {
	e := newEventReader(r)
	for {
		data, err := e.next()
		if err != nil {
			return events, err
		}
		events = append(events, string(data))
	}
}

// AppendString shows tests how a string is written.
func AppendString(dst []byte, s string) []byte { return appendString(dst, s) }
