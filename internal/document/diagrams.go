package document

import (
	"context"

	"presswork"
	"presswork/internal/document/typeset"
	"presswork/internal/markdown"
	"presswork/internal/markdown/diagram"
	"presswork/themes"
)

// drawer returns the function that draws diagrams in a document's theme, or nil if diagrams cannot be drawn.
func (c *Converter) drawer(
	theme themes.Theme,
	o presswork.Options,
) func(context.Context, []markdown.DiagramSource) ([]markdown.Diagram, error) {
	if c.diagrams == nil {
		return nil
	}

	if isTrue(o.InkSaver) {
		theme = theme.InkSaver()
	}

	style := diagram.Style{
		Dark: theme.Scheme == "dark",
		Page: theme.Token("--base-100"),
		Text: theme.Token("--base-content"),
		Line: theme.Token("--rule"),
		Font: theme.Fonts.Body,
		Size: typeset.DiagramText,
	}
	for _, name := range []string{"--primary", "--secondary", "--warning", "--error", "--info", "--success", "--accent"} {
		style.Accents = append(style.Accents, theme.Token(name))
	}

	return func(ctx context.Context, sources []markdown.DiagramSource) ([]markdown.Diagram, error) {
		list := make([]diagram.Source, len(sources))
		for i, s := range sources {
			list[i] = diagram.Source(s)
		}
		pictures, err := c.diagrams.Draw(ctx, list, style)

		drawn := make([]markdown.Diagram, len(pictures))
		for i, p := range pictures {
			drawn[i] = markdown.Diagram(p)
		}

		return drawn, err
	}
}
