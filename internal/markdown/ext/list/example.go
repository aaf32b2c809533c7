package list

import (
	"bytes"
	"strconv"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// exampleCount counts the numbered examples of a document.
type exampleCount struct {
	count  int
	labels map[string]int // the number of each label
}

// examplesKey is the key of the *exampleCount in a parser.Context.
var examplesKey = parser.NewContextKey()

// examplesOf returns the count of a parse, which it creates if necessary.
func examplesOf(pc parser.Context) *exampleCount {
	e, _ := pc.Get(examplesKey).(*exampleCount)
	if e == nil {
		e = &exampleCount{labels: map[string]int{}}
		pc.Set(examplesKey, e)
	}

	return e
}

// exampleParser parses references to numbered examples: (@label).
type exampleParser struct{}

func (exampleParser) Trigger() []byte { return []byte{'('} }

// Parse reads a reference to an example, "(@label)", and returns its number.
func (exampleParser) Parse(_ ast.Node, block text.Reader, pc parser.Context) ast.Node {
	line, _ := block.PeekLine()
	if len(line) < 4 || line[1] != '@' {
		return nil
	}
	end := bytes.IndexByte(line[:min(len(line), 40)], ')')

	e, _ := pc.Get(examplesKey).(*exampleCount)
	if end < 0 || e == nil || e.labels[string(line[2:end])] == 0 {
		return nil
	}
	block.Advance(end + 1)

	return ast.NewString([]byte("(" + strconv.Itoa(e.labels[string(line[2:end])]) + ")"))
}
