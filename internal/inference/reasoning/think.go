package reasoning

import "strings"

// spaces is the white space that is dropped around tags.
const spaces = " \t\r\n"

// thinkState is the position of a thinkSplitter in the text.
type thinkState int

const (
	beforeBlock thinkState = iota // only white space and a part of <think> so far
	inBlock
	afterBlock // after </think>, before the first character of the answer
	inAnswer
)

// thinkSplitter reads a <think> block at the start of the text. It drops the white space on both sides of the tags.
type thinkSplitter struct {
	state thinkState
	// prefilled reports that the template has already written <think>, so the text may begin inside the block.
	prefilled bool
	held      string // text that may be the beginning of a tag
	// begun reports whether any reasoning was passed on.
	begun bool
}

// Feed implements Splitter. Text after the reasoning is passed on at once.
func (t *thinkSplitter) Feed(text string, out *Pieces) {
	if t.state == inAnswer {
		out.appendText(Content, text)
		return
	}

	t.held += text
	for t.step(out) {
	}
}

// step reads as much of the held text as it can. It reports whether the state changed.
func (t *thinkSplitter) step(out *Pieces) bool {
	switch t.state {
	case beforeBlock:
		lead := strings.TrimLeft(t.held, spaces)
		if rest, ok := strings.CutPrefix(lead, OpenTag); ok {
			t.state, t.held = inBlock, rest
			return true
		}

		// The text may be the beginning of the tag, so it is held until more has arrived.
		if strings.HasPrefix(OpenTag, lead) {
			return false
		}

		return t.emitAnswer(out, t.held)
	case inBlock:
		return t.readBlock(out)
	case afterBlock:
		if lead := strings.TrimLeft(t.held, spaces); lead != "" {
			return t.emitAnswer(out, lead)
		}
		t.held = ""
	}

	return false
}

// readBlock reads within the reasoning. It returns true if it made progress and must be called again.
func (t *thinkSplitter) readBlock(out *Pieces) bool {
	if !t.begun {
		t.held = strings.TrimLeft(t.held, spaces)
		if t.prefilled {
			// Some templates do not write the opening tag, and the model does.
			if rest, ok := strings.CutPrefix(t.held, OpenTag); ok {
				t.prefilled, t.held = false, rest
				return true
			}

			if strings.HasPrefix(OpenTag, t.held) {
				return false
			}
		}
	}

	if i := strings.Index(t.held, CloseTag); i >= 0 {
		t.emitReasoning(out, strings.TrimRight(t.held[:i], spaces))
		t.state, t.held = afterBlock, t.held[i+len(CloseTag):]

		return true
	}
	// White space is held back: it is dropped if the closing tag follows.
	keep := len(strings.TrimRight(t.held[:len(t.held)-partial(t.held, CloseTag)], spaces))
	t.emitReasoning(out, t.held[:keep])
	t.held = t.held[keep:]

	return false
}

// emitReasoning appends reasoning.
func (t *thinkSplitter) emitReasoning(out *Pieces, text string) {
	t.begun = t.begun || text != ""
	out.appendText(Reasoning, text)
}

// emitAnswer appends the beginning of the answer. It returns false, as step does when nothing is left to read.
func (t *thinkSplitter) emitAnswer(out *Pieces, text string) bool {
	t.state, t.held = inAnswer, ""
	out.appendText(Content, text)

	return false
}

// End implements Splitter. Reasoning without an end tag stays reasoning.
func (t *thinkSplitter) End(out *Pieces) {
	switch t.state {
	case beforeBlock:
		out.appendText(Content, t.held)
	case inBlock:
		out.appendText(Reasoning, strings.TrimRight(t.held, spaces))
	}
	t.held = ""
}

// partial returns the length of the longest suffix of text that is a proper prefix of tag.
func partial(text, tag string) int {
	for n := min(len(text), len(tag)-1); n > 0; n-- {
		if strings.HasSuffix(text, tag[:n]) {
			return n
		}
	}

	return 0
}
