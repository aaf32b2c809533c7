package markdown

import (
	"context"
	"fmt"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"

	"presswork/internal/fault"
	"presswork/internal/markdown/ext/drawntable"
	"presswork/internal/markdown/ext/reference"
	"presswork/internal/markdown/source"
)

// Goldmark cannot be cancelled, and some inputs take it time that grows with the square of their size: 50 000 ×
// `*a_ ` takes 25 s. Its parsers are therefore wrapped (guards.go). Each wrapper estimates the work of a step and
// charges it to the budget. One unit is about 3 ns.
const (
	// workLimit bounds the estimated super-linear work of one parse to about 1 s. A book of 10 MB needs a
	// twentieth of it.
	workLimit = 200_000_000
	// maxNesting bounds the depth of blocks within blocks.
	maxNesting = 100
	// maxTreeDepth bounds the depth of the parsed tree, inline nodes included: rendering is recursive, and browsers
	// flatten deeper elements.
	maxTreeDepth = 300
	// maxOpen bounds the marks without a match in one block, and the open brackets.
	maxOpen = 10_000
	// ctxEvery is the number of units, about 12 ms, after which the context is checked again.
	ctxEvery = 4_000_000
)

// budget counts the work of one parse. Exceeding it ends the parse with a panic that parseDrawn turns into an
// error: goldmark has no other exit.
type budget struct {
	ctx       context.Context
	spent     int // in units
	checkedAt int // units spent when the context was last checked

	block      ast.Node // the block whose inline content is parsed
	marks      []mark   // the delimiters of block without a match, in order
	brackets   []int    // offsets of the open brackets of block
	references reference.Keys
	referred   int // the number of references so far

	ticksOf ast.Node    // the block that ticks describes
	ticks   map[int]int // for each length of a run of backticks, the offset of the last such run
}

// budgetKey is the key of the budget in the context of a parse. It is created once because goldmark counts keys
// without a lock.
var budgetKey = parser.NewContextKey()

// budgetOf returns the budget of a parse.
func budgetOf(pc parser.Context) *budget { return pc.Get(budgetKey).(*budget) }

// mark is a run of emphasis delimiters that may still find its match.
type mark struct {
	char              byte
	canOpen, canClose bool
	length            int // the delimiters without a match
	original          int // the length of the run in the source
	offset            int // of the run in the source
}

// stopParsing is the value of the panic that ends a parse. parseDrawn returns its err.
type stopParsing struct{ err error }

// spend charges units of work. It ends the parse if the budget is exceeded or the context has ended.
func (b *budget) spend(units int) {
	b.spent += units
	if b.spent > workLimit {
		panic(stopParsing{source.TooComplex("the Markdown is too complex to parse: " +
			"too many unmatched *, _, [ or definitions in one place")})
	}

	if b.spent-b.checkedAt >= ctxEvery {
		b.checkedAt = b.spent
		if b.ctx.Err() != nil {
			panic(stopParsing{context.Cause(b.ctx)})
		}
	}
}

// checkNesting ends the parse if blocks are nested too deeply.
func (b *budget) checkNesting(depth int) {
	if depth > maxNesting {
		panic(stopParsing{source.TooComplex("the Markdown nests quotes or lists deeper than %d levels", maxNesting)})
	}
}

// maxReferences bounds the references of a document. A book of 1000 pages has about 5000.
const maxReferences = 20_000

// countReference counts a reference and ends the parse if there are more than maxReferences.
func countReference(pc parser.Context) {
	b := budgetOf(pc)
	if b.referred++; b.referred > maxReferences {
		panic(stopParsing{source.TooComplex("the Markdown holds over %d references; at most %d are allowed",
			maxReferences, maxReferences)})
	}
}

// referenceKeysOf returns which references the parser reads. The parser of table cells has no budget and reads none.
func referenceKeysOf(pc parser.Context) reference.Keys {
	b, ok := pc.Get(budgetKey).(*budget)
	if !ok {
		return reference.None
	}

	return b.references
}

// labelKeys returns which references to read in a document that is parsed without options, so without works to cite.
func labelKeys(src []byte) reference.Keys {
	if HasLabels(src) {
		return reference.ToLabels
	}

	return reference.None
}

// parse parses a document within the budget. Errors: ContentTooComplex; RenderFailed if goldmark panics; the cause of
// ctx.
func parse(ctx context.Context, p parser.Parser, src []byte, dialect string, keys reference.Keys) (ast.Node, error) {
	return parseDrawn(ctx, p, src, len(src), nil, dialect, keys)
}

// parseDrawn is parse for the document src[:size]. The rest of src are the texts of the cells of its drawn tables.
func parseDrawn(
	ctx context.Context,
	p parser.Parser,
	src []byte,
	size int,
	tables drawntable.Tables,
	dialect string,
	keys reference.Keys,
) (root ast.Node, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case stopParsing:
			root, err = nil, r.err
		default:
			root, err = nil, fault.Errorf(fault.RenderFailed, "the Markdown could not be parsed").
				WithCause(fmt.Errorf("goldmark panicked: %v", r))
		}
	}()

	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	pc := parser.NewContext()
	pc.Set(budgetKey, &budget{ctx: ctx, references: keys})
	pc.Set(dialectKey, dialect)
	root = p.Parse(tables.NewReader(src, size, pc), parser.WithContext(pc))

	return root, checkDepth(root)
}

// checkDepth returns ContentTooComplex for a tree deeper than maxTreeDepth. It does not recurse, so that the tree
// cannot exhaust the stack.
func checkDepth(root ast.Node) error {
	depth := 0

	for n := root; n != nil; {
		if c := n.FirstChild(); c != nil {
			n, depth = c, depth+1
			if depth > maxTreeDepth {
				return source.TooComplex("the Markdown nests deeper than %d levels", maxTreeDepth)
			}
			continue
		}

		for n != root && n.NextSibling() == nil {
			n, depth = n.Parent(), depth-1
		}

		if n == root {
			return nil
		}
		n = n.NextSibling()
	}

	return nil
}
