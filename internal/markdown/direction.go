package markdown

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"golang.org/x/net/html"

	"presswork/internal/markdown/tree"
)

// maxProse bounds, in bytes, the text by which a language is guessed.
const maxProse = 20_000

// visibleText is the beginning of the text that a reader sees: no code, addresses,
// formulas or tags.
func visibleText(root ast.Node, src []byte) string {
	var b strings.Builder
	_ = ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if b.Len() > maxProse {
			return ast.WalkStop, nil
		}

		if !entering {
			if n.Type() == ast.TypeBlock {
				b.WriteByte('\n')
			}

			return ast.WalkContinue, nil
		}

		switch n := n.(type) {
		case *ast.CodeSpan:
			return ast.WalkSkipChildren, nil
		case *ast.Text:
			writeWords(&b, n.Segment.Value(src))

			if n.SoftLineBreak() || n.HardLineBreak() {
				b.WriteByte('\n')
			}
		case *ast.String:
			writeWords(&b, n.Value)
		case *ast.HTMLBlock:
			writeHTMLText(&b, tree.BlockText(n, src, 0))
		}

		return ast.WalkContinue, nil
	})

	return b.String()
}

// writeWords writes text without the addresses in it.
func writeWords(b *strings.Builder, text []byte) {
	if !bytes.Contains(text, []byte("://")) {
		b.Write(text)
		return
	}

	for word := range bytes.FieldsSeq(text) {
		if !bytes.Contains(word, []byte("://")) {
			b.Write(word)
			b.WriteByte(' ')
		}
	}
}

func writeHTMLText(b *strings.Builder, raw []byte) {
	unseen := 0

	for z := html.NewTokenizer(bytes.NewReader(raw)); ; {
		kind := z.Next()
		switch kind {
		case html.ErrorToken:
			return
		case html.TextToken:
			if unseen == 0 {
				writeWords(b, z.Raw())
				b.WriteByte('\n')
			}
		case html.StartTagToken, html.EndTagToken:
			if tag, _ := z.TagName(); bytes.Contains(
				[]byte(" code pre script style kbd samp "),
				[]byte(" "+string(tag)+" "),
			) {
				if unseen++; kind == html.EndTagToken {
					unseen = max(unseen-2, 0)
				}
			}
		}
	}
}

// Direction is the direction, "rtl" or "ltr", that a language (BCP 47) is
// written in.
func Direction(lang string) string {
	base, rest, _ := strings.Cut(strings.ToLower(lang), "-")
	for part := range strings.SplitSeq(rest, "-") {
		switch part {
		case "arab", "aran", "hebr", "syrc", "thaa", "nkoo":
			return "rtl"
		case "latn", "cyrl":
			return "ltr"
		}
	}

	switch base {
	case "ar",
		"arz",
		"azb",
		"bal",
		"ckb",
		"dv",
		"fa",
		"glk",
		"he",
		"iw",
		"ji",
		"ks",
		"lrc",
		"mzn",
		"nqo",
		"pnb",
		"prs",
		"ps",
		"sd",
		"syr",
		"ug",
		"ur",
		"yi":
		return "rtl"
	}

	return "ltr"
}

// IsRTL reports whether a character is of a script written from right to left, or
// turns the text behind it.
func IsRTL(r rune) bool {
	return r >= 0x590 && r < 0x900 || r >= 0xfb1d && r < 0xfe00 || r >= 0xfe70 && r < 0xff00 ||
		r >= 0x10800 && r < 0x11000 ||
		r >= 0x1e800 && r < 0x1f000 ||
		r == 0x200f ||
		r >= 0x202a && r <= 0x202e ||
		r >= 0x2066 && r <= 0x2069
}

// isUpright reports whether a letter is of a script that has no italics: all
// but Latin, Greek, Cyrillic and their neighbours.
func isUpright(r rune) bool {
	switch {
	case r < 0x590,
		r >= 0x10a0 && r < 0x1100,
		r >= 0x13a0 && r < 0x1400,
		r >= 0x1c80 && r < 0x2e00,
		r >= 0xa640 && r < 0xa800,
		r >= 0xab30 && r < 0xab70,
		r >= 0xfb00 && r < 0xfb1d,
		r >= 0xff21 && r < 0xff5b:
		return false
	}

	return unicode.IsLetter(r)
}

