package inference

import (
	"regexp"
	"strings"
)

// The special tokens of the harmony format.
const (
	hStart   = "<|start|>"
	hChannel = "<|channel|>"
	hMessage = "<|message|>"
)

var harmonyTokens = []string{hStart, hChannel, hMessage, "<|constrain|>", "<|end|>", "<|return|>", "<|call|>"}

// maxHeader is the largest header of a harmony message, in bytes.
const maxHeader = 512

// harmony reads gpt-oss's own format: messages of a header and a body, whose
// channel is what it holds: reasoning (analysis), answer (final), or a call
// (a header with to=functions.name).
type harmony struct {
	held string
	// header is what stands before <|message|>; inBody reports whether it is over.
	header  strings.Builder
	inBody  bool
	started bool // a special token was seen
	kind    pieceKind
	name    string
	// last is the kind of the message before, so that two of the same kind are
	// parted by a line break.
	last  pieceKind
	fresh bool
}

func (h *harmony) feed(text string, out *pieces) {
	h.held += text

	from := 0 // no token begins before it
	for {
		at := strings.Index(h.held[from:], "<|")
		if at < 0 {
			keep := partial(h.held, "<|")
			h.text(h.held[:len(h.held)-keep], out)
			h.held = h.held[len(h.held)-keep:]

			return
		}
		at += from

		token, open := harmonyToken(h.held[at:])
		if token == "" && !open {
			from = at + len("<|")
			continue
		}
		h.text(h.held[:at], out)
		h.held, from = h.held[at:], 0

		if open {
			return
		}
		h.held = h.held[len(token):]
		h.token(token, out)
	}
}

// harmonyToken finds the special token at the start of text; open reports whether it
// may still become one.
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

func (h *harmony) text(text string, out *pieces) {
	switch {
	case text == "":
	case !h.started:
		// A server that parses harmony itself sends plain text.
		out.add(contentKind, text)
	case !h.inBody:
		h.header.WriteString(text[:min(len(text), maxHeader-min(h.header.Len(), maxHeader))])
	default:
		h.body(text, out)
	}
}

func (h *harmony) body(text string, out *pieces) {
	if h.kind == callKind {
		out.list = append(out.list, piece{kind: callKind, text: text, name: h.takeName()})
		return
	}

	if h.fresh && h.last == h.kind {
		text = "\n" + text
	}
	h.fresh, h.last = false, h.kind
	out.add(h.kind, text)
}

// takeName gives the name of a call once.
func (h *harmony) takeName() string {
	name := h.name
	h.name = ""

	return name
}

func (h *harmony) token(token string, out *pieces) {
	h.started = true

	switch token {
	case hMessage:
		h.open()
	case hChannel:
		if h.inBody {
			h.close(out)
		}
		h.header.WriteString(" ")
	case "<|constrain|>":
		if !h.inBody {
			h.header.WriteString(" ")
		}
	default:
		h.close(out)
	}
}

var harmonyRecipient = regexp.MustCompile(`to=(?:functions\.)?([A-Za-z0-9_.-]{1,64})`)

// open begins a body, of the kind its header names.
func (h *harmony) open() {
	head := h.header.String()
	h.header.Reset()
	h.inBody, h.fresh = true, true

	m := harmonyRecipient.FindStringSubmatch(head)
	switch {
	case m != nil:
		h.kind, h.name = callKind, m[1]
	case strings.Contains(head, "analysis"):
		h.kind = reasoningKind
	default:
		h.kind = contentKind
	}
}

func (h *harmony) close(out *pieces) {
	if h.inBody && h.kind == callKind && h.name != "" {
		out.list = append(out.list, piece{kind: callKind, name: h.takeName()})
	}
	h.inBody = false
	h.header.Reset()
}

func (h *harmony) end(out *pieces) {
	h.text(h.held, out)
	h.held = ""
	h.close(out)
}
