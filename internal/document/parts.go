package document

import (
	"context"
	"slices"
	"strings"

	"presswork"
	"presswork/internal/document/arrange"
	"presswork/internal/document/sections"
	"presswork/internal/fault"
	"presswork/internal/markdown"
	"presswork/internal/pdffile"
	"presswork/themes"
)

// maxDivided bounds the parts of a document in sections, as markdown.MaxParts counts them. 8000 pages of short
// sections have 620 000.
const maxDivided = 1_000_000

// divisible reports whether a document may be printed in sections. Its stylesheets must not depend on the number of
// pages or blocks before an element. All pages must have the header and footer.
func (c *Converter) divisible(o presswork.Options, theme themes.Theme, names themes.Names) bool {
	return c.idle != nil && hasBuiltinSheets(o, theme) && !names.HasClass("no-header") && !names.HasClass("no-footer")
}

// tooMuchAtOnce returns the error of a document with too many elements for one print. why says why it cannot be
// printed in sections.
func tooMuchAtOnce(parts int, why string) *fault.Error {
	return fault.Errorf(fault.ContentTooComplex,
		"the document is too much to print at once: it has %d parts; at most %d are allowed where %s",
		parts, markdown.MaxParts, why)
}

// printSections prints a document in sections. It returns nil if the document should be printed at once. Errors:
// those of the Printer.
func (p *printing) printSections(ctx context.Context) (*pdffile.File, error) {
	// The number of free tabs varies, but with an epoch the bytes must not.
	if p.text == nil || p.parts <= markdown.MaxParts && (!p.epoch.IsZero() || p.idle() < 2) {
		return nil, nil
	}

	if p.timeout > 0 {
		var cancel context.CancelFunc

		ctx, cancel = context.WithTimeoutCause(ctx, p.timeout,
			fault.Errorf(fault.RenderTimeout, "the document took longer than %s to print", p.timeout))
		defer cancel()
	}

	for {
		printer := sections.Printer{Print: p.printer.Print, Idle: p.idle, Log: p.log}

		whole, err := sections.Print(ctx, p.divided(), printer)
		if whole == nil || err != nil || !p.footnotes {
			return whole, err
		}

		pages, err := whole.Anchors()
		if err != nil {
			return whole, nil // without anchors the places of the notes cannot be checked
		}

		// Print again, with the notes that are not on the page of their reference at the end of the document.
		notes := arrange.Misplaced(pages)
		if len(notes) == 0 {
			return whole, nil
		}
		p.keepAtEnd(ctx, notes)
	}
}

// divided returns the document in the form of package sections.
func (p *printing) divided() sections.Plan {
	l, page := p.layout, p.Page.HTML
	facing := page[l.facing[0]:l.facing[1]]

	plan := sections.Plan{
		Head: sections.Head{
			Before: page[:l.facing[0]], Facing: facing, OtherFacing: otherSides.Replace(facing),
			Banners: page[l.banners[0]:l.banners[1]], After: page[l.banners[1]:l.head],
		},
		Body: page[l.head+len("</head>\n") : l.start], Cover: page[l.start:l.cover],
		Size: len(page), Must: p.parts > markdown.MaxParts, Sheet: p.Page.Sheet, Prepare: p.Page.Prepare,
		Mirrored: p.sheet.Mirrored, Footnotes: p.footnotes, Turns: p.text.Turns, Top: p.sheet.TextTop(),
		Banners: p.banners, NoBanners: noBanners, Number: thisPage, Total: allPages,
		CountsPages: strings.Contains(p.banners(thisPage, allPages), allPages),
	}
	if r := p.revision; r != nil {
		plan.Contents, plan.Numbers, plan.Running = len(r.contents) > 0, r.numbers, r.running
		for _, h := range slices.Concat(r.chapters, r.sections) {
			plan.Anchors = append(plan.Anchors, h.ID)
		}
	}
	plan.Blocks = p.text.Sections(page[l.main[0]:l.main[1]])

	return plan
}

// otherSides exchanges the rules of right and left pages.
var otherSides = strings.NewReplacer("@page:right{", "@page:left{", "@page:left{", "@page:right{")
