package pdf

import (
	"context"

	"presswork"
	"presswork/internal/diagram"
	"presswork/internal/markdown"
	"presswork/themes"
)

// diagramText is the size of a diagram's texts in CSS pixels: 10.5 pt, a hair
// less than the text around it.
const diagramText = 14

// drawer draws diagrams in a document's theme; nil when nothing can draw.
func (c *Converter) drawer(theme themes.Theme, o presswork.Options) func(context.Context, []string) []markdown.Diagram {
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
	return func(ctx context.Context, sources []string) []markdown.Diagram {
		drawn := make([]markdown.Diagram, len(sources))
		for i, p := range c.diagrams.Draw(ctx, sources, style) {
			drawn[i] = markdown.Diagram(p)
		}
		return drawn
	}
}
