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
	// worthTurning is how much larger a turned page must make it.
	worthTurning = 1.25
	// pageShare is how much of a page's height a diagram may take, with space for
	// the heading above it.
	pageShare = 0.85
	// largestSheet is how much larger than the others a sheet may be that folds out.
	largestSheet = 4
)

// fitDiagrams gives each diagram that could not be read a page where it can: a turned
// one, or one that is larger and folds out.
func fitDiagrams(body string, s sheet) string {
	const opening, closing = `<div class="diagram"><svg `, "</svg></div>"
	if !strings.Contains(body, opening) {
		return body
	}
	var out strings.Builder
	out.Grow(len(body) + 1024)
	for sheets := 1; ; {
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
		wanted := diagramSheet(picture[len(opening)-len("<svg "):], s)
		if wanted == s {
			out.WriteString(before + picture)
			continue
		}
		lead := leadIn(before)
		wrap, rule := turnedStart, ""
		if wanted.width != s.height || wanted.height != s.width {
			name := fmt.Sprintf("sheet-%d", sheets)
			sheets++
			wrap = strings.TrimSuffix(turnedStart, ">") + ` style="page:` + name + `">`
			rule = fmt.Sprintf("<style>@page %s{size:%gmm %gmm}</style>", name, round(wanted.width+2*s.bleed), round(wanted.height+2*s.bleed))
		}
		// The sheet's rule knows the upright page's height.
		height := fmt.Sprintf(`<svg style="max-height:%gmm" `, round((wanted.height-s.top-s.bottom)*pageShare/s.scale))
		out.WriteString(before[:lead] + wrap + "\n" + before[lead:] + strings.Replace(picture, "<svg ", height, 1) + rule + "\n</div>")
	}
	return out.String() + body
}

// diagramSheet is the sheet that a drawing can be read on: the one at hand, that
// turned, or one as much larger as it needs.
func diagramSheet(svg string, s sheet) sheet {
	z := html.NewTokenizer(strings.NewReader(svg))
	z.Next()
	var width, height float64
	smallest := float64(diagramText)
	for _, a := range z.Token().Attr {
		switch a.Key {
		case "width":
			width, _ = strconv.ParseFloat(a.Val, 64)
		case "height":
			height, _ = strconv.ParseFloat(a.Val, 64)
		case diagram.TextAttribute:
			smallest, _ = strconv.ParseFloat(a.Val, 64)
		}
	}
	if !(width > 0 && height > 0 && smallest > 0) {
		return s
	}
	legible := min(1, diagram.SmallestText/smallest) // how small it may become
	const pixel = 25.4 / 96
	size := func(s sheet) float64 {
		across, along := s.width-s.left-s.right, (s.height-s.top-s.bottom)*pageShare
		return min(1, across/s.scale/pixel/width, along/s.scale/pixel/height)
	}
	best := s
	if size(s) >= legible {
		return s
	}
	turned := s
	turned.width, turned.height = s.height, s.width
	if size(turned) > worthTurning*size(s) {
		best = turned
	}
	if size(best) >= legible {
		return best
	}
	// Each side grows by what is missing, but by no more than the largest sheet has.
	grown := best
	grown.width = min(max(best.width, width*legible*pixel*s.scale+s.left+s.right+1), largestSheet*best.width, maxSide)
	grown.height = min(max(best.height, height*legible*pixel*s.scale/pageShare+s.top+s.bottom+1), largestSheet*best.height, maxSide)
	return grown
}
