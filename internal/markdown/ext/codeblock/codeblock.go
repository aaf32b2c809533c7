// Package codeblock highlights code blocks with Chroma and reads their info strings. InfoOf reads an info string.
// Prepare highlights all blocks of a document, within limits. The renderer of Extension writes them.
package codeblock

import (
	"html"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	htmlrender "github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/util"

	"presswork/internal/markdown/tree"
)

const (
	// maxHighlightBlock bounds one block that is highlighted, maxHighlightTotal all blocks of a document, in bytes.
	// Further code is printed plain. Lexers read about 2 MB/s.
	maxHighlightBlock = 128 << 10
	maxHighlightTotal = 1 << 20
	// maxHighlightTime is the longest time to highlight one document. The expressions of some lexers take exponential
	// time on hostile code. Ordinary code of maxHighlightTotal bytes takes a hundredth of this time.
	maxHighlightTime = 4 * time.Second
	// maxLanguages is the largest number of languages that are looked up: Chroma takes 10 ms for an unknown one.
	maxLanguages = 100
	// keepLines is the largest number of lines of a block that is kept on one page.
	keepLines = 14
	// longLine is the length of the longest line that fits on every page, in columns. A5 has 56. A longer line has an
	// element of its own, which the style sheet marks where it wraps.
	longLine = 54
)

// codeAttribute is the attribute of a node in which Prepare leaves a preparedCode for the renderer. It is not an
// attribute of the HTML.
const codeAttribute = "prepared-code"

// StartAttribute is the HTML attribute with the number of the first line, for the style sheet.
const StartAttribute = "data-start"

// preparedCode is a code block with its info string read and its lines highlighted.
type preparedCode struct {
	Info
	numbered bool                    // with line numbers
	lines    [][]chroma.Token        // the highlighted text
	look     func(class string) bool // see Prepare
}

// Prepare reads the info strings of the fenced code blocks and highlights the code within the limits above. numbered
// is the default for blocks whose info string sets no line numbers, neither on nor off. look reports whether
// tokens of a class look different from plain text; nil means that any class may.
func Prepare(root ast.Node, src []byte, numbered bool, look func(class string) bool) {
	left := maxHighlightTotal
	deadline := time.Now().Add(maxHighlightTime)
	lexersOf := map[string]chroma.Lexer{} // nil: Chroma does not know the language
	tree.Each(root, func(n ast.Node) {
		code, ok := n.(*ast.FencedCodeBlock)
		if !ok {
			return
		}

		p := preparedCode{Info: InfoOf(code, src), numbered: numbered, look: look}
		if p.Info.numbered != nil {
			p.numbered = *p.Info.numbered
		}
		// The node already has the attributes on the line after the block. An id replaces theirs, and classes are added.
		p.Attributes.SetOn(code)
		text := string(tree.BlockText(code, src, 0))

		marks := ""
		if p.diff && p.Language != "diff" {
			marks, text = cutMarks(text)
		}

		tokens := []chroma.Token{{Type: chroma.Text, Value: text}}
		if p.Language != "" && text != "" && len(text) <= maxHighlightBlock && len(text) <= left {
			left -= len(text)

			lexer, known := lexersOf[p.Language]
			if !known && len(lexersOf) < maxLanguages {
				lexer = lexers.Get(p.Language)
				lexersOf[p.Language] = lexer
			}

			if highlighted := tokenize(lexer, text, deadline); highlighted != nil {
				tokens = highlighted
			}
		}

		p.lines = chroma.SplitTokensIntoLines(tokens)
		for i := range p.lines {
			if i < len(marks) {
				p.lines[i] = append([]chroma.Token{{Type: chroma.Text, Value: marks[i : i+1]}}, p.lines[i]...)
			}
		}
		code.SetAttributeString(codeAttribute, p)
	})
}

