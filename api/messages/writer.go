package messages

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"presswork/internal/inference"
	"presswork/internal/inference/jsonbody"
)

// Writer writes one answer as server-sent events. It is not safe for concurrent use.
type Writer struct {
	format *Format
	// id is the part of all ids that is the same for every answer to a call.
	id string
	// blocks are those of the answer, of which the first written ones were written. calls are the client's calls by
	// their index.
	blocks, calls []*block
	written       int
	// texts counts the blocks of text, searches and fetches the calls of server tools.
	texts, searches, fetches int
	// started is set once the first event was written.
	started bool

	// finish is the reason for the end, "" before it. stop is the stop sequence that ended the answer.
	finish, stop string
	// usage is nil until the chunk that has it.
	usage *inference.Usage
}

// Events returns the writer of the answer to a call. call is the id of the call: a repeated answer has the same block
// ids.
func (f *Format) Events(call string) *Writer {
	sum := sha256.Sum256([]byte(call))
	return &Writer{format: f, id: hex.EncodeToString(sum[:12])}
}

// Begin appends nothing: the first event names the model that answers, which the first chunk has.
func (w *Writer) Begin(dst []byte) []byte { return dst }

// Idle appends the event that shows clients that the answer goes on.
func (w *Writer) Idle(dst []byte) []byte {
	return append(append(w.start(dst), "event: ping\ndata: {\"type\":\"ping\""...), eventEnd...)
}

// start appends the first event, once.
func (w *Writer) start(dst []byte) []byte {
	if w.started {
		return dst
	}
	w.started = true
	dst = append(beginEvent(dst, "message_start"), `,"message":`...)

	return append(w.appendMessage(dst, nil), eventEnd...)
}

// Append appends the events of a chunk. It ignores all answers but the first, because the API has only one.
func (w *Writer) Append(dst []byte, c *inference.Chunk) []byte {
	if c.Choice != 0 {
		return dst
	}

	if c.First && c.Model != "" {
		w.format.Model = c.Model
	}
	w.addText(thoughtBlock, c.Reasoning)

	if c.Thought != nil {
		w.addThought(c.Thought)
	}
	refusal, cited := readExtra(c.Extra)
	w.addText(textBlock, c.Content+refusal)
	w.addCited(cited)

	for _, call := range c.ToolCalls {
		w.addCall(call)
	}

	for i := range c.Executed {
		w.addExecuted(&c.Executed[i])
	}

	if c.Finish != "" {
		w.finish, w.stop = c.Finish, c.StopSequence
	}

	if c.Usage != nil {
		w.usage = c.Usage
	}

	return w.advance(w.start(dst))
}

// End appends the last events of a complete answer.
func (w *Writer) End(dst []byte) []byte {
	dst = w.closeAll(w.start(dst))
	dst = append(beginEvent(dst, "message_delta"), `,"delta":{"stop_reason":`...)
	dst = append(w.appendStop(dst), `},"usage":`...)
	dst = append(w.appendUsage(dst), eventEnd...)

	return append(beginEvent(dst, "message_stop"), eventEnd...)
}

// Fail appends the last event of an answer that fails.
func (w *Writer) Fail(dst []byte, e *inference.Error) []byte {
	dst = append(dst, "event: error\ndata: "...)
	return append(AppendError(dst, e, w.format.RequestID), "\n\n"...)
}

// addText adds a piece to the last block if it is of this kind, else to a new one.
func (w *Writer) addText(kind, text string) {
	if text == "" {
		return
	}

	var b *block
	if n := len(w.blocks); n > 0 && w.blocks[n-1].kind == kind && !w.blocks[n-1].done {
		b = w.blocks[n-1]
	} else {
		b = w.newBlock(kind)

		if kind == thoughtBlock || w.texts > 0 {
			text = strings.TrimPrefix(text, "\n\n") // the gateway separates the texts of rounds
		}

		if kind == textBlock {
			w.texts++
		}
	}
	b.text = append(b.text, text...)
}

// addCall adds a piece of a call. Pieces of several calls may alternate.
func (w *Writer) addCall(d inference.ToolDelta) {
	if d.Index == len(w.calls) {
		b := w.newBlock(callBlock)
		b.id, b.name = d.ID, w.format.original(d.Name)
		w.calls = append(w.calls, b)
	}

	if d.Index < len(w.calls) {
		b := w.calls[d.Index]
		b.text = append(b.text, d.Arguments...)
	}
}

// newBlock adds an open block. It ends a text or a thought before it.
func (w *Writer) newBlock(kind string) *block {
	if n := len(w.blocks); n > 0 && w.blocks[n-1].kind != callBlock {
		w.blocks[n-1].done = true
	}
	b := &block{kind: kind}
	w.blocks = append(w.blocks, b)

	return b
}

// closeAll ends the open blocks and appends their events.
func (w *Writer) closeAll(dst []byte) []byte {
	for _, b := range w.blocks {
		b.done = true
	}

	return w.advance(dst)
}

// advance appends the events about the blocks. Clients expect one open block at a time, so a block waits until the ones
// before it are done. Only parallel calls wait.
func (w *Writer) advance(dst []byte) []byte {
	for ; w.written < len(w.blocks); w.written++ {
		b := w.blocks[w.written]
		if !b.begun {
			dst, b.begun = b.appendStart(dst, w.written), true
		}

		if delta := deltas[b.kind]; b.sent < len(b.text) && (b.kind != thoughtBlock || !w.format.omit) {
			dst = appendDelta(dst, w.written, delta[0], delta[1], string(b.text[b.sent:]))
			b.sent = len(b.text)
		}

		dst = b.appendCited(dst, w.written)

		if !b.done {
			return dst
		}

		if b.kind == thoughtBlock {
			b.signature = w.sign(string(b.text), b.thought)
			dst = appendDelta(dst, w.written, "signature_delta", "signature", b.signature)
		}
		dst = append(appendIndex(dst, "content_block_stop", w.written), eventEnd...)
	}

	return dst
}

// appendString and appendStringOrNull are short for the functions of package jsonbody.
func appendString(dst []byte, s string) []byte       { return jsonbody.AppendString(dst, s) }
func appendStringOrNull(dst []byte, s string) []byte { return jsonbody.AppendStringOrNull(dst, s) }
