package document

import (
	"bytes"
	"cmp"
	"context"
	"sync"

	"presswork"
	"presswork/internal/document/merge"
	"presswork/internal/document/metadata"
	"presswork/internal/fault"
	"presswork/internal/markdown"
	"presswork/internal/markdown/dialect/quarto"
	"presswork/internal/markdown/frontmatter"
	"presswork/themes"
)

// parse renders the Markdown of the document, with its Parts after it. Errors: those of markdown.Renderer.Parse and of
// check, with the name of the part, and ContentTooComplex for too many parts together.
func (c *Converter) parse(
	ctx context.Context,
	d Document,
	matter metadata.FrontMatter,
	o presswork.Options,
	theme themes.Theme,
) (markdown.Document, error) {
	if len(d.Parts) == 0 {
		settings := c.markdownOptions(d, matter, o, theme)
		settings.Title = titleAbove(matter, o)

		return c.markdown.Parse(ctx, matter.Body, settings)
	}

	source := func(d Document, matter metadata.FrontMatter, title string) merge.Source {
		settings := c.markdownOptions(d, matter, o, theme)
		settings.Title = title

		return merge.Source{Path: d.Path, Content: matter.Body, Options: settings}
	}
	sources := []merge.Source{source(d, matter, titleAbove(matter, o))}

	if len(bytes.TrimSpace(matter.Body)) == 0 { // the title stands above the parts, not in a part of its own
		sources[0].Options.Title = ""
	}

	for _, p := range d.Parts {
		matter, err := check(p.Content, presswork.Options{}, p.Folder != "")
		if err != nil {
			return markdown.Document{}, merge.NameFile(merge.Name(p.Path, p.Folder != ""), err)
		}
		part := d
		part.Path, part.Folder, part.Filename = p.Path, p.Folder, ""
		part.Asset, part.Include, part.Place = p.Asset, p.Include, p.Place
		shared := sources[0].Options.Variable
		s := source(part, matter, cmp.Or(matter.Options.Title, p.Title))
		own := s.Options.Variable
		// A part may also use the variables of the first document, whose front matter applies to all parts.
		s.Options.Variable = func(kind, name string) (string, bool) {
			if value, ok := own(kind, name); ok {
				return value, true
			}

			return shared(kind, name)
		}
		s.Appendix, s.Options.Shift, s.Options.BookPart = p.Appendix, p.Shift, p.BookPart
		sources = append(sources, s)
	}

	whole, err := merge.Parse(ctx, c.markdown.Parse, sources)
	if err == nil && whole.Parts > maxDivided {
		err = fault.Errorf(fault.ContentTooComplex, "the files have %d parts together; at most %d are allowed",
			whole.Parts, maxDivided)
	}

	return whole, err
}

// variables returns a function that looks up a variable of Quarto: in the front matter, or in _variables.yml, which
// include reads. include may be nil.
func variables(
	matter metadata.FrontMatter, include func(name string) ([]byte, error),
) func(kind, name string) (string, bool) {
	fromFile := sync.OnceValue(func() map[string]string {
		if include == nil {
			return nil
		}

		text, err := include("_variables.yml")
		if err != nil {
			return nil
		}
		fields, _ := frontmatter.Settings(text, false) // without fields, variables stay as they are

		return metadata.Values(fields)
	})

	fromMatter := sync.OnceValue(func() map[string]string { return metadata.Values(matter.Fields) })

	return func(kind, name string) (value string, ok bool) {
		switch kind {
		case quarto.Var:
			value, ok = fromFile()[name]
		case quarto.Param:
			value, ok = fromMatter()["params."+name]
		default:
			value, ok = fromMatter()[name]
		}

		return value, ok
	}
}