// cutMarks splits the lines of a diff. marks has one byte for each line: +, - or a space. rest has the lines without
// their marks.
func cutMarks(text string) (marks, rest string) {
	var m, b strings.Builder

	for line := range strings.Lines(text) {
		if line[0] == '+' || line[0] == '-' || line[0] == ' ' {
			m.WriteByte(line[0])
			b.WriteString(line[1:])
		} else {
			m.WriteByte(' ')
			b.WriteString(line)
		}
	}

	return m.String(), b.String()
}

// linesTogether is the largest number of lines in one code element, tokensTogether the largest number of tokens in
// them. Chromium's time to tag an element grows with the square of its pieces of text. A line with more tokens is not
// highlighted.
const linesTogether, tokensTogether = 100, 1000

// codeRenderer renders code blocks with the class names of Chroma and no inline styles. Plain text and
// punctuation have no span: spans are half the size of a tagged PDF.
type codeRenderer struct{}

func (r codeRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindFencedCodeBlock, r.renderFenced)
	reg.Register(ast.KindCodeBlock, r.renderIndented)
}

// renderIndented writes an indented code block, which has no language.
func (r codeRenderer) renderIndented(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkSkipChildren, nil
	}
	text := []chroma.Token{{Type: chroma.Text, Value: string(tree.BlockText(n, src, 0))}}
	p := preparedCode{lines: chroma.SplitTokensIntoLines(text)}
	p.setColumns(n)
	_, _ = w.WriteString("<pre")
	htmlrender.RenderAttributes(w, n, htmlrender.GlobalAttributeFilter)
	_, _ = w.WriteString("><code>")
	p.write(w, "")
	_, _ = w.WriteString("</code></pre>\n")

	return ast.WalkSkipChildren, nil
}

// renderFenced writes a fenced code block that Prepare has prepared. A block with a title becomes a figure.
func (codeRenderer) renderFenced(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkSkipChildren, nil
	}
	prepared, _ := n.AttributeString(codeAttribute)
	p := prepared.(preparedCode)

	label := tree.AttributeText(n, LabelAttribute)
	if p.Title != "" || label != "" {
		_, _ = w.WriteString(`<figure class="code-figure"><figcaption class="code-title">` + label +
			html.EscapeString(p.Title) + "</figcaption>\n")
	}
	tree.AddClass(n, "chroma")

	if n.Lines().Len() <= keepLines {
		tree.AddClass(n, "keep")
	}

	if p.numbered {
		tree.AddClass(n, "numbered")

		if p.first != 1 {
			n.SetAttributeString(StartAttribute, []byte(strconv.Itoa(p.first)))
		}
	}
	p.setColumns(n)
	_, _ = w.WriteString("<pre")
	htmlrender.RenderAttributes(w, n, htmlrender.GlobalAttributeFilter)

	classes := ""
	if p.Language != "" {
		classes = ` class="language-` + html.EscapeString(p.Language) + `"`
	}
	_, _ = w.WriteString("><code" + classes + ">")
	p.write(w, classes)

	_, _ = w.WriteString("</code></pre>\n")
	if p.Title != "" || label != "" {
		_, _ = w.WriteString("</figure>\n")
	}

	return ast.WalkSkipChildren, nil
}

// write writes the lines. A line has an element of its own only for its number or mark, or because it may wrap. After
// linesTogether lines or tokensTogether tokens, write begins a new code element with the attributes.
func (p preparedCode) write(w util.BufWriter, attributes string) {
	tokens := tokenWriter{w: w, look: p.look}
	together, count := 0, 0 // the lines and tokens of the open code element

	for i, line := range p.lines {
		if len(line) > tokensTogether {
			line = []chroma.Token{{Type: chroma.Text, Value: chroma.Stringify(line...)}}
		}

		if together == linesTogether || together > 0 && count+len(line) > tokensTogether {
			tokens.end()
			_, _ = w.WriteString("</code><code" + attributes + ">")
			together, count = 0, 0
		}
		together, count = together+1, count+len(line)

		class := p.lineClass(i, line)
		if class == "" {
			tokens.write(line)
			continue
		}
		tokens.end()
		_, _ = w.WriteString(`<span class="` + class + `">`)
		tokens.write(line)
		tokens.end()
		_, _ = w.WriteString(`</span>`)
	}
	tokens.end()
}

