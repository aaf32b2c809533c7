package footnote

import (
	"bytes"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// maxInlineNote is the longest inline note, in bytes.
const maxInlineNote = 8 << 10

// inlineNoteParser parses the inline notes of Pandoc and LaTeX: ^[A note with *emphasis*.], \footnote{A note.}. The
// note becomes a paragraph at the end of the document, so its content is parsed later.
type inlineNoteParser struct{}

func (inlineNoteParser) Trigger() []byte { return []byte{'^', '\\'} }

// Parse reads ^[a note] or \footnote{a note} in the text, and adds the note to the list.
func (inlineNoteParser) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, segment := block.PeekLine()
	begin, brackets := "^[", "[]"

	if line[0] == '\\' {
		begin, brackets = `\footnote{`, "{}"
	}

	if !bytes.HasPrefix(line, []byte(begin)) {
		return nil
	}

	// In this range, the search from an earlier note has found no end: repeating it would take quadratic time.
	n := notesOf(pc)
	if segment.Start >= n.unclosed.Start && segment.Start < n.unclosed.Stop {
		return nil
	}
	// (^[a-z]+) is a regular expression: the text in brackets is one word, and no word precedes it.
	before := block.PrecendingCharacter()
	alone := line[0] == '^' && (util.IsSpaceRune(before) || strings.ContainsRune("([{|/\"'", before))

	root := parent
	for root.Parent() != nil {
		root = root.Parent()
	}
	at, position := block.Position()
	block.Advance(len(begin))

	content, end, ok := bracketed(block, brackets)
	if !ok {
		n.unclosed = text.NewSegment(segment.Start, end)
	}
	// x^[1]^ is raised text.
	oneWord := len(content) == 1 && !bytes.ContainsAny(content[0].Value(block.Source()), " \t")
	if rest, _ := block.PeekLine(); !ok || alone && oneWord || len(content) == 0 || len(rest) > 0 && rest[0] == '^' {
		block.SetPosition(at, position)
		return nil
	}

	// Goldmark parses the inline content of blocks in the order of the document. The note is at the end, so its content
	// is parsed later.
	if n.inline == nil {
		n.inline = extast.NewFootnoteList()
		root.AppendChild(root, n.inline)
	}
	note := extast.NewFootnote(nil)
	paragraph := ast.NewParagraph()
	lines := text.NewSegments()
	lines.AppendAll(content)
	paragraph.SetLines(lines)
	note.AppendChild(note, paragraph)
	n.inline.AppendChild(n.inline, note)
	n.cited = append(n.cited, note)
	note.Index = len(n.cited)
	link := extast.NewFootnoteLink(note.Index)
	n.links = append(n.links, link)

	return link
}

// bracketed reads up to the closing bracket of a note whose opening bracket has been read, and advances the reader past
// it. brackets are the opening and the closing bracket. It returns the lines before the closing bracket, and the offset
// where it stopped. Escaped brackets and brackets in code do not count. ok is false for an empty or unclosed note, and
// for one longer than maxInlineNote.
func bracketed(block text.Reader, brackets string) (lines []text.Segment, end int, ok bool) {
	depth, size := 1, 0

	for {
		line, segment := block.PeekLine()
		if line == nil || size > maxInlineNote {
			return nil, end, false
		}

		for i := 0; i < len(line); i++ {
			switch line[i] {
			case '\\':
				i++
			case '`':
				run := len(line[i:]) - len(bytes.TrimLeft(line[i:], "`"))
				if shut := bytes.Index(line[i+run:], line[i:i+run]); shut >= 0 {
					i += 2*run + shut - 1
				} else {
					i += run - 1
				}
			case brackets[0]:
				depth++
			case brackets[1]:
				if depth--; depth > 0 {
					break
				}

				if i > 0 {
					lines = append(lines, text.NewSegment(segment.Start, segment.Start+i))
				}
				block.Advance(i + 1)

				return lines, segment.Start + i, len(bytes.TrimSpace(line[:i])) > 0 || len(lines) > 1
			}
		}
		lines = append(lines, segment)
		size += len(line)
		end = segment.Stop
		block.AdvanceLine()
	}
}
