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
	"fmt"
	"log/slog"
	"strings"

	"presswork/internal/fault"
	"presswork/internal/recent"
)

const (
	// MaxDiagrams is how many diagrams of one document are drawn.
	MaxDiagrams = 500
	// MaxSource is how many bytes one diagram may have.
	MaxSource = 50_000
	// maxSources is how many bytes all diagrams of a document may have.
	maxSources = 1 << 20
	// perPage is how many diagrams are drawn in one page: another document may
	// want its tab.
	perPage = 25
	// maxBroken is how many pages the diagrams of a document may break, or
	// outlast their time in, before the rest are given up.
	maxBroken = 4
	// SmallestText is how small a text may be on paper, in CSS pixels: 7 pt. A
	// picture is at least so large that its texts are.
	SmallestText = 7 * 96 / 72.
	// TextAttribute of the svg element says how large its smallest text is, in CSS
	// pixels of its full size.
	TextAttribute = "data-smallest-text"
	// cacheBytes bounds what a Renderer remembers.
	cacheBytes = 16 << 20
)

// Options wire a Renderer.
type Options struct {
	// Script runs a library and expressions in an empty page, each of them with
	// a time of its own, and returns the JSON of their values up to the first
	// that fails: chromium.Browser's. Mandatory without Remote.
	Script Script
	// Remote draws in another process. Default: Script draws in this one.
	Remote Remote
	// Log is where a browser that fails is reported. Default: discard.
	Log *slog.Logger
}

// Script is chromium.Browser.Script.
type Script func(ctx context.Context, library string, expressions ...string) ([]json.RawMessage, error)

// Remote draws distinct sources and returns the pictures of the first of them;
// the others, all after an error, stay undrawn.
type Remote func(ctx context.Context, sources []string, s Style) ([]Picture, error)

// Renderer draws diagrams. It is safe for concurrent use.
type Renderer struct {
	script Script
	remote Remote
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

	return &Renderer{script: o.Script, remote: o.Remote, log: o.Log, cache: recent.New[Picture](cacheBytes)}
}

// Draw draws the diagrams of one document in a style, one picture for each
// source. Errors: BrowserUnavailable, ctx's cause.
func (r *Renderer) Draw(ctx context.Context, sources []string, s Style) ([]Picture, error) {
	s.Accents = distinct(s.Accents)
	pictures := make([]Picture, len(sources))
	names := make([]string, len(sources))
	missing := map[string]string{} // name → source
	var order []string
	size := 0

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
		case size+len(src) > maxSources:
			pictures[i].Problem = fmt.Sprintf("the document's diagrams have more than %d KB together", maxSources>>10)
			continue
		}
		size += len(src)

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

	return pictures, nil
}

// nameOf names a diagram by all that decides its picture. The name begins its
// ids.
func nameOf(src string, s Style) string {
	h := sha256.New()
	// Encoding strings cannot fail.
	_ = json.NewEncoder(h).Encode([]any{src, s})

	return "dg" + hex.EncodeToString(h.Sum(nil))[:20]
}

// drawMissing draws what the cache does not hold, many in one page. One that
// breaks its page, or outlasts its time, is tried once more as the first of a
// fresh one: what stood before it may have been at fault.
func (r *Renderer) drawMissing(
	ctx context.Context,
	names []string,
	sources map[string]string,
	s Style,
) (map[string]Picture, error) {
	drawn := map[string]Picture{}
	broken, again := 0, false

	for left := names; len(left) > 0; {
		pictures, err := r.run(ctx, left[:min(len(left), perPage)], sources, s)
		for i, p := range pictures {
			drawn[left[i]] = p
			r.cache.Put(left[i], p, len(p.SVG)+len(p.Problem)+100)
		}
		left = left[len(pictures):]
		again = again && len(pictures) == 0

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
			giveUp(drawn, left, "others of the document could not be drawn, and those after them were not tried")
			return drawn, nil
		}
	}

	return drawn, nil
}

// drawRemote has another process draw what the cache does not hold. Problems are
// not remembered: they may be those of the other process.
func (r *Renderer) drawRemote(
	ctx context.Context,
	names []string,
	sources map[string]string,
	s Style,
) (map[string]Picture, error) {
	drawn := map[string]Picture{}
	if len(names) == 0 {
		return drawn, nil
	}

	list := make([]string, len(names))
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

func giveUp(drawn map[string]Picture, names []string, problem string) {
	for _, name := range names {
		drawn[name] = Picture{Problem: problem}
	}
}

func explain(code fault.Code) string {
	if code == fault.RenderTimeout {
		return "it takes too long to draw"
	}

	return "it cannot be drawn"
}
