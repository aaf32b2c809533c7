// Package diagram draws untrusted diagrams of Mermaid, Graphviz and D2 as safe SVG. The libraries run in an empty page
// of a browser. Their result is rebuilt from an allow-list of shapes, texts and plain attributes, without style sheets,
// scripts, HTML and addresses.
//
// Renderer.Draw looks up each diagram in a cache. It draws the missing ones by Script, several of one language in a
// page, or by Remote in another process. draw.js and d2.js are the code in the page.
package diagram

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"presswork/internal/fault"
	"presswork/internal/recent"
)

const (
	// MaxDiagrams is the largest number of diagrams of one document that are drawn.
	MaxDiagrams = 500
	// MaxSource bounds one diagram, in bytes.
	MaxSource = 50_000
	// maxSources bounds all diagrams of a document, in bytes.
	maxSources = 1 << 20
	// perPage is the largest number of diagrams that are drawn in one page. Between pages, other documents can use the
	// tab.
	perPage = 25
	// maxBroken is the number of pages that the diagrams of a document may break before Draw gives up the others. A
	// page that takes too long counts as broken.
	maxBroken = 4
	// SmallestText is the smallest size of text on paper, in CSS pixels: 7 pt. Diagrams are drawn large enough for
	// it.
	SmallestText = 7 * 96 / 72.
	// TextAttribute is the attribute of the svg element with the size of its smallest text, in CSS pixels at full
	// size.
	TextAttribute = "data-smallest-text"
	// cacheBytes bounds the pictures in the cache of a Renderer.
	cacheBytes = 16 << 20
)

// Options are the dependencies of a Renderer.
type Options struct {
	// Script runs JavaScript in an empty page. Required without Remote.
	Script Script
	// Remote draws in another process. Default: Script draws in this one.
	Remote Remote
	// Log receives the errors of the browser. Default: none are logged.
	Log *slog.Logger
}

// Script is the method of that name of chromium.Browser. It loads a library into an empty page and runs the
// expressions, each with a time limit of its own. It returns the JSON of the values before the first expression that
// fails, and the error of that expression.
type Script func(ctx context.Context, library string, expressions ...string) ([]json.RawMessage, error)

// The languages of diagrams.
const (
	Mermaid = "mermaid"
	// DOT is the language of Graphviz.
	DOT = "dot"
	D2  = "d2"
)

// Source is a diagram in its language: Mermaid, DOT or D2.
type Source struct{ Language, Text string }

// Remote draws sources, which are all different, and returns their pictures in the same order. If there are fewer
// pictures than sources, the last sources are not drawn. After an error no source is.
type Remote func(ctx context.Context, sources []Source, s Style) ([]Picture, error)

// Renderer draws diagrams. It is safe for concurrent use.
type Renderer struct {
	script Script
	remote Remote
	log    *slog.Logger
	cache  *recent.Cache[Picture]
}

// Picture is a drawn diagram.
type Picture struct {
	// SVG is one svg element. Problem says why there is none.
	SVG, Problem string
	// Line is the line of the source that Problem is about, from 1; 0 if it is unknown.
	Line int
}

// New returns a Renderer with an empty cache.
func New(o Options) *Renderer {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}

	return &Renderer{script: o.Script, remote: o.Remote, log: o.Log, cache: recent.New[Picture](cacheBytes)}
}

// Draw draws the diagrams of one document in a style and returns one picture for each source. A diagram that is invalid
// or exceeds a limit has a Problem in its picture. Errors: BrowserUnavailable, the cause of ctx.
func (r *Renderer) Draw(ctx context.Context, sources []Source, s Style) ([]Picture, error) {
	s.Accents = distinct(s.Accents)
	pictures := make([]Picture, len(sources))
	names := make([]string, len(sources))
	missing := map[string]Source{} // by name
	var order []string             // the names of missing
	size := 0

	for i, src := range sources {
		if pictures[i].Problem = exceeded(src, i, size); pictures[i].Problem != "" {
			continue
		}
		size += len(src.Text)

		names[i] = nameOf(src, s)
		if known, ok := r.cache.Get(names[i]); ok {
			pictures[i] = known
		} else if _, ok := missing[names[i]]; !ok {
			missing[names[i]] = src
			order = append(order, names[i])
		}
	}

	draw := r.drawMissing
	if r.remote != nil {
		draw = r.drawRemote
	}

	drawn, err := draw(ctx, order, missing, s)
	if err != nil {
		return nil, err
	}
	times := map[string]int{}

	for i, name := range names {
		if name == "" { // an exceeded limit
			continue
		}

		if p, ok := drawn[name]; ok {
			pictures[i] = p
		}
		// A document may have a diagram twice, but ids must be unique.
		if times[name]++; times[name] > 1 {
			pictures[i].SVG = strings.ReplaceAll(pictures[i].SVG, name, fmt.Sprintf("%s-%d", name, times[name]))
		}
	}

	return pictures, nil
}