// hasUpright reports whether a text has letters that are never slanted. Most
// texts have none, and one look at their bytes shows it.
func hasUpright(text []byte) bool {
	for i, b := range text {
		if b >= 0xd6 && b != 0xe2 {
			if r, _ := utf8.DecodeRune(text[i:]); isUpright(r) {
				return true
			}
		}
	}

	return false
}

// letters counts the letters of a piece of text by their direction, and keeps
// the direction of the first.
type letters struct {
	rtl, ltr, upright int
	first             string
}

func (l *letters) add(text []byte) {
	for _, r := range string(text) {
		switch {
		case r < 'A' || !unicode.IsLetter(r):
			continue
		case IsRTL(r):
			l.rtl++
			if l.first == "" {
				l.first = "rtl"
			}
		default:
			l.ltr++
			if l.first == "" {
				l.first = "ltr"
			}
		}

		if isUpright(r) {
			l.upright++
		}
	}
}

func (l *letters) join(other letters) {
	l.rtl, l.ltr, l.upright = l.rtl+other.rtl, l.ltr+other.ltr, l.upright+other.upright
	if l.first == "" {
		l.first = other.first
	}
}

// direction is where the text runs for certain, "" where its first letter and
// most of the others disagree: a foreign name at the start of a sentence, or a
// quotation in it, turns nothing.
func (l letters) direction() string {
	switch {
	case l.first == "rtl" && l.rtl > l.ltr:
		return "rtl"
	case l.first == "ltr" && l.ltr > l.rtl:
		return "ltr"
	}

	return ""
}

// directions sets the direction of the blocks that run against what surrounds
// them, and marks emphasised text that must not be slanted.
type directions struct {
	src    []byte
	counts map[ast.Node]letters // by block
}

func setDirections(root ast.Node, src []byte, lang string) {
	d := directions{src: src, counts: map[ast.Node]letters{}}
	d.count(root)
	d.turn(root, Direction(lang))
}

func (d *directions) count(n ast.Node) (sum letters) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.CodeSpan:
		case *ast.Text:
			sum.add(c.Segment.Value(d.src))
		case *ast.String:
			sum.add(c.Value)
		case *ast.Emphasis:
			inside := d.count(c)
			if c.Level == 1 && inside.upright*2 > inside.rtl+inside.ltr {
				tree.AddClass(c, "upright")
			}
			sum.join(inside)
		default:
			sum.join(d.count(c))
		}
	}

	if n.Type() == ast.TypeBlock {
		d.counts[n] = sum
	}

	return sum
}

func (d *directions) turn(n ast.Node, around string) {
	for c := n.FirstChild(); c != nil && c.Type() == ast.TypeBlock; {
		next := c.NextSibling()

		dir := around
		if own := tree.AttributeText(c, "dir"); own == "ltr" || own == "rtl" {
			dir = own
		} else if wanted := d.wanted(c); wanted != "" && wanted != around {
			if _, bare := c.(*ast.TextBlock); bare {
				isolate(c, wanted)
			} else {
				c.SetAttributeString("dir", []byte(wanted))
				dir = wanted
			}
		}
		d.turn(c, dir)
		c = next
	}
}

// wanted is the direction that a block should have, "" for that of what is
// around it. The items of a list have their markers on one side, that of the
// list; a table runs as its head does.
func (d *directions) wanted(n ast.Node) string {
	switch n := n.(type) {
	case *ast.List:
		if n.Parent().Kind() == ast.KindListItem {
			return ""
		}
	case *extast.Table:
		return d.counts[n.FirstChild()].direction()
	case *ast.TextBlock:
		if n.Parent().Kind() != ast.KindListItem {
			return ""
		}
	case *ast.Paragraph,
		*ast.Heading,
		*ast.Blockquote,
		*extast.TableCell,
		*extast.DefinitionTerm,
		*extast.DefinitionDescription:
	default:
		return ""
	}

	return d.counts[n].direction()
}

// isolate puts the text of a block that has no element of its own into one.
func isolate(block ast.Node, dir string) {
	span := &tree.Element{Tag: "span"}
	span.SetAttributeString("dir", []byte(dir))

	for c := block.FirstChild(); c != nil; {
		next := c.NextSibling()
		span.AppendChild(span, c)
		c = next
	}
	block.AppendChild(block, span)
}
