package diagram

import (
	"bytes"
	"compress/gzip"
	"context"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"presswork/internal/fault"
	"presswork/internal/lazyregexp"
)

// Mermaid 11.17.2, Viz.js 3.31.0 (Graphviz 16.1.0 as WebAssembly) and @terrastruct/d2 0.1.33 (D2 0.7 as WebAssembly)
// as published on npm. wasm_exec.js is Go's script that runs D2. d2.js and draw.js draw in the page.
var (
	//go:embed mermaid/mermaid.min.js.gz
	mermaidGz []byte
	//go:embed graphviz/viz-global.js.gz
	vizGz []byte
	//go:embed d2/d2.wasm.gz
	d2WasmGz []byte
	//go:embed d2/wasm_exec.js.gz
	goGz []byte
	//go:embed d2.js
	d2JS string
	//go:embed draw.js
	drawJS string
)

// mermaidJS returns Mermaid, 3.6 MB, and vizJS returns Viz.js, 1.3 MB. They are unpacked on first use and kept.
var (
	mermaidJS = sync.OnceValues(func() (string, error) { return unpack(mermaidGz) })
	vizJS     = sync.OnceValues(func() (string, error) { return unpack(vizGz) })
)

// unpack returns the text of a library that is embedded in gzip.
func unpack(packed []byte) (string, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(z)

	return string(b), err
}

// drawing is the result of draw.js for one diagram. Only its types are checked: see clean.
type drawing struct {
	SVG string `json:"svg"`
	// Kind is the library's name for the kind of diagram.
	Kind  string `json:"kind"`
	Title string `json:"title"`
	// Width and Height are in CSS pixels.
	Width  float64 `json:"width"`
	Height float64 `json:"height"`
	// Text is the size of the smallest text in CSS pixels, 0 without text.
	Text float64 `json:"text"`
	// Error is the library's report if it could not draw.
	Error string `json:"error"`
}

// run draws diagrams of one language in one page. It returns the pictures before the first diagram that breaks the
// page, and the error for that diagram. Errors: RenderTimeout, RenderFailed, those of Script.
func (r *Renderer) run(ctx context.Context, names []string, sources map[string]Source, s Style) ([]Picture, error) {
	library, err := libraryOf(sources[names[0]].Language)
	if err != nil {
		return nil, err
	}
	config, sheet, graph := s.config(), s.sheet(), s.graph()
	var expressions []string

	for _, name := range names {
		job, err := json.Marshal(map[string]any{
			"config":   config,
			"sheet":    sheet,
			"graph":    graph,
			"name":     name,
			"language": sources[name].Language,
			"source":   sources[name].Text,
			"least":    SmallestText,
		})
		if err != nil {
			return nil, err
		}
		expressions = append(expressions, fmt.Sprintf("(%s)(%s)", strings.TrimSpace(drawJS), job))
	}

	answers, err := r.script(ctx, library, expressions...)
	if err == nil && len(answers) < len(names) {
		err = fault.Errorf(fault.RenderFailed, "the page drew %d diagrams of %d", len(answers), len(names))
	}
	var pictures []Picture

	for i, answer := range answers {
		var d drawing
		if err := json.Unmarshal(answer, &d); err != nil {
			return pictures, fault.Errorf(fault.RenderFailed, "the page's answer cannot be read").WithCause(err)
		}
		pictures = append(pictures, d.picture(names[i], sources[names[i]]))
	}

	return pictures, err
}

// libraryOf returns the JavaScript library that draws a language.
func libraryOf(language string) (string, error) {
	switch language {
	case DOT:
		return vizJS()
	case D2:
		goJS, err := unpack(goGz)
		// Send the module packed and let the page unpack it: unpacked it has 22 MB.
		return goJS + ";" + d2JS + `globalThis.d2Module = "` + base64.StdEncoding.EncodeToString(d2WasmGz) + `";0`, err
	}

	return mermaidJS()
}

// picture returns the picture of a drawing, rebuilt by clean, or its problem.
func (d drawing) picture(name string, src Source) Picture {
	if d.Error != "" {
		problem, line := plainError(d.Error)

		source := src.Text
		if src.Language == Mermaid &&
			(strings.Contains(source, "%%") || strings.HasPrefix(strings.TrimSpace(source), "---")) {
			line = 0 // Mermaid does not count the lines of comments and front matter
		}

		return Picture{Problem: problem, Line: min(line, len(strings.Split(strings.TrimRight(source, "\n"), "\n")))}
	}

	svg, err := clean(d, name)
	if err != nil {
		return Picture{Problem: err.Error()}
	}

	return Picture{SVG: svg}
}

var (
	// lineNumber matches the line at the start of a library's error, earlyEnd the end of an error about a source that
	// ends too early.
	lineNumber = lazyregexp.New(`^line (\d{1,6}):?\s*`)
	earlyEnd   = lazyregexp.New(`unexpected '(?:1|EOF)'$`)
)

// plainError shortens the error of a library to a few words such as "unexpected 'PE'", at most 200 characters. It drops
// the piece of source and the arrow below it. It returns the line that the error names, 0 without one.
func plainError(report string) (text string, line int) {
	var kept []string

	for line := range strings.Lines(report) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "...") || strings.Trim(line, "-^") == "" {
			continue
		}
		kept = append(kept, line)
	}

	text = strings.Join(kept, " ")
	if before, rest, ok := strings.Cut(text, "Expecting "); ok {
		if i := strings.LastIndex(rest, "got "); i >= 0 {
			text = before + "unexpected " + rest[i+len("got "):]
		}
	}

	for _, prefix := range []string{"Parse error on ", "Lexical error on ", "Error: ", "Syntax error in "} {
		text = strings.TrimPrefix(text, prefix)
	}

	if m := lineNumber().FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1])
		text = text[len(m[0]):]
	}
	// Mermaid names the end of the source by its token: "1" or "EOF".
	text = earlyEnd().ReplaceAllString(text, "it ends before it is complete")
	if r := []rune(text); len(r) > 200 {
		text = string(r[:200]) + "…"
	}

	return text, line
}