// lineClass returns the classes of the element of line i, "" if the line needs none.
func (p preparedCode) lineClass(i int, line []chroma.Token) string {
	class := "line"
	if p.isMarked(i + 1) {
		class += " line-marked"
	}

	if p.diff {
		switch start := lineStart(line, 4); {
		case p.Language == "diff" && (start == "+++ " || start == "--- "): // the name of a file
		case strings.HasPrefix(start, "+"):
			class += " line-added"
		case strings.HasPrefix(start, "-"):
			class += " line-removed"
		}
	}

	if class == "line" && !p.numbered && !isLong(line) {
		return ""
	}

	return class
}

// lineStart returns the first n bytes of a line, or all of a shorter one.
func lineStart(line []chroma.Token, n int) string {
	var start strings.Builder
	for _, t := range line {
		start.WriteString(t.Value[:min(len(t.Value), n-start.Len())])
	}

	return start.String()
}

// isLong reports whether a line may wrap.
func isLong(line []chroma.Token) bool {
	columns := 0
	for _, t := range line {
		if columns += columnsOf(t.Value); columns > longLine {
			return true
		}
	}

	return false
}

// tokenize returns the tokens of a text. Neighbours of one type become one token. It returns nil if lexer is nil, if
// the lexer fails, or after the deadline.
func tokenize(lexer chroma.Lexer, text string, deadline time.Time) (tokens []chroma.Token) {
	if lexer == nil {
		return nil
	}

	defer func() {
		if recover() != nil {
			tokens = nil // a lexer panics on a broken rule
		}
	}()

	next, err := lexer.Tokenise(nil, text)
	if err != nil {
		return nil
	}
	var run strings.Builder // the tokens of the type kind
	kind := chroma.Text
	flush := func() {
		if run.Len() > 0 {
			tokens = append(tokens, chroma.Token{Type: kind, Value: run.String()})
			run.Reset()
		}
	}

	for t := next(); t != chroma.EOF; t = next() {
		if time.Now().After(deadline) {
			return nil
		}

		if t.Type != kind {
			flush()
			kind = t.Type
		}
		run.WriteString(t.Value)
	}
	flush()

	return tokens
}

// tokenWriter writes tokens as spans and text with as few elements as possible. Each piece of text
// between two tags is a node of the page, of its accessibility tree and of the PDF. These nodes are most
// of the cost of printing code.
type tokenWriter struct {
	w    util.BufWriter
	look func(class string) bool // see Prepare
	open string                  // the class of the open span, "" for none
}

// write writes tokens. White space becomes part of the open span, and tokens that do not look different become plain
// text. If look is nil, white space is outside spans: a span's style may have a background or an underline.
func (t *tokenWriter) write(tokens []chroma.Token) {
	for _, token := range tokens {
		class := TokenClass(token.Type)

		blank := strings.TrimSpace(token.Value) == ""
		switch {
		case t.look == nil:
			t.end()

			if blank {
				class = ""
			}
		case blank:
			class = t.open
		case !t.look(class):
			class = ""
		}

		if class != t.open {
			t.end()

			if class != "" {
				_, _ = t.w.WriteString(`<span class="` + class + `">`)
				t.open = class
			}
		}
		_, _ = t.w.WriteString(html.EscapeString(token.Value))
	}
}

// end closes the open span.
func (t *tokenWriter) end() {
	if t.open != "" {
		_, _ = t.w.WriteString(`</span>`)
		t.open = ""
	}
}

// TokenClass returns the class of Chroma for a type of tokens, "" for a type that looks like plain text.
func TokenClass(t chroma.TokenType) string {
	switch t {
	case chroma.Text, chroma.TextWhitespace, chroma.Punctuation, chroma.Name, chroma.NameOther,
		chroma.Other, chroma.None, chroma.EOFType:
		return ""
	}

	for {
		if class, ok := chroma.StandardTypes[t]; ok {
			return class
		}

		if t == t.Parent() {
			return ""
		}
		t = t.Parent()
	}
}