// exceeded returns the problem of diagram i if it exceeds a limit or is empty, else "". size is the length of the
// diagrams before it.
func exceeded(src Source, i, size int) string {
	switch {
	case i >= MaxDiagrams:
		return fmt.Sprintf("the document has more than %d diagrams", MaxDiagrams)
	case strings.TrimSpace(src.Text) == "":
		return "it is empty"
	case len(src.Text) > MaxSource:
		return fmt.Sprintf("it has %d bytes; at most %d are allowed", len(src.Text), MaxSource)
	case size+len(src.Text) > maxSources:
		return fmt.Sprintf("the document's diagrams have more than %d KB together", maxSources>>10)
	}

	return ""
}

// nameOf returns a name for a diagram, a hash of everything that decides its picture. It is the key of the cache, and
// the ids in the picture begin with it.
func nameOf(src Source, s Style) string {
	h := sha256.New()
	_ = json.NewEncoder(h).Encode([]any{src, s}) // encoding strings cannot fail

	return "dg" + hex.EncodeToString(h.Sum(nil))[:20]
}

// drawMissing draws the named diagrams, several of a language in one page, and caches the pictures. A diagram that
// breaks its page or takes too long is drawn again as the first of a new page. The diagrams before it may be the
// reason. After maxBroken broken pages it gives up the others. Errors: BrowserUnavailable, the cause of ctx.
func (r *Renderer) drawMissing(
	ctx context.Context,
	names []string,
	sources map[string]Source,
	s Style,
) (map[string]Picture, error) {
	drawn := map[string]Picture{}
	broken := 0    // pages that broke
	again := false // whether the first of the remaining diagrams is tried for the second time

	language := func(name string) string { return sources[name].Language }
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(language(b), language(a)) })

	for left := names; len(left) > 0; {
		page := slices.IndexFunc(left, func(name string) bool { return language(name) != language(left[0]) })
		if page < 0 {
			page = len(left)
		}

		pictures, err := r.run(ctx, left[:min(page, perPage)], sources, s)
		for i, p := range pictures {
			drawn[left[i]] = p
			r.cache.Put(left[i], p, len(p.SVG)+len(p.Problem)+100)
		}
		left = left[len(pictures):]
		again = again && len(pictures) == 0 // false once the retried diagram is drawn

		code := fault.CodeOf(err)
		switch {
		case err == nil:
			continue
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case code == fault.BrowserUnavailable:
			return nil, err
		case code != fault.RenderTimeout && code != fault.RenderFailed:
			r.log.WarnContext(ctx, "diagrams were not drawn", "error", err)
			giveUp(drawn, left, "the browser that draws is not available")

			return drawn, nil
		}

		if broken++; again || broken == maxBroken {
			drawn[left[0]] = Picture{Problem: explain(code)}
			left = left[1:]
		}
		again = !again

		if broken == maxBroken {
			giveUp(drawn, left, "not tried, because other diagrams of the document could not be drawn")
			return drawn, nil
		}
	}

	return drawn, nil
}

// drawRemote draws the named diagrams in another process. It does not cache problems, which may be temporary there. The
// only error is the cause of ctx.
func (r *Renderer) drawRemote(
	ctx context.Context,
	names []string,
	sources map[string]Source,
	s Style,
) (map[string]Picture, error) {
	drawn := map[string]Picture{}
	if len(names) == 0 {
		return drawn, nil
	}

	list := make([]Source, len(names))
	for i, name := range names {
		list[i] = sources[name]
	}

	pictures, err := r.remote(ctx, list, s)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}

	if err != nil {
		r.log.WarnContext(ctx, "diagrams were not drawn", "error", err)
		pictures = nil
	}

	for i, p := range pictures[:min(len(pictures), len(names))] {
		drawn[names[i]] = p
		if p.Problem == "" {
			r.cache.Put(names[i], p, len(p.SVG)+100)
		}
	}
	giveUp(drawn, names[len(drawn):], "no worker has drawn it")

	return drawn, nil
}

// giveUp sets the same problem for all names.
func giveUp(drawn map[string]Picture, names []string, problem string) {
	for _, name := range names {
		drawn[name] = Picture{Problem: problem}
	}
}

// explain returns the problem of a diagram that failed with a code, twice or in the last page that may break.
func explain(code fault.Code) string {
	if code == fault.RenderTimeout {
		return "it takes too long to draw"
	}

	return "it cannot be drawn"
}
