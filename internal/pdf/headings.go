package pdf

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"presswork/internal/markdown"
)

var headingTag = regexp.MustCompile(`<h[1-6][ >]`)

// headingContents reads from a body what stands in its headings, by id, fit for
// the table of contents: formulas and emphasis stay, links, footnotes, images
// and anchors do not.
func headingContents(body string) map[string]string {
	contents := map[string]string{}
	all := headingTag.FindAllStringIndex(body, -1)
	for i, at := range all {
		heading := body[at[0]:]
		if i+1 < len(all) { // one that is not closed before the next is none
			heading = body[at[0]:all[i+1][0]]
		}
		end := strings.Index(heading, "</"+heading[1:3]+">")
		if end < 0 {
			continue
		}
		z := html.NewTokenizer(strings.NewReader(heading[:end]))
		z.Next()
		for _, a := range z.Token().Attr {
			if a.Key == "id" {
				contents[a.Val] = entryHTML(z)
			}
		}
	}
	return contents
}

// entryHTML copies what may stand in an entry of the contents. Whatever the
// heading leaves open is closed.
func entryHTML(z *html.Tokenizer) string {
	var b strings.Builder
	var open []string // tags
	skipped := 0      // depth within a footnote's mark
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
			b.WriteString(raw)
		case html.StartTagToken, html.SelfClosingTagToken:
			switch {
			case token.DataAtom == atom.Math || len(open) > 0 && open[0] == "math":
				b.WriteString(raw)
				if kind == html.StartTagToken {
					open = append(open, token.Data)
				}
			case token.DataAtom == atom.Sup && strings.Contains(raw, `id="fnref`):
				skipped = 1
			case inEntries(token.DataAtom) && kind == html.StartTagToken:
				b.WriteString("<" + token.Data + ">")
				open = append(open, token.Data)
			}
		case html.EndTagToken:
			if n := len(open); n > 0 && open[n-1] == token.Data {
				b.WriteString(raw)
				open = open[:n-1]
			}
		}
	}
	for _, o := range slices.Backward(open) {
		b.WriteString("</" + o + ">")
	}
	return b.String()
}

func inEntries(tag atom.Atom) bool {
	switch tag {
	case atom.Em, atom.I, atom.Strong, atom.B, atom.Code, atom.Sub, atom.Sup, atom.Del, atom.S:
		return true
	}
	return false
}

// entryText is a heading's text in the table of contents: what stands in it, without
// its number; its plain text if that is not to be found.
func entryText(h markdown.Heading, contents map[string]string) string {
	text := contents[h.ID]
	if h.Number != "" {
		text = strings.TrimPrefix(text, h.Number+"\u2002")
	}
	if strings.TrimSpace(text) == "" {
		return html.EscapeString(h.Text)
	}
	return text
}
