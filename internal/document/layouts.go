package document

import (
	"cmp"
	"strconv"
	"strings"

	"presswork"
	"presswork/internal/analysis"
	"presswork/internal/document/contents"
	"presswork/internal/document/dates"
	"presswork/internal/document/layout"
	"presswork/internal/document/metadata"
	"presswork/internal/document/sheet"
	"presswork/internal/document/typeset"
	"presswork/internal/markdown/block"
	"presswork/internal/markdown/frontmatter"
	"presswork/internal/pdffile"
	"presswork/themes"
)

// inColumns reports whether a document is printed in two columns.
func inColumns(o presswork.Options, output presswork.Output) bool {
	return o.As == layout.Paper && o.Columns != nil && *o.Columns > 1 && onPages(output)
}

// onPages reports whether an output has pages of a fixed size.
func onPages(output presswork.Output) bool {
	return output != presswork.HTML && output != presswork.EPUB
}

// layoutOptions returns the options of a document: those of the caller, then of the front matter, then of its layout
// and its deck of slides. It settles the layout auto in matter. A layout may have the title in a field of its own.
func (c *Converter) layoutOptions(d Document, matter *metadata.FrontMatter) presswork.Options {
	as := cmp.Or(d.Options.As, matter.Options.As)

	switch {
	case as == asAuto:
		as = layoutFor(d, matter.Fields)
		d.Options.As, matter.Options.As = as, as
	case as == "" && layout.ByFields(matter.Fields) == layout.Recipe: // the recipe is in the front matter
		as = layout.Recipe
		matter.Options.As = as
	}

	if title := layout.Of(as).Title(matter.Fields); title != "" {
		matter.Options.Title = title
	}
	o := deckOptions(over(d.Options, matter.Options), matter.Deck)

	if o.As == layout.Paper && o.NumberedHeadings == nil {
		o.NumberedHeadings = new(true)
	}

	if o.As == layout.Paper && o.Numbering == "" {
		o.Numbering = "document"
	}

	return o
}

// layoutFor chooses the layout by the fields of front matter, or else by the kind of the text. It returns "" for other
// documents. A letter needs an address, because without one little of its layout would be filled. It is never an EPUB.
func layoutFor(d Document, fields []frontmatter.Field) string {
	const certain = 0.5 // least probability of the kind

	if name := layout.ByFields(fields); name != "" && (name != layout.Letter || d.Output != presswork.EPUB) {
		return name
	}

	found := analysis.Analyze(d.Content)
	if found.TypeConfidence < certain {
		return ""
	}

	switch found.DocumentType {
	case "paper":
		return layout.Paper
	case "resume":
		return layout.CV
	case "recipe":
		return layout.Recipe
	case "meeting_notes":
		return layout.Minutes
	case "letter":
		if layout.Addressed(fields) && d.Output != presswork.EPUB {
			return layout.Letter
		}
	}

	return ""
}

// layoutParts makes the parts of the layout of a document in this language.
func (c *Converter) layoutParts(
	matter *metadata.FrontMatter,
	o presswork.Options,
	lang string,
	area sheet.Sheet,
) layout.Parts {
	date := ""
	if matter.Date != "" {
		date, _ = dates.Of(matter.Date, lang, c.now())
	}
	parts := layout.Of(o.As).Parts(layout.Input{
		Fields: matter.Fields, Title: pdffile.OneLine(o.Title), Author: pdffile.OneLine(o.Author), Date: date,
		Lang: lang, Sheet: area,
	})
	matter.Warnings = append(matter.Warnings, parts.Warnings...)

	return parts
}

// layoutPages returns the @page rules of the layout, which change the first page and the footer. There are none with a
// cover, which is the first page, or with a footer from the options.
func (p page) layoutPages() string {
	if isTrue(p.options.Cover) || p.options.FooterText != nil {
		return ""
	}

	return strings.ReplaceAll(p.parts.PageCSS, "var(--muted)", p.inkTheme().Token("--muted"))
}

// themeFor returns the theme as layout and density change it.
func themeFor(t themes.Theme, o presswork.Options, output presswork.Output) themes.Theme {
	columns := 1
	if inColumns(o, output) {
		columns = 2
	}

	return layout.Of(o.As).Theme(t, columns).Dense(o.Density)
}

// checkLayout returns an error for options that only other layouts have. The options are those of the caller and
// of the front matter together.
func checkLayout(o presswork.Options) error {
	if o.Columns != nil && *o.Columns > 1 && o.As != layout.Paper && o.As != asAuto {
		return invalid("columns", "columns goes with as: paper only")
	}

	return nil
}

// textSize returns the size of the running text as a multiple of typeset.BodySize, for layouts and densities that set
// one.
func textSize(theme themes.Theme, o presswork.Options) float64 {
	if layout.Of(o.As).Name == "" && o.Density == "" {
		return 1
	}

	points, err := strconv.ParseFloat(strings.TrimSuffix(theme.Token("--text-size"), "pt"), 64)
	if err != nil || points <= 0 {
		return 1
	}

	return points * sheet.Point / typeset.BodySize
}

// typeset sets the body and its text from blocks. made has the generated pieces for the places among them.
func (p *page) typeset(blocks []block.Block, made contents.Pieces) {
	p.body, p.text = typeset.Write(blocks, made, typeset.Options{
		Sheet:    p.sheet,
		Beside:   p.parts.Beside,
		Columns:  p.columns,
		TextSize: textSize(p.theme, p.options),
		CodeSize: p.theme.Token("--code-size"),
		Chapters: p.book.chapterIDs(p.headings),
		Start:    p.book.start,
		DropCaps: p.book.text,
		Lang:     p.lang,
	})
}

// asAuto is the value of the option as that chooses the layout by the text.
const asAuto = "auto"
