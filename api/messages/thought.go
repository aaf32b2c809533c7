package messages

import (
	"encoding/json"
	"strings"

	"presswork/internal/inference"
	"presswork/internal/inference/history"
	"presswork/internal/inference/jsonbody"
)

// The beginnings of the signatures that this server makes. The sealed content follows.
const (
	// sealedText precedes the text of a thought.
	sealedText = "presswork-1."
	// sealedThought precedes an inference.Thought, which has the signature of the upstream as well.
	sealedThought = "presswork-2."
)

// readThought reads a thought: the text in its signature, which must be the text of the block if that has one. Thoughts
// with signatures of other servers are left out, unless an upstream of the model may have made them.
func (p *parser) readThought(o jsonbody.Object, kind string, h *history.History) {
	field, shown := "signature", o.Str("thinking")
	if kind == hiddenBlock {
		field, shown = "data", ""
	}
	signature := o.Str(field)

	switch {
	case o.Failed():
	case strings.HasPrefix(signature, sealedText):
		text, ok := p.open(signature, sealedText)
		if !ok || shown != "" && shown != text {
			failThought(o, field)
			return
		}
		h.AddThought(text)
	case strings.HasPrefix(signature, sealedThought):
		var t inference.Thought

		text, ok := p.open(signature, sealedThought)
		if !ok || json.Unmarshal([]byte(text), &t) != nil || shown != "" && shown != t.Text {
			failThought(o, field)
			return
		}
		h.AddSigned(t)
	// Another server has signed it, and no upstream of the model can check that.
	case !p.options.Native() || signature == "":
	case kind == hiddenBlock:
		h.AddSigned(inference.Thought{Redacted: signature})
	default:
		h.AddSigned(inference.Thought{Text: shown, Signature: signature})
	}
}

// open returns what a signature of this server holds. ok is false if it was changed, or made for another owner.
func (p *parser) open(signature, prefix string) (text string, ok bool) {
	text, err := p.options.Sealer.Open(p.options.Owner, strings.TrimPrefix(signature, prefix))
	return text, err == nil
}

// failThought records that a thought cannot be trusted: its text would not be the model's own.
func failThought(o jsonbody.Object, field string) {
	o.Failf(field, "the thought or its signature was changed, or was not made by this server for this key; "+
		"leave the block out")
}

// sign returns the signature of a block with a thought. t is nil unless the upstream signed it as well.
func (w *Writer) sign(text string, t *inference.Thought) string {
	if t == nil {
		return sealedText + w.format.sealer.Seal(w.format.owner, text)
	}
	b, _ := json.Marshal(t) // a struct of strings

	return sealedThought + w.format.sealer.Seal(w.format.owner, string(b))
}

// addThought ends the thought before it with the signature of the upstream, or adds one that only the upstream can
// read.
func (w *Writer) addThought(t *inference.Thought) {
	if t.Redacted != "" {
		b := w.newBlock(hiddenBlock)
		b.signature, b.done = w.sign("", t), true

		return
	}

	var last *block
	if n := len(w.blocks); n > 0 && w.blocks[n-1].kind == thoughtBlock && !w.blocks[n-1].done {
		last = w.blocks[n-1]
	} else {
		last = w.newBlock(thoughtBlock)
	}
	last.thought, last.done = t, true
}
