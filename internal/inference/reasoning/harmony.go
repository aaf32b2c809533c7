package reasoning

import (
	"strings"

	"presswork/internal/lazyregexp"
)

// The special tokens of the harmony format that mark the parts of a message.
const (
	channelToken   = "<|channel|>"
	messageToken   = "<|message|>"
	constrainToken = "<|constrain|>"
)

// harmonyTokens are the tokens of the harmony format that the splitter recognises.
var harmonyTokens = []string{
	"<|start|>", channelToken, messageToken, constrainToken, "<|end|>", "<|return|>", "<|call|>",
}

// maxHeader is the largest header of a harmony message, in bytes. The rest is dropped.
const maxHeader = 512

// harmony reads gpt-oss's own format: messages with a header and a body. The header names the channel, analysis for
// reasoning or final for the answer. A header with to=functions.name makes the body the arguments of a call.
type harmony struct {
	held string // text that may be the beginning of a token
	// header is the text before <|message|>; inBody reports that the body has begun.
	header  strings.Builder
	inBody  bool
	started bool // a special token was seen
	kind    Kind
	name    string
	// last is the kind of the previous message. A line break separates two messages of one kind.
	last Kind
	// fresh reports that the body has had no text yet.
	fresh bool
}

// Feed implements Splitter. It holds back what could be the beginning of a token.
func (h *harmony) Feed(text string, out *Pieces) {
	h.held += text

	from := 0 // the held text before it has no token
	for {
		at := strings.Index(h.held[from:], "<|")
		if at < 0 {
			keep := partial(h.held, "<|")
			h.readText(h.held[:len(h.held)-keep], out)
			h.held = h.held[len(h.held)-keep:]

			return
		}
		at += from

		token, open := harmonyToken(h.held[at:])
		if token == "" && !open {
			from = at + len("<|")
			continue
		}
		h.readText(h.held[:at], out)
		h.held, from = h.held[at:], 0

		if open {
			return
		}
		h.held = h.held[len(token):]
		h.readToken(token, out)
	}
}

// harmonyToken returns the special token at the start of text, or "". open reports whether more text may complete one.
func harmonyToken(text string) (token string, open bool) {
	for _, t := range harmonyTokens {
		if strings.HasPrefix(text, t) {
			return t, false
		}

		if strings.HasPrefix(t, text) {
			open = true
		}
	}

	return "", open
}

// readText reads text between two tokens: plain text, part of a header, or part of a body.
func (h *harmony) readText(text string, out *Pieces) {
	switch {
	case text == "":
	case !h.started:
		// A server that parses harmony itself sends plain text.
		out.appendText(Content, text)
	case !h.inBody:
		h.header.WriteString(text[:min(len(text), maxHeader-min(h.header.Len(), maxHeader))])
	default:
		h.readBody(text, out)
	}
}

// readBody emits a part of a message's body. A line break separates two messages of one kind.
func (h *harmony) readBody(text string, out *Pieces) {
	if h.kind == Call {
		*out = append(*out, Piece{Kind: Call, Text: text, Name: h.takeName()})
		return
	}

	if h.fresh && h.last == h.kind {
		text = "\n" + text
	}
	h.fresh, h.last = false, h.kind
	out.appendText(h.kind, text)
}

// takeName returns the name of the current call once, and then "".
func (h *harmony) takeName() string {
	name := h.name
	h.name = ""

	return name
}

// readToken reads a token. Tokens other than those of headers end the body.
func (h *harmony) readToken(token string, out *Pieces) {
	h.started = true

	switch token {
	case messageToken:
		h.openBody()
	case channelToken:
		if h.inBody {
			h.closeBody(out)
		}
		h.header.WriteString(" ")
	case constrainToken:
		if !h.inBody {
			h.header.WriteString(" ")
		}
	default:
		h.closeBody(out)
	}
}

// harmonyRecipient matches the function that a message calls.
var harmonyRecipient = lazyregexp.New(`to=(?:functions\.)?([A-Za-z0-9_.-]{1,64})`)

// openBody begins a body. Its header says of which kind it is.
func (h *harmony) openBody() {
	head := h.header.String()
	h.header.Reset()
	h.inBody, h.fresh = true, true

	m := harmonyRecipient().FindStringSubmatch(head)
	switch {
	case m != nil:
		h.kind, h.name = Call, m[1]
	case strings.Contains(head, "analysis"):
		h.kind = Reasoning
	default:
		h.kind = Content
	}
}

// closeBody ends the body of a message.
func (h *harmony) closeBody(out *Pieces) {
	if h.inBody && h.kind == Call && h.name != "" {
		// The call has no arguments.
		*out = append(*out, Piece{Kind: Call, Name: h.takeName()})
	}
	h.inBody = false
	h.header.Reset()
}

// End implements Splitter.
func (h *harmony) End(out *Pieces) {
	h.readText(h.held, out)
	h.held = ""
	h.closeBody(out)
}
