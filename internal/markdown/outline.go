package markdown

import (
	"bytes"
	"context"
	"strings"
	"sync"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"

	"presswork/internal/markdown/dialect"
	"presswork/internal/markdown/ext/emoji"
	"presswork/internal/markdown/ext/math"
	"presswork/internal/markdown/frontmatter"
	"presswork/internal/markdown/source"
	"presswork/internal/markdown/tree"
)

// Outline has the texts and the structure of a document for analysis. It comes from the same parser as the printed
// page.
type Outline struct {
	// FrontMatter is the text between the fences, "" without front matter.
	FrontMatter string
	// Blocks are the blocks with text, in order.
	Blocks []Block
	// Lines counts the lines of the body that are not blank. CodeLines, TableLines, QuoteLines and HTMLLines count
	// those of the blocks of that kind.
	Lines, CodeLines, TableLines, QuoteLines, HTMLLines int
	// Items counts list items, Rules thematic breaks, and Fences fenced code blocks.
	Items, Rules, Fences int
}

// BlockKind is the kind of a block of an Outline.
type BlockKind uint8

// Kinds of blocks. Paragraphs and items within a quote or an alert are QuoteBlocks. A RowBlock is one row of a
// table.
const (
	ParagraphBlock BlockKind = iota
	HeadingBlock
	ItemBlock
	QuoteBlock
	RowBlock
	CodeBlock
)

// Block is a run of text.
type Block struct {
	// Kind decides which of the fields Level, Ordered, Task and Fence have a meaning.
	Kind BlockKind
	// Text has no markup, code spans, formulas, web addresses or images, except that a heading keeps its code.
	// Lines end with "\n" as in the source. A line before a hard line break, or before a line that begins in bold,
	// ends with LineSeparator.
	Text string
	// Level is the level of a heading, 1 to 6.
	Level int
	// Ordered reports whether an item is numbered, Task whether it has a check box.
	Ordered, Task bool
	// Fence is the first word after a code fence in lower case, "" without one.
	Fence string
	// Lead reports whether the text begins in bold.
	Lead bool
	// Bold and Linked are the texts in bold and of links. Images are the addresses of images, each with its
	// description.
	Bold, Linked, Images []string
	// Addresses are those of links, without links within the document.
	Addresses []string
	// CodeSpans and Formulas count the code spans and formulas.
	CodeSpans, Formulas int
	// CodeBytes is the number of bytes of a heading's text that are code.
	CodeBytes int
}

// LineSeparator ends a line of Block.Text that the author separated from the next line.
const LineSeparator = "\u2028"

// outlineParser returns the parser that outlines share.
var outlineParser = sync.OnceValue(newParser)

// ReadOutline reads a document in UTF-8 without a byte order mark. Errors: ContentTooComplex, and RenderFailed if the
// parser fails.
func ReadOutline(src []byte) (Outline, error) {
	var o Outline
	if matter, body, ok := frontmatter.Split(src); ok {
		o.FrontMatter, src = string(matter), body
	}
	src = source.NormalizeNewlines(src)

	root, err := parse(context.Background(), outlineParser(), src, dialect.Detect(src), labelKeys(src))
	if err != nil {
		return o, err
	}

	for line := range bytes.Lines(src) {
		if len(bytes.TrimSpace(line)) > 0 {
			o.Lines++
		}
	}
	r := outliner{out: &o, src: src}
	r.readBlocks(root, ParagraphBlock)

	return o, nil
}

// outliner reads the tree of a document into an Outline.
type outliner struct {
	out *Outline
	src []byte
	// ordered reports whether the current list is numbered.
	ordered bool

	cur  Block        // the current block
	text bytes.Buffer // of the current block
}

// readBlocks reads the children of a block. Their plain paragraphs are of kind k.
func (r *outliner) readBlocks(parent ast.Node, k BlockKind) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		switch n := n.(type) {
		case *ast.Heading:
			r.readInline(n, Block{Kind: HeadingBlock, Level: n.Level})
		case *ast.FencedCodeBlock:
			r.out.Fences++
			r.out.CodeLines += n.Lines().Len() + 2
			r.out.Blocks = append(r.out.Blocks, Block{
				Kind:  CodeBlock,
				Fence: strings.ToLower(string(n.Language(r.src))),
				Text:  string(tree.BlockText(n, r.src, 0)),
			})
		case *ast.CodeBlock:
			r.out.CodeLines += n.Lines().Len()
		case *ast.HTMLBlock:
			r.readHTML(n)
		case *ast.ThematicBreak:
			r.out.Rules++
		case *ast.List:
			before := r.ordered
			r.ordered = n.IsOrdered()
			r.readBlocks(n, k)
			r.ordered = before
		case *ast.ListItem:
			r.readItem(n, k)
		case *ast.Blockquote, *tree.Alert:
			r.readBlocks(n, QuoteBlock)
		case *east.TableHeader, *east.TableRow:
			r.readRow(n)
		case *math.Block:
			r.out.Blocks = append(r.out.Blocks, Block{Formulas: 1})
		case *ast.Paragraph, *ast.TextBlock, *east.DefinitionTerm:
			r.readInline(n, Block{Kind: k})
		default:
			r.readBlocks(n, k)
		}
	}
}

