package pdf

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/net/html"

	"presswork"
	"presswork/internal/markdown"
	"presswork/internal/markdown/diagram"
	"presswork/themes"
)

// diagramText is the size of a diagram's texts in CSS pixels: 10.5 pt, a hair
// less than the text around it.
const diagramText = 14

// drawer draws diagrams in a document's theme; nil when nothing can draw.
func (c *Converter) drawer(theme themes.Theme, o presswork.Options) func(context.Context, []string) ([]markdown.Diagram, error) {
	if c.diagrams == nil {
		return nil
	}
	if isTrue(o.InkSaver) {
		theme = theme.InkSaver()
	}
	style := diagram.Style{
		Dark: theme.Scheme == "dark", Page: theme.Token("--base-100"), Text: theme.Token("--base-content"), Line: theme.Token("--rule"),
		Font: theme.Fonts.Body, Size: diagramText,
	}
	for _, name := range []string{"--primary", "--secondary", "--warning", "--error", "--info", "--success", "--accent"} {
		style.Accents = append(style.Accents, theme.Token(name))
	}
	return func(ctx context.Context, sources []string) ([]markdown.Diagram, error) {
		pictures, err := c.diagrams.Draw(ctx, sources, style)
		drawn := make([]markdown.Diagram, len(pictures))
		for i, p := range pictures {
			drawn[i] = markdown.Diagram(p)
		}
		return drawn, err
	}
}

const (
	// legible is how small a diagram may become before its page is turned: its
	// texts then have 5.3 pt.
	legible = 0.5
	// worthTurning is how much larger a turned page must make it.
	worthTurning = 1.25
	// pageShare is how much of a page's height a diagram may take, with space for
	// the heading above it.
	pageShare = 0.85
)

// fitDiagrams turns the page of each diagram that is too wide to be read on an
// upright one.
func fitDiagrams(body string, s sheet) string {
	const opening, closing = `<div class="diagram"><svg `, "</svg></div>"
	if s.height <= s.width || !strings.Contains(body, opening) {
		return body
	}
	var out strings.Builder
	out.Grow(len(body) + 1024)
	for {
		start := strings.Index(body, opening)
		if start < 0 {
			break
		}
		end := start + strings.Index(body[start:], closing) + len(closing)
		if end < start+len(closing) {
			break
		}
		before, picture := body[:start], body[start:end]
		body = body[end:]
		if !turns(picture[len(opening)-len("<svg "):], s) {
			out.WriteString(before + picture)
			continue
		}
		lead := leadIn(before)
		// The sheet's rule knows the upright page's height.
		height := fmt.Sprintf(`<svg style="max-height:%gmm" `, round((s.width-s.top-s.bottom)*pageShare/s.scale))
		out.WriteString(before[:lead] + turnedStart + "\n" + before[lead:] + strings.Replace(picture, "<svg ", height, 1) + "\n</div>")
	}
	return out.String() + body
}

// turns reports whether a drawing is to have a turned page.
func turns(svg string, s sheet) bool {
	z := html.NewTokenizer(strings.NewReader(svg))
	z.Next()
	var width, height float64
	for _, a := range z.Token().Attr {
		switch a.Key {
		case "width":
			width, _ = strconv.ParseFloat(a.Val, 64)
		case "height":
			height, _ = strconv.ParseFloat(a.Val, 64)
		}
	}
	if !(width > 0 && height > 0) {
		return false
	}
	size := func(across, along float64) float64 {
		const pixel = 25.4 / 96
		return min(1, across/s.scale/pixel/width, along*pageShare/s.scale/pixel/height)
	}
	upright := size(s.width-s.left-s.right, s.height-s.top-s.bottom)
	return upright < legible && size(s.height-s.left-s.right, s.width-s.top-s.bottom) > worthTurning*upright
}
