// Package diagram draws Mermaid diagrams from strangers. Mermaid runs in a page
// of its own that the browser forgets afterwards; what comes back is rebuilt
// from an allow-list of shapes, texts and plain attributes: no style sheet, no
// script, no HTML and no address is left in it.
package diagram

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"presswork"
	"presswork/internal/recent"
)

const (
	// MaxDiagrams and MaxSource bound one document: the diagrams, and the bytes
	// of each.
	MaxDiagrams = 100
	MaxSource   = 50_000
	// maxTime bounds the drawing of one document's diagrams one by one. Before,
	// when they are drawn together, the browser bounds it from the moment it has
	// a tab: waiting for one is nobody's fault.
	maxTime = 30 * time.Second
	// cacheBytes bounds what a Renderer remembers.
	cacheBytes = 16 << 20
)

// Options wire a Renderer.
type Options struct {
	// Script runs a library and an expression in an empty page and returns the
	// JSON of its value: chromium.Browser's. Mandatory.
	Script func(ctx context.Context, library, expression string) (json.RawMessage, error)
	// Log is where a browser that fails is reported. Default: discard.
	Log *slog.Logger
}

// Renderer draws diagrams. It is safe for concurrent use.
type Renderer struct {
	script func(ctx context.Context, library, expression string) (json.RawMessage, error)
	log    *slog.Logger
	cache  *recent.Cache[Picture]
}

// Picture is a drawn diagram: one svg element, or in words why there is none.
type Picture struct {
	SVG, Problem string
	// Line of the source is where the problem is, 0 when that is not known.
	Line int
}

// New wires a Renderer.
func New(o Options) *Renderer {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Renderer{script: o.Script, log: o.Log, cache: recent.New[Picture](cacheBytes)}
}

// Draw draws the diagrams of one document in a style, one picture for each
// source. When ctx ends, what is missing then has a Problem.
func (r *Renderer) Draw(ctx context.Context, sources []string, s Style) []Picture {
	s.Accents = distinct(s.Accents)
	pictures := make([]Picture, len(sources))
	names := make([]string, len(sources))
	missing := map[string]string{} // name → source
	var order []string
	for i, src := range sources {
		switch {
		case i >= MaxDiagrams:
			pictures[i].Problem = fmt.Sprintf("the document has more than %d diagrams", MaxDiagrams)
			continue
		case strings.TrimSpace(src) == "":
			pictures[i].Problem = "it is empty"
			continue
		case len(src) > MaxSource:
			pictures[i].Problem = fmt.Sprintf("it has %d bytes; at most %d are allowed", len(src), MaxSource)
			continue
		}
		names[i] = nameOf(src, s)
		if known, ok := r.cache.Get(names[i]); ok {
			pictures[i] = known
		} else if _, ok := missing[names[i]]; !ok {
			missing[names[i]] = src
			order = append(order, names[i])
		}
	}
	drawn := r.drawMissing(ctx, order, missing, s)
	times := map[string]int{}
	for i, name := range names {
		if name == "" {
			continue
		}
		if p, ok := drawn[name]; ok {
			pictures[i] = p
		}
		// Ids are unique in a document, and a diagram may stand in it twice.
		if times[name]++; times[name] > 1 {
			pictures[i].SVG = strings.ReplaceAll(pictures[i].SVG, name, fmt.Sprintf("%s-%d", name, times[name]))
		}
	}
	return pictures
}

// nameOf names a diagram by all that decides its picture. The name begins its
// ids.
func nameOf(src string, s Style) string {
	h := sha256.New()
	// Encoding strings cannot fail.
	_ = json.NewEncoder(h).Encode([]any{src, s})
	return "dg" + hex.EncodeToString(h.Sum(nil))[:20]
}

// drawMissing draws what the cache does not hold: all in one page, or, when one
// of them spoils that page for the others, each in its own.
func (r *Renderer) drawMissing(ctx context.Context, names []string, sources map[string]string, s Style) map[string]Picture {
	drawn := map[string]Picture{}
	if len(names) == 0 {
		return drawn
	}
	runs := [][]string{names}
	for len(runs) > 0 {
		run := runs[0]
		runs = runs[1:]
		pictures, err := r.run(ctx, run, sources, s)
		switch {
		case err == nil:
			for name, p := range pictures {
				drawn[name] = p
				r.cache.Put(name, p, len(p.SVG)+len(p.Problem)+100)
			}
		case len(run) > 1 && ctx.Err() == nil:
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeoutCause(ctx, maxTime, presswork.Errorf(presswork.RenderTimeout, "the document's diagrams take too long"))
			defer cancel()
			for _, name := range run {
				runs = append(runs, []string{name})
			}
		default:
			for _, name := range run {
				drawn[name] = Picture{Problem: r.explain(ctx, err)}
			}
		}
	}
	return drawn
}

// explain puts a failed run into words.
func (r *Renderer) explain(ctx context.Context, err error) string {
	switch presswork.CodeOf(err) {
	case presswork.RenderTimeout:
		return "it takes too long to draw"
	case presswork.RenderFailed:
		return "it cannot be drawn"
	}
	if !errors.Is(err, context.Canceled) {
		r.log.WarnContext(ctx, "diagrams were not drawn", "error", err)
	}
	return "the browser that draws is not available"
}
