package markdown

import (
	"bytes"
	"html"
	"strings"
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/util"
)

const (
	// maxHighlightBlock and maxHighlightTotal bound, in bytes, what is
	// highlighted; the rest is printed plain. Lexers run at about 2 MB/s.
	maxHighlightBlock = 128 << 10
	maxHighlightTotal = 1 << 20
	// maxHighlightTime bounds highlighting one document: some lexers'
	// expressions take exponential time on code made for it. It is a hundred
	// times what ordinary code of that size needs.
	maxHighlightTime = 4 * time.Second
	// keepLines is how long a block may be that is kept on one page.
	keepLines = 24
)

// Attributes by which prepareCode speaks to codeRenderer.
const (
	attrTokens = "tokens"
	attrLines  = "lines"
)

// prepareCode highlights code blocks, as far as the limits go, and says
// whether lines are numbered.
func prepareCode(root ast.Node, src []byte, lineNumbers bool) {
	left := maxHighlightTotal
	deadline := time.Now().Add(maxHighlightTime)
	eachNode(root, func(n ast.Node) {
		code, ok := n.(*ast.FencedCodeBlock)
		if !ok {
			return
		}
		if lineNumbers {
			code.SetAttributeString(attrLines, true)
		}
		language := languageOf(code, src)
		if language == "" {
			return
		}
		text := blockText(code, src, 0)
		if len(text) > maxHighlightBlock || len(text) > left {
			return
		}
		left -= len(text)
		if tokens := tokenize(language, string(text), deadline); tokens != nil {
			code.SetAttributeString(attrTokens, tokens)
		}
	})
}

// codeRenderer renders code blocks with Chroma's class names and no inline
// style. Plain text and punctuation get no span: spans are half the weight of
// a tagged PDF.
type codeRenderer struct{}

func (r codeRenderer) RegisterFuncs(reg renderer.NodeRendererFuncRegisterer) {
	reg.Register(ast.KindFencedCodeBlock, r.fenced)
	reg.Register(ast.KindCodeBlock, r.indented)
}

func (codeRenderer) indented(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		_, _ = w.WriteString(`<pre><code>` + html.EscapeString(string(blockText(n, src, 0))) + "</code></pre>\n")
	}
	return ast.WalkSkipChildren, nil
}

func (codeRenderer) fenced(w util.BufWriter, src []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkSkipChildren, nil
	}
	code := n.(*ast.FencedCodeBlock)
	_, numbered := code.AttributeString(attrLines)
	language := languageOf(code, src)
	tokens := []chroma.Token{{Type: chroma.Text, Value: string(blockText(n, src, 0))}}
	if highlighted, ok := code.AttributeString(attrTokens); ok {
		tokens = highlighted.([]chroma.Token)
	}

	class := "chroma"
	if code.Lines().Len() <= keepLines {
		class += " keep"
	}
	if numbered {
		class += " numbered"
	}
	_, _ = w.WriteString(`<pre class="` + class + `"><code`)
	if language != "" {
		_, _ = w.WriteString(` class="language-` + html.EscapeString(language) + `"`)
	}
	_ = w.WriteByte('>')
	if numbered {
		for _, line := range chroma.SplitTokensIntoLines(tokens) {
			_, _ = w.WriteString(`<span class="line">`)
			writeTokens(w, line)
			_, _ = w.WriteString(`</span>`)
		}
	} else {
		writeTokens(w, tokens)
	}
	_, _ = w.WriteString("</code></pre>\n")
	return ast.WalkSkipChildren, nil
}

// languageOf reads the first word of the info string, without braces.
func languageOf(code *ast.FencedCodeBlock, src []byte) string {
	name := string(code.Language(src))
	name, _, _ = strings.Cut(name, "{")
	name, _, _ = strings.Cut(name, ",")
	return strings.ToLower(strings.Trim(name, ".} "))
}

// tokenize returns nil for a language Chroma does not know, and for code that
// its lexer breaks on or does not get through in time.
func tokenize(language, text string, deadline time.Time) (tokens []chroma.Token) {
	lexer := lexers.Get(language)
	if lexer == nil {
		return nil
	}
	defer func() {
		if recover() != nil {
			tokens = nil // lexers panic on a broken rule; the code is still printed
		}
	}()
	next, err := lexer.Tokenise(nil, text)
	if err != nil {
		return nil
	}
	var run strings.Builder // of tokens of one type
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

func writeTokens(w util.BufWriter, tokens []chroma.Token) {
	for _, t := range tokens {
		class := tokenClass(t.Type)
		if class != "" && len(bytes.TrimSpace([]byte(t.Value))) > 0 {
			_, _ = w.WriteString(`<span class="` + class + `">` + html.EscapeString(t.Value) + `</span>`)
		} else {
			_, _ = w.WriteString(html.EscapeString(t.Value))
		}
	}
}

// tokenClass is Chroma's short class, "" for what looks like plain text.
func tokenClass(t chroma.TokenType) string {
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
