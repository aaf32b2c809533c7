package inference

import "strings"

const (
	openThink  = "<think>"
	closeThink = "</think>"
)

// splitter separates reasoning from answer in the text of a model. What it makes of
// a text does not depend on how the text is cut into pieces.
type splitter interface {
	// feed takes the next piece; text whose meaning is still open is kept back.
	feed(text string, out *pieces)
	// end gives what was kept back.
	end(out *pieces)
}

// pieces is what a splitter made of a piece of text, in order.
type pieces struct {
	list []piece
}

type pieceKind int

const (
	contentKind pieceKind = iota + 1
	reasoningKind
	callKind
)

type piece struct {
	kind pieceKind
	text string
	// name is a function's, on the first piece of a call.
	name string
}

func (p *pieces) add(kind pieceKind, text string) {
	if text == "" {
		return
	}

	if n := len(p.list); n > 0 && p.list[n-1].kind == kind && kind != callKind {
		p.list[n-1].text += text
		return
	}
	p.list = append(p.list, piece{kind: kind, text: text})
}

func newSplitter(parser string, thinking bool) splitter {
	switch {
	case parser == ParseHarmony:
		return &harmony{}
	case parser == ParsePrefilled && thinking:
		return &thinkSplitter{state: thinkingState, prefilled: true}
	default:
		return &thinkSplitter{}
	}
}

type thinkState int

const (
	undecided thinkState = iota // nothing but white space and a part of <think> yet
	thinkingState
	gap // after </think>, before the answer's first character
	answering
)

// thinkSplitter knows a <think> block at the start of the text, and with
// prefilled a block whose opening tag is not in the text. White space at both
// sides of the tags belongs to nobody.
type thinkSplitter struct {
	state     thinkState
	prefilled bool
	held      string
	// begun is whether any reasoning was given out.
	begun bool
}

func (t *thinkSplitter) feed(text string, out *pieces) {
	if t.state == answering {
		out.add(contentKind, text)
		return
	}

	t.held += text
	for t.step(out) {
	}
}

// step makes what it can of the held text and reports whether the state moved.
func (t *thinkSplitter) step(out *pieces) bool {
	switch t.state {
	case undecided:
		lead := strings.TrimLeft(t.held, spaces)
		if rest, ok := strings.CutPrefix(lead, openThink); ok {
			t.state, t.held = thinkingState, rest
			return true
		}

		if strings.HasPrefix(openThink, lead) {
			return false
		}

		return t.answer(out, t.held)
	case thinkingState:
		return t.think(out)
	case gap:
		if lead := strings.TrimLeft(t.held, spaces); lead != "" {
			return t.answer(out, lead)
		}
		t.held = ""
	}

	return false
}

func (t *thinkSplitter) think(out *pieces) bool {
	if !t.begun {
		t.held = strings.TrimLeft(t.held, spaces)
		if t.prefilled {
			// Some templates leave the opening tag to the model after all.
			if rest, ok := strings.CutPrefix(t.held, openThink); ok {
				t.prefilled, t.held = false, rest
				return true
			}

			if strings.HasPrefix(openThink, t.held) {
				return false
			}
		}
	}

	if i := strings.Index(t.held, closeThink); i >= 0 {
		t.give(out, strings.TrimRight(t.held[:i], spaces))
		t.state, t.held = gap, t.held[i+len(closeThink):]

		return true
	}
	keep := len(strings.TrimRight(t.held[:len(t.held)-partial(t.held, closeThink)], spaces))
	t.give(out, t.held[:keep])
	t.held = t.held[keep:]

	return false
}

func (t *thinkSplitter) give(out *pieces, text string) {
	t.begun = t.begun || text != ""
	out.add(reasoningKind, text)
}

func (t *thinkSplitter) answer(out *pieces, text string) bool {
	t.state, t.held = answering, ""
	out.add(contentKind, text)

	return false
}

func (t *thinkSplitter) end(out *pieces) {
	switch t.state {
	case undecided:
		out.add(contentKind, t.held)
	case thinkingState:
		out.add(reasoningKind, strings.TrimRight(t.held, spaces))
	}
	t.held = ""
}

const spaces = " \t\r\n"

// partial is the length of the longest end of text that is a beginning of tag.
func partial(text, tag string) int {
	for n := min(len(text), len(tag)-1); n > 0; n-- {
		if strings.HasSuffix(text, tag[:n]) {
			return n
		}
	}

	return 0
}