// readItem reads a list item. Its first text becomes an ItemBlock, except within a quote; later texts become blocks
// of their own.
func (r *outliner) readItem(n *ast.ListItem, k BlockKind) {
	r.out.Items++

	first := n.FirstChild()
	switch first.(type) {
	case *ast.Paragraph, *ast.TextBlock:
		if k != QuoteBlock {
			first.SetAttributeString(itemMark, r.ordered)
		}
	}
	r.readBlocks(n, k)
}

// itemMark is the attribute on the first text of an item. Its value reports whether the list is numbered.
const itemMark = "presswork-item"

// readRow reads a row of a table. Its cells are separated by " | ".
func (r *outliner) readRow(n ast.Node) {
	if _, head := n.(*east.TableHeader); head {
		r.out.TableLines++ // and the rule below the head
	}
	r.out.TableLines++
	r.beginBlock(Block{Kind: RowBlock})

	for cell := n.FirstChild(); cell != nil; cell = cell.NextSibling() {
		if r.text.Len() > 0 {
			r.text.WriteString(" | ")
		}
		r.readSpans(cell)
	}
	r.endBlock()
}

// readInline reads a block of running text.
func (r *outliner) readInline(n ast.Node, b Block) {
	if ordered, is := n.AttributeString(itemMark); is {
		b.Kind, b.Ordered = ItemBlock, ordered.(bool)
	}

	if b.Kind == QuoteBlock {
		r.out.QuoteLines += n.Lines().Len()
	}
	r.beginBlock(b)
	r.readSpans(n)
	r.endBlock()
}

// beginBlock begins a block. Its text is collected until endBlock.
func (r *outliner) beginBlock(b Block) {
	r.cur = b
	r.text.Reset()
}

// endBlock adds the current block to the outline.
func (r *outliner) endBlock() {
	r.cur.Text = string(bytes.TrimSpace(r.text.Bytes()))
	r.out.Blocks = append(r.out.Blocks, r.cur)
}

// readSpans reads the inline children of a node.
func (r *outliner) readSpans(parent ast.Node) {
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		r.readSpan(n)
	}
}

// readSpan reads one inline node: its words go to the text, and links, images and the like are counted.
func (r *outliner) readSpan(n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		r.readText(n)
	case *ast.String:
		r.text.Write(n.Value)
	case *emoji.Emoji:
		r.text.WriteString(n.Character)
	case *ast.CodeSpan:
		r.cur.CodeSpans++
		if r.cur.Kind == HeadingBlock {
			code := tree.PlainText(n, r.src)
			r.text.WriteString(code)
			r.cur.CodeBytes += len(code)
		}
	case *math.Formula:
		r.cur.Formulas++
	case *ast.AutoLink:
		if n.AutoLinkType == ast.AutoLinkEmail {
			r.text.Write(n.Label(r.src))
		}
		r.addAddress(n.URL(r.src))
	case *ast.Link:
		r.addAddress(n.Destination)
		r.cur.Linked = append(r.cur.Linked, r.textWithin(n))
	case *ast.Image:
		r.cur.Images = append(r.cur.Images, string(n.Destination)+" "+tree.PlainText(n, r.src))
	case *ast.Emphasis:
		if n.Level < 2 {
			r.readSpans(n)
			return
		}
		r.cur.Lead = r.cur.Lead || len(bytes.TrimSpace(r.text.Bytes())) == 0
		r.cur.Bold = append(r.cur.Bold, r.textWithin(n))
	case *ast.RawHTML:
		r.readTag(n.Segments.Value(r.src))
	case *east.TaskCheckBox:
		r.cur.Task = true
	case *east.FootnoteLink:
	default:
		r.readSpans(n)
	}
}

// addAddress adds the address of a link, unless it is empty or within the document.
func (r *outliner) addAddress(address []byte) {
	if len(address) > 0 && address[0] != '#' {
		r.cur.Addresses = append(r.cur.Addresses, string(address))
	}
}

// textWithin reads the children of a node and returns their text.
func (r *outliner) textWithin(n ast.Node) string {
	from := r.text.Len()
	r.readSpans(n)

	return string(r.text.Bytes()[from:])
}

// readText adds text without its escapes and entities.
func (r *outliner) readText(n *ast.Text) {
	value := n.Value(r.src)
	if n.IsRaw() || bytes.IndexByte(value, '&') < 0 && bytes.IndexByte(value, '\\') < 0 {
		r.text.Write(value)
	} else {
		r.text.WriteString(tree.Unescape(value))
	}

	switch bold, _ := n.NextSibling().(*ast.Emphasis); {
	case n.HardLineBreak(), n.SoftLineBreak() && bold != nil && bold.Level == 2:
		r.text.WriteString(LineSeparator)
	case n.SoftLineBreak():
		r.text.WriteByte('\n')
	}
}
