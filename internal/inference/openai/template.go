package openai

import (
	"bytes"
	"encoding/json"

	"presswork/internal/inference"
)

// maxTemplate is the largest chunk that becomes a template, in bytes.
const maxTemplate = 4 << 10

// textTemplate is the last chunk that has only a piece of text. The next chunk of a stream nearly always differs only
// in that text. It then need not be parsed, and parsing takes most of the time of a token.
type textTemplate struct {
	before, after []byte
	delta         inference.Delta // its Content or Reasoning is replaced
}

// remember records a chunk and the only delta in it. text is the position of its text in the chunk.
func (t *textTemplate) remember(chunk, text []byte, delta inference.Delta) {
	t.before, t.after = t.before[:0], t.after[:0]
	// text is a part of chunk, as json.Unmarshal passes it. Their capacities end at the same byte, so the difference
	// is the offset of text. The comparison of addresses below confirms it.
	at := cap(chunk) - cap(text)

	end := at + len(text)
	// The text must be a part of the chunk itself, not a copy: its place in the chunk is needed.
	if len(text) == 0 || len(chunk) > maxTemplate || at < 0 || end > len(chunk) || &chunk[at] != &text[0] {
		return
	}

	// Only a chunk whose single content is the text can be a template for the next one.
	onlyText := len(delta.Content)+len(delta.Reasoning) <= len(text) && len(delta.ToolCalls) == 0 &&
		delta.Extra == nil && delta.Logprobs == nil && delta.Finish == "" && delta.Usage == nil
	if !onlyText {
		return
	}
	t.before, t.after = append(t.before, chunk[:at]...), append(t.after, chunk[end:]...)
	t.delta = delta
}

// match decodes a chunk that differs from the remembered one only in its text. ok is false for any other chunk.
func (t *textTemplate) match(chunk []byte) (d inference.Delta, ok bool) {
	longEnough := len(t.before) > 0 && len(chunk) > len(t.before)+len(t.after)
	if !longEnough || !bytes.HasPrefix(chunk, t.before) || !bytes.HasSuffix(chunk, t.after) {
		return d, false
	}

	text := chunk[len(t.before) : len(chunk)-len(t.after)]
	if !inference.Unescaped(text) {
		return d, false
	}

	d = t.delta
	if d.Reasoning != "" {
		d.Reasoning = string(text)
	} else {
		d.Content = string(text)
	}

	return d, true
}

// piece is a part of an answer. Nearly always it has only text, for which no map is created.
type piece struct {
	present bool // the field was an object
	// text is the only text of the piece, a part of the chunk. reasoning reports that it is in a reasoning field.
	text      []byte
	reasoning bool
	fields    map[string]json.RawMessage // all fields, unless text is set
}

// textFields are the fields of a piece with text.
var textFields = []struct {
	begin     []byte
	reasoning bool
}{
	{[]byte(`"content":`), false}, {[]byte(`"reasoning_content":`), true}, {[]byte(`"reasoning":`), true},
}

// UnmarshalJSON reads a delta. It reads a single text field without the JSON decoder, because most chunks have only
// that.
func (p *piece) UnmarshalJSON(b []byte) error {
	p.present = b[0] == '{'
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
