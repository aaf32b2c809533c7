package openai

import (
	"presswork/internal/inference"
	"presswork/internal/inference/openai/wire"
)

// format is the form of the answer to one call. id is that of the call.
type format interface {
	// collector returns what gathers an answer that is sent whole.
	collector(id string) collector
	// events returns the writer of an answer that is sent as a stream.
	events(id string) events
}

// collector gathers the frames of an answer that is sent whole.
type collector interface {
	Add(f *inference.Frame)
	// Append appends the body of the answer to dst.
	Append(dst []byte) []byte
	// Failed returns e with what the answer had before it.
	Failed(e *inference.Error) *inference.Error
}

// events writes an answer as server-sent events. Each method appends to dst.
type events interface {
	// Begin writes what precedes the first chunk.
	Begin(dst []byte) []byte
	// Append writes the events of a chunk.
	Append(dst []byte, c *inference.Chunk) []byte
	// Idle writes what keeps a stream open that has no chunk.
	Idle(dst []byte) []byte
	// End writes the end of a complete answer, Fail that of an answer that fails.
	End(dst []byte) []byte
	Fail(dst []byte, e *inference.Error) []byte
}

// chatFormat is the format of chat and text completions.
type chatFormat struct{ head wire.Head }

func (f chatFormat) collector(id string) collector {
	f.head.SetID(id)
	return wire.NewCollector(f.head)
}

func (f chatFormat) events(id string) events {
	f.head.SetID(id)
	return wire.NewWriter(f.head)
}

// wholeFormat is the format of an answer that is always sent whole.
type wholeFormat struct{ answer collector }

func (f wholeFormat) collector(string) collector { return f.answer }

// events returns nil: the client cannot ask for a stream.
func (wholeFormat) events(string) events { return nil }
