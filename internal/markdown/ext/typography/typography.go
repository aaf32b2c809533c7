// Package typography replaces the quotes, dashes, dots and spaces of a keyboard by those of the language. Set does so
// for a document, SetLine for one line.
package typography

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/tree"
)

// typesetter replaces the quotes, dashes and dots of one document.
type typesetter struct {
	marks marks
	src   []byte
	// before is the previous character, 0 at the start of a block. 'x' stands for an element, which quotes treat like a
	// letter.
	before rune
	// quotes are the open quotes of the block, " or '.
	quotes []rune
	// code counts the open elements of raw HTML whose text stays as it is.
	code int
	// beyond is the source after the current text, up to the end of its block or maxBeyond bytes.
	beyond []byte
}

const (
	// maxQuotes is the largest number of open quotation marks. Further marks do not open.
	maxQuotes = 8
	// maxBeyond is how far a closing mark may be from a single quote that opens, in bytes. Further away, the quote is an
	// apostrophe.
	maxBeyond = 200
)

// Set replaces quotes, dashes, dots and spaces in a document by the rules of its language (BCP 47). An element with a
// lang attribute follows the rules of that language. Code, formulas, addresses and blocks of raw HTML stay as they are.
func Set(root ast.Node, src []byte, lang string) {
	t := &typesetter{marks: marksOf(lang), src: src}
	var outer []marks // the marks outside of each open element with a lang attribute
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if own := tree.AttributeText(n, "lang"); own != "" && entering {
			outer = append(outer, t.marks)
			t.marks = marksOf(own)
		} else if own != "" {
			t.marks = outer[len(outer)-1]
			outer = outer[:len(outer)-1]
		}

		// Quotation marks do not reach beyond their block.
		if n.Type() == ast.TypeBlock {
			t.before, t.quotes, t.code = 0, t.quotes[:0], 0

			switch c := n.(type) {
			case *ast.FencedCodeBlock, *ast.CodeBlock, *ast.HTMLBlock:
				return ast.WalkSkipChildren, nil
			case *tree.Alert:
				if entering {
					t.beyond, c.Title = nil, t.text(c.Title)
				}
			case *tree.Figure:
				if entering {
					t.beyond, c.Caption = nil, t.text(c.Caption)
				}
			}
			t.before, t.quotes = 0, t.quotes[:0]

			return ast.WalkContinue, nil
		}

		if !entering {
			return ast.WalkContinue, nil
		}

		return t.inline(n), nil
	})
}

// inline replaces the text of an inline node, and updates the state for other nodes.
func (t *typesetter) inline(n ast.Node) ast.WalkStatus {
	switch n := n.(type) {
	case *ast.CodeSpan, *ast.AutoLink, *ast.Image: // the text of an image is an attribute
		t.before = 'x'
		return ast.WalkSkipChildren
	case *ast.RawHTML:
		t.code = max(0, t.code+tree.CodeDepth(n.Segments.Value(t.src)))
	case *ast.Text:
		t.node(n)
	case *ast.String:
		if n.IsCode() { // raw HTML
			t.code = max(0, t.code+tree.CodeDepth(n.Value))
		} else {
			t.pass(n.Value)
		}
	default:
		if n.FirstChild() == nil {
			t.before = 'x' // a formula, an emoji, a footnote's number
		}
	}

	return ast.WalkContinue
}

// SetLine returns one line of plain text, such as a title, by the rules of its language (BCP 47).
func SetLine(line, lang string) string {
	t := typesetter{marks: marksOf(lang)}
	return t.text(line)
}

// node replaces the text of a node. A text that changes becomes a string before the node. The node stays, without text,
// for its line break.
func (t *typesetter) node(n *ast.Text) {
	raw := n.Segment.Value(t.src)
	stays := t.code > 0 || n.IsRaw() ||
		!bytes.ContainsAny(raw, `"'-.`) && (t.marks.spaced == "" || !bytes.ContainsAny(raw, t.marks.spaced+"«»"))

	if stays {
		t.pass(raw)
	} else {
		t.beyond = t.src[n.Segment.Stop:min(len(t.src), n.Segment.Stop+maxBeyond)]
		if end := bytes.Index(t.beyond, []byte("\n\n")); end >= 0 {
			t.beyond = t.beyond[:end]
		}

		if set := t.text(string(raw)); set != string(raw) {
			s := ast.NewString([]byte(set))
			s.SetPos(n.Segment.Start)
			n.Parent().InsertBefore(n.Parent(), n, s)
			n.Segment = n.Segment.WithStart(n.Segment.Stop)
		}
	}

	if n.SoftLineBreak() || n.HardLineBreak() {
		t.before = ' '
	}
}

