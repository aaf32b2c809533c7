// Package reasoning separates a model's reasoning and tool calls from its answer when the model writes them all into
// one text. It reads <think> blocks and the harmony format of gpt-oss. [New] returns the [Splitter] for a model; the
// caller feeds it the pieces of the text as they arrive.
package reasoning

import "presswork/internal/inference"

// The tags around reasoning in a text.
const (
	OpenTag  = "<think>"
	CloseTag = "</think>"
)

// Splitter separates the text of one answer into pieces. Joined by kind, the pieces do not depend on how the text was
// cut before Feed. It is not safe for concurrent use.
type Splitter interface {
	// Feed takes the next part of the text and appends the pieces that are certain. It holds back text that may still
	// become a tag.
	Feed(text string, out *Pieces)
	// End appends the text that was held back. Feed must not be called after it.
	End(out *Pieces)
}

// Kind says what a piece of text is.
type Kind int

// The kinds of pieces.
const (
	// Content is text of the answer.
	Content Kind = iota + 1
	// Reasoning is text that the model wrote before its answer.
	Reasoning
	// Call is a part of the arguments of a tool call.
	Call
)

// Piece is a part of a text.
type Piece struct {
	Kind Kind
	Text string
	// Name is the name of the function. Only the first piece of a call has one.
	Name string
}

// Pieces are the parts of a text in order.
type Pieces []Piece

// appendText appends a text to the last piece if that is of the same kind, else as a new piece.
func (p *Pieces) appendText(kind Kind, text string) {
	if text == "" {
		return
	}

	if n := len(*p); n > 0 && (*p)[n-1].Kind == kind {
		(*p)[n-1].Text += text
		return
	}
	*p = append(*p, Piece{Kind: kind, Text: text})
}

// New returns the splitter for a value of inference.Reasoning.Parser. thinking reports whether the request lets the
// model reason: without it, a template opens no <think> block.
func New(parser string, thinking bool) Splitter {
	switch {
	case parser == inference.ParseHarmony:
		return &harmony{}
	case parser == inference.ParsePrefilled && thinking:
		return &thinkSplitter{state: inBlock, prefilled: true}
	default:
		return &thinkSplitter{}
	}
}
