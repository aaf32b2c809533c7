package messages

import (
	"encoding/json"
	"strconv"

	"presswork/internal/inference"
	"presswork/internal/inference/jsonbody"
)

// block is a block of an answer.
type block struct {
	// kind is one of the types of blocks, or the type of a result of a server tool.
	kind string
	// text is the text, the thought or the input of a call so far. sent is how many of its bytes were written.
	text []byte
	sent int
	// begun means that the start of the block was written, done that nothing follows.
	begun, done bool
	// id and name are those of a call, server is the name of its MCP server.
	id, name, server string
	// signature is that of a thought. thought is what the upstream signed, nil for none.
	signature string
	thought   *inference.Thought
	// cited are the citations of a text, citedSent is how many of them were written.
	cited     []json.RawMessage
	citedSent int
	// whole is the result of a server tool, a JSON object.
	whole []byte
}

// append appends the block with a text: all of it, or none at its start.
func (b *block) append(dst, text []byte) []byte {
	if b.whole != nil {
		return append(dst, b.whole...)
	}
	dst = appendString(append(dst, `{"type":`...), b.kind)

	switch b.kind {
	case textBlock:
		dst = appendString(append(dst, `,"text":`...), string(text))
		if len(text) > 0 && len(b.cited) > 0 {
			dst = jsonbody.AppendList(append(dst, `,"citations":`...), b.cited)
		}
	case thoughtBlock:
		dst = appendString(append(dst, `,"thinking":`...), string(text))
		dst = appendString(append(dst, `,"signature":`...), b.signature)
	case hiddenBlock:
		dst = appendString(append(dst, `,"data":`...), b.signature)
	default:
		dst = appendString(append(dst, `,"id":`...), b.id)
		dst = appendString(append(dst, `,"name":`...), b.name)

		if b.server != "" {
			dst = appendString(append(dst, `,"server_name":`...), b.server)
		}
		dst = appendInput(append(dst, `,"input":`...), text)
	}

	return append(dst, '}')
}

// appendInput appends the input of a call. An input that is not JSON, as some models write it, becomes a string.
func appendInput(dst, text []byte) []byte {
	switch {
	case len(text) == 0:
		return append(dst, "{}"...)
	case !json.Valid(text):
		return appendString(dst, string(text))
	}

	return append(dst, oneLine(text)...)
}

// oneLine returns JSON without the characters that some clients take for the end of a line of an event.
func oneLine(value []byte) []byte {
	b, err := json.Marshal(json.RawMessage(value)) // compacts it and escapes two line separators
	if err != nil {
		return []byte("null")
	}

	return b
}

// The type of a block's deltas and the field with the text.
var deltas = map[string][2]string{
	textBlock:    {"text_delta", "text"},
	thoughtBlock: {"thinking_delta", "thinking"},
	callBlock:    {"input_json_delta", "partial_json"},
	serverCall:   {"input_json_delta", "partial_json"},

	serverToolCall: {"input_json_delta", "partial_json"},
}

// appendStart appends the event that opens the block.
func (b *block) appendStart(dst []byte, index int) []byte {
	signature := b.signature
	if b.kind == thoughtBlock {
		b.signature = ""
	}
	dst = appendIndex(dst, "content_block_start", index)
	dst = append(b.append(append(dst, `,"content_block":`...), nil), eventEnd...)
	b.signature = signature

	return dst
}

// appendDelta appends the event with a piece of the block. kind is the type of the delta, and field its member with
// the text.
func appendDelta(dst []byte, index int, kind, field, text string) []byte {
	dst = appendIndex(dst, "content_block_delta", index)
	dst = appendString(append(dst, `,"delta":{"type":`...), kind)
	dst = append(appendString(append(dst, ','), field), ':')

	return append(append(appendString(dst, text), '}'), eventEnd...)
}

// appendIndex appends the start of an event about a block.
func appendIndex(dst []byte, name string, index int) []byte {
	return strconv.AppendInt(append(beginEvent(dst, name), `,"index":`...), int64(index), 10)
}

// appendCited appends the events with the citations that were not written yet.
func (b *block) appendCited(dst []byte, index int) []byte {
	for ; b.citedSent < len(b.cited); b.citedSent++ {
		dst = append(
			appendIndex(dst, "content_block_delta", index),
			`,"delta":{"type":"citations_delta","citation":`...)
		dst = append(append(append(dst, b.cited[b.citedSent]...), '}'), eventEnd...)
	}

	return dst
}