// pass notes the last character of a text that stays as it is.
func (t *typesetter) pass(text []byte) {
	if len(text) > 0 {
		t.before, _ = utf8.DecodeLastRune(text)
	}
}

// text returns a text of the source with its replacements. It keeps escapes and entities as they are.
func (t *typesetter) text(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 8)

	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		set, used := "", size

		switch r {
		case '\\': // an escaped character stays
			if i+1 < len(s) {
				_, n := utf8.DecodeRuneInString(s[i+1:])
				used += n
			}
		case '"':
			set = t.double(s[i+1:])
		case '\'':
			set = t.single(s[i+1:])
		case '-':
			set, used = t.dash(s[i:])
		case '.':
			set, used = t.dots(s[i:])
		case ' ', '\u00a0', '\u202f':
			if next := s[i+size:]; next != "" && t.wantsSpace(next) {
				set = t.spaceBefore(next)
			}
		case '«':
			if t.marks.spaced != "" {
				rest := strings.TrimLeft(s[i+size:], " \u00a0\u202f")
				set, used = "«"+narrowSpace, len(s)-i-len(rest)
			}
		case ';', '!', '?', ':', '»':
			if t.needsSpace(r, s[i+size:]) {
				set = t.spaceBefore(s[i:]) + string(r)
			}
		}

		if set == "" {
			set = s[i : i+used]
		}
		b.WriteString(set)
		t.before, _ = utf8.DecodeLastRuneInString(set)
		i += used
	}

	return b.String()
}

// wantsSpace reports whether next begins with a punctuation mark that has a space before it in this language. The space
// in the source then becomes a no-break space.
func (t *typesetter) wantsSpace(next string) bool {
	r, size := utf8.DecodeRuneInString(next)

	if t.marks.spaced == "" || t.before == 0 || unicode.IsSpace(t.before) {
		return false
	}

	if r == '»' {
		return true
	}
	// ":-)" and "?x=1" are not punctuation.
	after, _ := utf8.DecodeRuneInString(next[size:])

	if size < len(next) && (unicode.IsLetter(after) || unicode.IsDigit(after) || strings.ContainsRune("-()", after)) {
		return false
	}

	return strings.ContainsRune(t.marks.spaced, r)
}

// needsSpace reports whether the mark r, between before and rest, lacks the space before it that the language requires.
func (t *typesetter) needsSpace(r rune, rest string) bool {
	if t.marks.spaced == "" ||
		!unicode.IsLetter(t.before) && !unicode.IsDigit(t.before) && !strings.ContainsRune(")”»…%", t.before) {
		return false
	}

	if r == '»' {
		return true
	}
	after, _ := utf8.DecodeRuneInString(rest)

	return strings.ContainsRune(t.marks.spaced, r) &&
		(rest == "" || unicode.IsSpace(after) || strings.ContainsRune(`"'!?»).`, after))
}

// spaceBefore returns the space before a mark: a full one before a colon, a narrow one before others.
func (t *typesetter) spaceBefore(mark string) string {
	if mark[0] == ':' {
		return noBreak
	}

	return narrowSpace
}

// opens reports whether a quotation mark between before and rest opens.
func (t *typesetter) opens(rest string) bool {
	after, _ := utf8.DecodeRuneInString(rest)
	if rest == "" {
		// An element follows, or the end of the block.
		return t.before == 0 || unicode.IsSpace(t.before) || strings.ContainsRune("([{—–", t.before)
	}

	if unicode.IsSpace(after) {
		return false
	}

	if shut := string(t.before); shut == t.marks.shut || shut == t.marks.inShut {
		return false // German closes with the marks that open in English
	}

	if t.before == 0 || unicode.IsSpace(t.before) || strings.ContainsRune("([{<—–-/=«“„‘‚「『»", t.before) {
		return true
	}

	// In scripts without spaces, no space comes before a quotation.
	return len(t.quotes) == 0 && (strings.ContainsRune("。、，：；！？", t.before) ||
		unicode.In(t.before, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Thai))
}

// isOpen reports whether q is the innermost open quotation mark.
func (t *typesetter) isOpen(q rune) bool {
	return len(t.quotes) > 0 && t.quotes[len(t.quotes)-1] == q
}

