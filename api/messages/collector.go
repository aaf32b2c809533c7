package messages

import "presswork/internal/inference"

// Collector gathers an answer that is sent whole. It is not safe for concurrent use.
type Collector struct {
	w *Writer
	// events are those that a stream would have. They are not sent.
	events []byte
}

// Collector returns the collector of the answer to a call.
func (f *Format) Collector(call string) *Collector { return &Collector{w: f.Events(call)} }

// Add adds the chunk of the next frame.
func (c *Collector) Add(f *inference.Frame) {
	if f.Chunk != nil {
		c.events = c.w.Append(c.events[:0], f.Chunk)
	}
}

// Append appends the message, a JSON object, to dst.
func (c *Collector) Append(dst []byte) []byte {
	c.w.closeAll(nil)
	return c.w.appendMessage(dst, c.w.blocks)
}

// Failed returns e.
func (c *Collector) Failed(e *inference.Error) *inference.Error { return e }
