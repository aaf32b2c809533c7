// Package tex turns LaTeX formulas from strangers into MathML. Temml does the
// work, in a JavaScript engine inside this process that can reach nothing, and
// what it returns passes an allow-list. No script reaches the page.
package tex

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"presswork/internal/recent"
)

const (
	// MaxSource is the longest formula, in bytes.
	MaxSource = 8 << 10
	// maxTime bounds one formula; the usual one takes 0.3 to 3 ms.
	maxTime = 2 * time.Second
	// maxOutput bounds the MathML of one formula, in bytes.
	maxOutput = 1 << 20
	// cacheBytes bounds what a Renderer remembers.
	cacheBytes = 8 << 20
)

// Renderer renders formulas. It is safe for concurrent use. A new one costs
// nothing; the first formula of a process takes some 30 ms more than the rest.
type Renderer struct {
	engines sync.Pool
	cache   *recent.Cache[result]
}

// Formula is a rendered formula.
type Formula struct {
	// MathML is one math element with the source as its alttext. Its classes
	// are Temml's.
	MathML string
	// Width is about how wide it must be at least, in em of its own font, when
	// it is broken wherever it can be.
	Width float64
}

type result struct {
	formula Formula
	err     error
}

// New makes a Renderer.
func New() *Renderer {
	return &Renderer{cache: recent.New[result](cacheBytes)}
}

// Render renders a formula, without its dollars: in a line of its own if
// display is set, else for running text. The error explains to its author
// what is wrong with the formula, or is ctx's cause.
func (r *Renderer) Render(ctx context.Context, src string, display bool) (Formula, error) {
	src = strings.TrimSpace(src)
	switch {
	case ctx.Err() != nil:
		return Formula{}, context.Cause(ctx)
	case src == "":
		return Formula{}, errors.New("the formula is empty")
	case len(src) > MaxSource:
		return Formula{}, fmt.Errorf("the formula has %d bytes; at most %d are allowed", len(src), MaxSource)
	}

	key := "t" + src
	if display {
		key = "d" + src
	}

	if known, ok := r.cache.Get(key); ok {
		return known.formula, known.err
	}

	formula, err := r.render(ctx, src, display)
	if ctx.Err() != nil {
		return Formula{}, context.Cause(ctx)
	}
	// A formula that ran out of time may have been unlucky.
	if !errors.Is(err, errTime) {
		r.cache.Put(key, result{formula, err}, len(key)+len(formula.MathML)+200)
	}

	return formula, err
}

func (r *Renderer) render(ctx context.Context, src string, display bool) (Formula, error) {
	e, ok := r.engines.Get().(*engine)
	if !ok {
		var err error
		if e, err = newEngine(); err != nil {
			return Formula{}, fmt.Errorf("formulas cannot be rendered: %w", err)
		}
	}

	out, sound, err := e.run(ctx, src, display)
	if sound {
		r.engines.Put(e)
	}

	if err != nil {
		return Formula{}, err
	}

	if len(out) > maxOutput {
		return Formula{}, errors.New("the formula is too complex")
	}

	return clean(out, src)
}