// double returns the mark for a double quote before rest.
func (t *typesetter) double(rest string) string {
	if t.opens(rest) && len(t.quotes) < maxQuotes {
		outer := len(t.quotes) == 0

		t.quotes = append(t.quotes, '"')
		if outer {
			return t.marks.open
		}

		return t.marks.inOpen
	}

	for len(t.quotes) > 0 && !t.isOpen('"') { // an open single mark was an apostrophe
		t.quotes = t.quotes[:len(t.quotes)-1]
	}

	if len(t.quotes) == 0 {
		if unicode.IsDigit(t.before) {
			return "″" // inches, seconds
		}

		return t.marks.shut
	}

	t.quotes = t.quotes[:len(t.quotes)-1]
	if len(t.quotes) == 0 {
		return t.marks.shut
	}

	return t.marks.inShut
}

// single returns the apostrophe or the mark for a single quote before rest.
func (t *typesetter) single(rest string) string {
	const apostrophe = "’"
	after, _ := utf8.DecodeRuneInString(rest)

	word := unicode.IsLetter(t.before) || unicode.IsDigit(t.before)
	switch {
	case word && (unicode.IsLetter(after) || unicode.IsDigit(after)):
		return apostrophe
	case unicode.IsDigit(after) && isDecade(rest) || clipped().MatchString(rest): // the '90s, 'tis
		return apostrophe
	case t.opens(rest) && len(t.quotes) < maxQuotes && closesLater(rest, t.beyond):
		t.quotes = append(t.quotes, '\'')
		return t.marks.inOpen
	case t.isOpen('\''):
		t.quotes = t.quotes[:len(t.quotes)-1]
		return t.marks.inShut
	case unicode.IsDigit(t.before):
		return "′" // feet, minutes
	}

	return apostrophe
}

// clipped matches the English words that begin with an apostrophe.
var clipped = lazyregexp.New(`^(?i:n|em|tis|twas|til|cause|round)\b`)

// closesLater reports whether a single quote that may close a quotation follows within maxBeyond bytes. beyond is the
// source after rest. It looks at the next 8 single quotes only, because each mark of a text full of them looks ahead.
func closesLater(rest string, beyond []byte) bool {
	if rest = rest[:min(len(rest), maxBeyond)]; len(rest) < maxBeyond {
		rest += string(beyond[:min(len(beyond), maxBeyond-len(rest))])
	}

	at := 0
	for range 8 {
		n := strings.IndexByte(rest[at:], '\'')
		if n < 0 {
			return false
		}
		end := at + n
		at = end + 1
		before, _ := utf8.DecodeLastRuneInString(rest[:end])

		after, _ := utf8.DecodeRuneInString(rest[at:])
		// A closing quote follows no space, and no letter or digit follows it.
		if end > 0 && !unicode.IsSpace(before) &&
			(at == len(rest) || !unicode.IsLetter(after) && !unicode.IsDigit(after)) {
			return true
		}
	}

	return false
}

// isDecade reports whether a text begins with a decade, such as the 90s of '90s.
func isDecade(rest string) bool {
	return len(rest) >= 3 && rest[1] >= '0' && rest[1] <= '9' && (rest[2] == 's' || rest[2] < '0' || rest[2] > '9') &&
		!strings.Contains(rest[:3], "'")
}

// dash returns the dash for the -- or --- at the start of s, and the number of bytes that it replaces. Other runs of
// hyphens, options such as "--help", arrows and comments stay as they are.
func (t *typesetter) dash(s string) (set string, used int) {
	n := len(s) - len(strings.TrimLeft(s, "-"))
	rest := s[n:]
	after, _ := utf8.DecodeRuneInString(rest)

	option := unicode.IsLetter(after) &&
		(t.before == 0 || unicode.IsSpace(t.before) || strings.ContainsRune("([/\"'“‘«„", t.before))
	if n < 2 || n > 3 || option || after == '>' || t.before == '<' || t.before == '!' {
		return s[:n], n
	}

	if n == 2 {
		return "–", n
	}

	return "—", n
}

// dots returns the ellipsis for three dots at the start of s, and the number of bytes that it replaces. Other runs of
// dots, and dots next to a slash as in a path, stay as they are.
func (t *typesetter) dots(s string) (set string, used int) {
	n := len(s) - len(strings.TrimLeft(s, "."))

	after, _ := utf8.DecodeRuneInString(s[n:])
	if n != 3 || after == '/' || t.before == '/' {
		return s[:n], n
	}

	return "…", n
}
