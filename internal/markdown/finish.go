package markdown

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"presswork/internal/fault"
	"presswork/internal/markdown/tree"
)

// finish is the last pass over the sanitised HTML: images become data URIs,
// links that lead nowhere on paper lose their target, ids become unique,
// folded details are unfolded.
func (d *draft) finish(ctx context.Context, safe []byte) (string, error) {
	images, err := d.inlineImages(ctx, safe)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	out.Grow(len(safe) + images.size())

	ids, outline := map[string]bool{}, make(map[string]bool, len(d.headings))
	for _, h := range d.headings {
		outline[h.ID] = true
	}
	texts := textWriter{out: &out, words: d.words, justified: d.options.Justified != nil}
	var parts cost

	z := html.NewTokenizer(bytes.NewReader(safe))
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		raw := z.Raw()
		texts.tag(kind, raw)

		if kind == html.TextToken {
			if err := d.checkText(raw); err != nil {
				return "", err
			}
			texts.write(raw)
			parts.pieces++
			continue
		}

		if bytes.Equal(raw, []byte("</pre>")) {
			parts.endBlock()
			parts.inCode = false
		}

		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			out.Write(raw)
			continue
		}
		parts.tag(raw)

		if bytes.IndexByte(raw, ' ') < 0 && !bytes.HasPrefix(raw, []byte("<details")) {
			out.Write(raw)
			continue
		}

		token := z.Token()
		if piece, ok := d.takeEmbed(attr(token, tree.EmbedAttribute)); ok {
			parts.embed(piece)
			out.WriteString(piece)
			continue
		}

		token.Attr = keepAttrs(token.Attr, func(a html.Attribute) bool {
			if a.Key != "id" && (a.Key != "name" || token.DataAtom != atom.A) {
				return true
			}
			// The outline knows headings by their ids.
			if outline[a.Val] && a.Key == "id" && !isHeading(token.DataAtom) {
				return false
			}
			fresh := !ids[a.Val] || a.Key == "name"
			ids[a.Val] = true

			return fresh
		})
		switch token.DataAtom {
		case atom.Img:
			out.WriteString(d.renderImage(images, token))
			continue
		case atom.A:
			token.Attr = keepAttrs(
				token.Attr,
				func(a html.Attribute) bool { return a.Key != "href" || printableLink(a.Val) },
			)
		case atom.Details:
			token.Attr = append(
				keepAttrs(token.Attr, func(a html.Attribute) bool { return a.Key != "open" }),
				html.Attribute{Key: "open"},
			)
		}
		out.WriteString(token.String())
	}

	d.parts = parts.parts()
	if err := parts.check(cmp.Or(d.options.MaxParts, MaxParts)); err != nil {
		return "", err
	}
	d.checkLinks(ids)

	return out.String(), nil
}

func isHeading(a atom.Atom) bool {
	switch a {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return true
	}

	return false
}

// cellChange is +1 where a table cell begins and -1 where it ends.
func cellChange(kind html.TokenType, raw []byte) int {
	switch {
	case kind == html.StartTagToken && (bytes.HasPrefix(raw, []byte("<td")) || bytes.HasPrefix(raw, []byte("<th")) && !bytes.HasPrefix(raw, []byte("<thead"))):
		return 1
	case kind == html.EndTagToken && (bytes.Equal(raw, []byte("</td>")) || bytes.Equal(raw, []byte("</th>"))):
		return -1
	}

	return 0
}

// writeBreakable writes an escaped word with places where it may be broken if
// it is long: a word that cannot be broken makes its table wider than the page,
// and the browser then shrinks the whole document.
func writeBreakable(out *strings.Builder, word []byte) {
	const longWord, piece = 18, 12
	if len(word) <= longWord {
		out.Write(word)
		return
	}

	run := 0
	for i := 0; i < len(word); run++ {
		size := unit(word[i:])
		out.Write(word[i : i+size])

		if strings.IndexByte("/_.,-:;=&?", word[i]) >= 0 && run > 2 || run >= piece {
			out.WriteString("<wbr>")
			run = 0
		}
		i += size
	}
}

// unit is the length of the character or entity that escaped text begins with.
func unit(text []byte) int {
	if text[0] == '&' {
		if i := bytes.IndexByte(text[:min(len(text), 12)], ';'); i > 0 {
			return i + 1
		}
	}
	_, size := utf8.DecodeRune(text)

	return size
}

// printableLink reports whether a target means something in a PDF.
func printableLink(href string) bool {
	lower := strings.ToLower(href)
	for _, prefix := range []string{"#", "http://", "https://", "mailto:", "tel:"} {
		if strings.HasPrefix(lower, prefix) && len(lower) > len(prefix) {
			return true
		}
	}

	return false
}

// checkLinks warns of links to anchors that are not there, once for each anchor.
func (d *draft) checkLinks(ids map[string]bool) {
	times := map[string]int{}
	for _, l := range d.links {
		times[l.target]++
	}

	for _, l := range d.links {
		n := times[l.target]
		if n == 0 || ids[l.target] || l.target == "top" {
			continue
		}
		times[l.target] = 0

		again := ""
		if n > 1 {
			again = fmt.Sprintf(" (%d times)", n)
		}
		d.warn(
			fault.LinkBroken,
			l.line,
			fmt.Sprintf("link to %q%s, but nothing in the document has that anchor", clip("#"+l.target), again),
		)
	}
}

func keepAttrs(attrs []html.Attribute, keep func(html.Attribute) bool) []html.Attribute {
	kept := attrs[:0]
	for _, a := range attrs {
		if keep(a) {
			kept = append(kept, a)
		}
	}

	return kept
}

func attr(t html.Token, key string) string {
	for _, a := range t.Attr {
		if a.Key == key {
			return a.Val
		}
	}

	return ""
}

func lineOf(t html.Token) int {
	n, _ := strconv.Atoi(attr(t, attrLine))
	return n
}
