// Package direction finds the direction of texts, and sets the direction of blocks that differs from that of the
// document. It also finds letters that need special treatment: Arabic ones, and those of scripts without italics.
package direction

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"presswork/internal/markdown/tree"
)

// Of returns the direction of a language (BCP 47): "rtl" or "ltr".
func Of(lang string) string {
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
	case "ar", "arz", "azb", "bal", "ckb", "dv", "fa", "glk", "he", "iw", "ji", "ks", "lrc", "mzn", "nqo", "pnb",
		"prs", "ps", "sd", "syr", "ug", "ur", "yi":
		return "rtl"
	}

	return "ltr"
}

// Set gives a dir attribute to each block whose direction differs from that of the block around it. lang is the
// language of the document (BCP 47). Blocks within an element of raw HTML that has a dir attribute keep that direction.
// Emphasised text in a script without italics gets the class "upright".
func Set(root ast.Node, src []byte, lang string) {
	s := setter{src: src, counts: map[ast.Node]letters{}}
	s.count(root)
	s.setBlocks(root, Of(lang), false)
}

// setter sets the directions of one document.
type setter struct {
	src    []byte
	counts map[ast.Node]letters // the letters of each block
}

// count returns the letters below a node. It keeps those of each block in counts.
func (s *setter) count(n ast.Node) (sum letters) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.CodeSpan:
		case *ast.Text:
			sum.add(c.Segment.Value(s.src))
		case *ast.String:
			sum.add(c.Value)
		case *ast.Emphasis:
			inside := s.count(c)
			if c.Level == 1 && inside.upright*2 > inside.rtl+inside.ltr {
				tree.AddClass(c, "upright")
			}
			sum.join(inside)
		default:
			sum.join(s.count(c))
		}
	}

	if n.Type() == ast.TypeBlock {
		s.counts[n] = sum
	}

	return sum
}

// setBlocks sets the directions of the blocks below a node. around is the direction of the node. fixed reports whether
// the source sets that direction: the blocks then keep it.
func (s *setter) setBlocks(n ast.Node, around string, fixed bool) {
	var open elements

	for c := n.FirstChild(); c != nil && c.Type() == ast.TypeBlock; {
		next := c.NextSibling()
		dir, isFixed := around, fixed

		if given := open.dir(); given != "" { // from raw HTML before the block
			dir, isFixed = given, true
		}

		switch own := tree.AttributeText(c, "dir"); {
		case c.Kind() == ast.KindHTMLBlock:
			open.read(tree.BlockText(c, s.src, 0))
		case own == "ltr" || own == "rtl":
			dir = own
		case !isFixed:
			dir = s.setBlock(c, dir)
		}
		s.setBlocks(c, dir, isFixed)
		c = next
	}
}

// setBlock sets the direction of a block if it differs from around, and returns the direction for the blocks below it.
func (s *setter) setBlock(n ast.Node, around string) string {
	wanted := s.wanted(n)
	if wanted == "" || wanted == around {
		return around
	}

	if _, bare := n.(*ast.TextBlock); bare { // printed without an element that could have the attribute
		isolate(n, wanted)
		return around
	}
	n.SetAttributeString("dir", []byte(wanted))

	return wanted
}

// wanted returns the direction that a block should have, "" for that of the block around it. All items of a list have
// the direction of the list, so that their markers are on one side. A table has the direction of its header row.
func (s *setter) wanted(n ast.Node) string {
	switch n := n.(type) {
	case *ast.List:
		if n.Parent().Kind() == ast.KindListItem {
			return ""
		}
	case *east.Table:
		return s.counts[n.FirstChild()].direction()
	case *ast.TextBlock:
		if n.Parent().Kind() != ast.KindListItem {
			return ""
		}
	case *ast.Paragraph,
		*ast.Heading,
		*ast.Blockquote,
		*east.TableCell,
		*east.DefinitionTerm,
		*east.DefinitionDescription:
	default:
		return ""
	}

	return s.counts[n].direction()
}

// isolate moves the text of a block that is printed without an element into a span.
func isolate(block ast.Node, dir string) {
	span := &tree.Element{Tag: "span"}
	span.SetAttributeString("dir", []byte(dir))

	tree.MoveChildren(block, span)
	block.AppendChild(block, span)
}
