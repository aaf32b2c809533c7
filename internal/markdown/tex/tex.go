// Package tex renders untrusted LaTeX formulas as MathML. Temml runs in a JavaScript engine in this process, without
// access to files or the network. An allow-list filters the result, so that no script reaches the page.
// Renderer keeps idle engines and caches results. Formula has an estimate of the width.
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
	// MaxSource bounds a formula, in bytes.
	MaxSource = 8 << 10
	// maxTime bounds the rendering of one formula. Most take 0.3 to 3 ms.
	maxTime = 2 * time.Second
	// maxOutput bounds the MathML of one formula, in bytes.
	maxOutput = 1 << 20
	// cacheBytes bounds the cache of a Renderer.
	cacheBytes = 8 << 20
)

// Renderer renders formulas. It is safe for concurrent use. Creating one is cheap. The first formula of a process
// takes about 30 ms longer than the others.
type Renderer struct {
	engines sync.Pool             // of idle *engine
	cache   *recent.Cache[result] // by display, macros and source
}

// Formula is a rendered formula.
type Formula struct {
	// MathML is one math element, with the source as alttext and the classes of Temml.
	MathML string
	// Width estimates the smallest width of the formula in em of its own font, if it breaks wherever it can.
	Width float64
}

// result is what the cache keeps for a formula.
type result struct {
	formula Formula
	err     error
}

// New returns a Renderer with an empty cache.
func New() *Renderer {
	return &Renderer{cache: recent.New[result](cacheBytes)}
}

// Render renders a formula, given without its delimiters, on a line of its own if display is set. macros are
// definitions that the formula uses; MaxSource bounds both together. The error is the cause of ctx, or tells the author
// what is wrong with the formula. Results are cached, errors included.
func (r *Renderer) Render(ctx context.Context, macros, src string, display bool) (Formula, error) {
	src = strings.TrimSpace(src)
	switch {
	case ctx.Err() != nil:
		return Formula{}, context.Cause(ctx)
	case src == "":
		return Formula{}, errors.New("the formula is empty")
	case len(macros)+len(src) > MaxSource:
		return Formula{}, fmt.Errorf("the formula has %d bytes with its macros; at most %d are allowed",
			len(macros)+len(src), MaxSource)
	}

	mode := "t"
	if display {
		mode = "d"
	}
	key := mode + macros + "\x00" + src

	if known, ok := r.cache.Get(key); ok {
		return known.formula, known.err
	}

	formula, err := r.render(ctx, macros, src, display)
	if ctx.Err() != nil {
		return Formula{}, context.Cause(ctx)
	}
	// A timeout is not cached: a later attempt may have more time.
	if !errors.Is(err, errTime) {
		r.cache.Put(key, result{formula, err}, len(key)+len(formula.MathML)+200)
	}

	return formula, err
}

// render renders a formula in an engine of the pool. An engine that run does not call reusable is dropped.
func (r *Renderer) render(ctx context.Context, macros, src string, display bool) (Formula, error) {
	e, ok := r.engines.Get().(*engine)
	if !ok {
		var err error
		if e, err = newEngine(); err != nil {
			return Formula{}, fmt.Errorf("formulas cannot be rendered: %w", err)
		}
	}

	out, reusable, err := e.run(ctx, forTemml(macros+src), display)
	if reusable {
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
