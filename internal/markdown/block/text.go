package block

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// Visible returns the text of HTML without soft hyphens. Character references stay as they are.
func Visible(source string) string {
	inTag := false

	return strings.Map(func(r rune) rune {
		switch r {
		case '<':
			inTag = true
		case '>':
			inTag = false
			return -1
		case '\u00ad':
			return -1
		}

		if inTag {
			return -1
		}

		return r
	}, source)
}

// Letters returns the width of a text in Latin letters.
func Letters(text string) (n int) {
	for _, r := range text {
		n++
		if r >= 0x1100 && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul) {
			n++
		}
	}

	return n
}

// Lines estimates the number of lines of a paragraph if a line holds the given number of letters.
func (b *Block) Lines(letters int) (lines int) {
	if !b.LineBreaks {
		return 1 + Letters(Visible(b.Inner()))/letters
	}

	for i, part := range strings.Split(b.Inner(), "<br") {
		if i > 0 {
			part = "<" + part
		}
		lines += 1 + Letters(Visible(part))/letters
	}

	return lines
}

// PicturesOnly reports whether a paragraph has images and no text.
func (b *Block) PicturesOnly() bool {
	return b.Pictures && strings.TrimSpace(Visible(b.Inner())) == ""
}

// Leads reports whether a paragraph introduces the next block: it ends with a colon, or it is bold like a heading.
func (b *Block) Leads() bool {
	text := strings.TrimRightFunc(b.Inner(), unicode.IsSpace)
	if bold, ok := strings.CutPrefix(text, "<strong>"); ok {
		if bold, ok = strings.CutSuffix(bold, "</strong>"); ok && !strings.Contains(bold, "</strong>") {
			return true
		}
	}

	for strings.HasSuffix(text, ">") { // tags at the end
		text = strings.TrimSpace(text[:max(0, strings.LastIndexByte(text, '<'))])
	}

	return strings.HasSuffix(text, ":") || strings.HasSuffix(text, "：")
}

// EndsWithColon reports whether the last character of a paragraph is a colon.
func (b *Block) EndsWithColon() bool { return strings.HasSuffix(b.Inner(), ":") }

// Entry returns the content of a heading for a table of contents. Formulas and emphasis stay; links, footnote
// marks, images and anchors do not. All elements are closed.
func (b *Block) Entry() string {
	var out strings.Builder
	var open []string // the names of the open elements
	skipped := 0      // the number of open sup elements in the mark of a footnote

	z := html.NewTokenizer(strings.NewReader(b.Inner()))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		raw := string(z.Raw())

		token := z.Token()
		if skipped > 0 {
			if token.DataAtom == atom.Sup {
				skipped += map[html.TokenType]int{html.StartTagToken: 1, html.EndTagToken: -1}[kind]
			}
			continue
		}

		switch kind {
		case html.TextToken:
			out.WriteString(raw)
		case html.StartTagToken, html.SelfClosingTagToken:
			switch {
			case token.DataAtom == atom.Math || len(open) > 0 && open[0] == "math":
				out.WriteString(raw)

				if kind == html.StartTagToken {
					open = append(open, token.Data)
				}
			case token.DataAtom == atom.Sup && strings.HasPrefix(attribute(token, "id"), "fnref"):
				skipped = 1
			case inEntries(token.DataAtom) && kind == html.StartTagToken:
				out.WriteString("<" + token.Data + ">")
				open = append(open, token.Data)
			}
		case html.EndTagToken:
			if n := len(open); n > 0 && open[n-1] == token.Data {
				out.WriteString(raw)
				open = open[:n-1]
			}
		}
	}

	for _, o := range slices.Backward(open) {
		out.WriteString("</" + o + ">")
	}

	return out.String()
}

// inEntries reports whether an element stays in an entry of the table of contents.
func inEntries(tag atom.Atom) bool {
	switch tag {
	case atom.Em, atom.I, atom.Strong, atom.B, atom.Code, atom.Sub, atom.Sup, atom.Del, atom.S:
		return true
	}

	return false
}

// attribute returns the value of an attribute, "" without it.
func attribute(t html.Token, key string) string {
	for _, a := range t.Attr {
		if a.Key == key {
			return a.Val
		}
	}

	return ""
}
