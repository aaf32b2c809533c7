package openai

import (
	"bytes"
	"encoding/json"

	"presswork/internal/inference"
)

// maxUsual is the largest chunk that is remembered, in bytes.
const maxUsual = 4 << 10

// usual is the last chunk that has only a piece of text. The next chunk of a stream nearly always differs only in
// that text. It then need not be parsed, and parsing takes most of the time of a token.
type usual struct {
	before, after []byte
	delta         inference.Delta // with Content or Reasoning, whichever varies
}

// remember records a chunk and the only delta in it. text is the position of its text in the chunk.
func (u *usual) remember(chunk, text []byte, delta inference.Delta) {
	u.before, u.after = u.before[:0], u.after[:0]
	// The capacity of a subslice tells where it begins.
	at := cap(chunk) - cap(text)

	end := at + len(text)
	if len(text) == 0 || len(chunk) > maxUsual || at < 0 || end > len(chunk) || &chunk[at] != &text[0] {
		return
	}

	if len(delta.Content)+len(delta.Reasoning) > len(text) || len(delta.ToolCalls) > 0 || delta.Extra != nil ||
		delta.Logprobs != nil ||
		delta.Finish != "" ||
		delta.Usage != nil {
		return
	}
	u.before, u.after = append(u.before, chunk[:at]...), append(u.after, chunk[end:]...)
	u.delta = delta
}

// read reads a chunk that differs from the remembered one only in its text. ok is false for any other chunk.
func (u *usual) read(chunk []byte) (d inference.Delta, ok bool) {
	if len(u.before) == 0 || len(chunk) <= len(u.before)+len(u.after) || !bytes.HasPrefix(chunk, u.before) ||
		!bytes.HasSuffix(chunk, u.after) {
		return d, false
	}

	text := chunk[len(u.before) : len(chunk)-len(u.after)]
	if !inference.Unescaped(text) {
		return d, false
	}

	d = u.delta
	if d.Reasoning != "" {
		d.Reasoning = string(text)
	} else {
		d.Content = string(text)
	}

	return d, true
}

// piece is a part of an answer. Nearly always it has only text, for which no map is created.
type piece struct {
	there bool
	// text is the only text of the piece, as it is in the chunk. With reasoning it is the text of a reasoning
	// field.
	text      []byte
	reasoning bool
	fields    map[string]json.RawMessage
}

// textFields are the fields of a piece with text.
var textFields = []struct {
	begin     []byte
	reasoning bool
}{
	{[]byte(`"content":`), false}, {[]byte(`"reasoning_content":`), true}, {[]byte(`"reasoning":`), true},
}

func (p *piece) UnmarshalJSON(b []byte) error {
	p.there = b[0] == '{'
	// Some engines repeat the role in every piece.
	object, _ := bytes.CutPrefix(b[1:], []byte(`"role":"assistant",`))
	for _, field := range textFields {
		value, ok := bytes.CutPrefix(object, field.begin)
		if !ok {
			continue
		}

		if text, plain := unescaped(bytes.TrimSpace(value[:len(value)-1])); plain {
			p.text, p.reasoning = text, field.reasoning
			return nil
		}
	}

	return json.Unmarshal(b, &p.fields)
}
