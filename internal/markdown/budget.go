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

// goldmark cannot be cancelled, and some inputs take it time that grows with
// the square of their size: 50 000 × `*a_ ` is 25 s. Its parsers are therefore
// wrapped (guards.go): each wrapper foresees what a step will cost and spends
// it here. One unit is about 3 ns.
const (
	// workLimit bounds the foreseen super-linear work of one parse to about a
	// second. A 10 MB book needs a twentieth of it.
	workLimit = 200_000_000
	// maxNesting is how deep blocks may lie in each other.
	maxNesting = 100
	// maxInlineNesting bounds the depth of the finished tree: rendering it is
	// recursive, and browsers flatten what is deeper.
	maxInlineNesting = 300
	// maxOpen bounds the marks and brackets that wait for their match.
	maxOpen = 10_000
	// ctxEvery is how many units are spent between looks at the context.
	ctxEvery = 4_000_000
)

// budget counts the work of one parse. Overspending ends the parse by a panic
// that parse turns into an error: there is no other way out of goldmark.
type budget struct {
	ctx   context.Context
	spent int
	look  int

	block      ast.Node // whose inline content is being parsed
	marks      []mark
	brackets   []int // offsets of the open ones
	references reference.Keys
	referred   int // how many there are

	ticksOf ast.Node // the block that ticks is of
	ticks   map[int]int
}

// budgetKey is where a parse's guards find its budget. It is made at start
// because goldmark counts its keys in an unguarded variable.
var budgetKey = parser.NewContextKey()

func budgetOf(pc parser.Context) *budget { return pc.Get(budgetKey).(*budget) }

// mark is an emphasis delimiter run that may still be matched.
type mark struct {
	char             byte
	canOpen, canShut bool
	length, original int
	offset           int
}

type stopParsing struct{ err error }

func (b *budget) spend(units int) {
	b.spent += units
	if b.spent > workLimit {
		panic(
			stopParsing{
				source.TooComplex(
					"the Markdown is too complex to parse: too many unmatched *, _, [ or definitions in one place",
				),
			},
		)
	}

	if b.spent-b.look >= ctxEvery {
		b.look = b.spent
		if b.ctx.Err() != nil {
			panic(stopParsing{context.Cause(b.ctx)})
		}
	}
}

func (b *budget) nest(depth int) {
	if depth > maxNesting {
		panic(stopParsing{source.TooComplex("the Markdown nests quotes or lists deeper than %d levels", maxNesting)})
	}
}

// maxReferences bounds the references of a document. A book of 1000 pages has about 5000.
const maxReferences = 20_000

// countReference stops the parser at the reference after maxReferences.
func countReference(pc parser.Context) {
	b := budgetOf(pc)
	if b.referred++; b.referred > maxReferences {
		panic(stopParsing{source.TooComplex(
			"the Markdown holds over %d references; at most %d are allowed",
			maxReferences,
			maxReferences,
		)})
	}
}

// referenceKeys returns the keys of the references that the parser reads.
func referenceKeys(pc parser.Context) reference.Keys {
	b, ok := pc.Get(budgetKey).(*budget)
	if !ok {
		return reference.None
	}

	return b.references
}

// labelKeys returns the keys of references in a document of which only the text is known.
func labelKeys(src []byte) reference.Keys {
	if HasLabels(src) {
		return reference.ToLabels
	}

	return reference.None
}

// parse runs goldmark within the budget, for a document of a dialect, with
// references of a syntax.
func parse(ctx context.Context, p parser.Parser, src []byte, dialect string, syntax reference.Keys) (ast.Node, error) {
	return parseDrawn(ctx, p, src, len(src), nil, dialect, syntax)
}

// parseDrawn is parse for a text of size bytes, behind which stand the texts of the
// tables that are drawn in it.
func parseDrawn(
	ctx context.Context,
	p parser.Parser,
	src []byte,
	size int,
	tables drawntable.Tables,
	dialect string,
	syntax reference.Keys,
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
	pc.Set(budgetKey, &budget{ctx: ctx, references: syntax})
	pc.Set(dialectKey, dialect)
	root = p.Parse(tables.NewReader(src, size, pc), parser.WithContext(pc))

	return root, checkDepth(root)
}

// checkDepth walks without recursion, so that a deep tree cannot exhaust the
// stack.
func checkDepth(root ast.Node) error {
	depth := 0

	for n := root; n != nil; {
		if c := n.FirstChild(); c != nil {
			n, depth = c, depth+1
			if depth > maxInlineNesting {
				return source.TooComplex("the Markdown nests deeper than %d levels", maxInlineNesting)
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
