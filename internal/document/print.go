package document

import (
	"context"
	"runtime/debug"
	"slices"

	"presswork"
	"presswork/internal/chromium/printable"
	"presswork/internal/document/preflight"
	"presswork/internal/document/sheet"
	"presswork/internal/document/typeset"
	"presswork/internal/fault"
	"presswork/internal/markdown"
	"presswork/internal/markdown/ext/direction"
	"presswork/internal/pdffile"
	"presswork/internal/pdffile/inspect"
	"presswork/internal/pdffile/pack"
)

// pdfPlan is a plan that makes a PDF, or pictures of its pages.
type pdfPlan interface {
	plan
	// print prints the document and packs the PDF. It returns the warnings of the print.
	print(ctx context.Context, c *Converter, d Composed) (Result, error)
	// onSheet returns the part of the plan that all PDFs have.
	onSheet() paper
}

// paper has the common fields of the plans of documents and slides. It implements onSheet for them.
type paper struct {
	// finish says how the print is packed.
	finish pack.Finish
	sheet  sheet.Sheet
	// background is the colour of the pages, in CSS.
	background string
	// preflight is the zero value for slides: a script makes their text fit.
	preflight preflight.Check
}

// paper returns the common fields of a plan for the page p of a source. The caller sets preflight.
func (c *Converter) paper(s source, p page) paper {
	return paper{finish: finishOf(s.Document, p.options, s.body, c.epoch), sheet: p.sheet, background: p.background()}
}

func (p paper) onSheet() paper { return p }

// printPlan is the plan of a document that is printed as a PDF.
type printPlan struct {
	paper
	// revision is nil if the page does not depend on its own print.
	revision *revision
	// footnotes is true if notes are at the foot of pages.
	footnotes bool
	parts     int // as markdown.MaxParts counts them
	// text is nil if the document cannot be printed in sections; banners are page.banners.
	text    *typeset.Text
	banners func(number, total string) string
}

func (p printPlan) make(ctx context.Context, c *Converter, d Composed) (Made, error) {
	return c.makePDF(ctx, d)
}

// makePDF implements plan.make for a pdfPlan.
func (c *Converter) makePDF(ctx context.Context, d Composed) (Made, error) {
	r, err := c.Print(ctx, d)
	return Made{Data: r.PDF, Pages: r.Pages, Warnings: r.Warnings}, err
}

// print prints the document in sections if that is faster, otherwise at once.
func (p printPlan) print(ctx context.Context, c *Converter, d Composed) (Result, error) {
	run := printing{Converter: c, Composed: d, printPlan: p}

	whole, err := run.printSections(ctx)
	if err != nil {
		return Result{}, err
	}

	if whole == nil {
		return run.printWhole(ctx)
	}
	found := p.check(ctx, c, d, func() (*pdffile.File, error) { return whole, nil })

	packed, err := pack.Write(whole, d.Meta, p.finish)

	if p.parts > markdown.MaxParts {
		// The joined sections of 10 MB of Markdown take 300 MB. Without this, the process keeps three times as much
		// until the next garbage collection, perhaps two minutes later.
		debug.FreeOSMemory()
	}

	if err != nil {
		return Result{}, unfinished(p.finish, err)
	}

	return resultOf(packed, p.finish, found), nil
}

// printing is one run of a printPlan. It has copies of page and plan, which change when footnotes move.
type printing struct {
	*Converter
	Composed
	printPlan

	notesMoved int // prints in which a footnote was not on the page of its reference
}

// printWhole prints the document in one piece, and packs it.
func (p *printing) printWhole(ctx context.Context) (Result, error) {
	if p.parts > markdown.MaxParts {
		return Result{}, tooMuchAtOnce(p.parts, "a block, a table perhaps, is larger than 512 KB of HTML")
	}

	printed, err := p.printPage(ctx)
	if err != nil {
		return Result{}, err
	}

	r, err := p.pack(ctx, printed, p.Meta, p.finish)
	if err != nil {
		return Result{}, err
	}
	found := p.check(ctx, p.Converter, p.Composed, func() (*pdffile.File, error) { return pdffile.Read(printed) })
	r.Warnings = slices.Concat(found, r.Warnings)

	return r, nil
}

// check inspects a print for defects. read returns the print; it is called only if the document may have defects.
func (p paper) check(ctx context.Context, c *Converter, d Composed,
	read func() (*pdffile.File, error),
) []fault.Warning {
	found, err := p.preflight.Inspect(ctx, d.Page.HTML, read)
	if err != nil {
		c.log.WarnContext(ctx, "the print could not be checked", "error", err)
	}

	return found
}

// printPage prints the page. If notes are not on the page of their reference, it prints again with these notes at the
// end.
func (p *printing) printPage(ctx context.Context) ([]byte, error) {
	for {
		printed, err := p.printRevised(ctx)
		if err != nil || !p.footnotes {
			return printed, err
		}

		notes := misplacedNotes(printed)
		if len(notes) == 0 {
			return printed, nil
		}
		p.keepAtEnd(ctx, notes)
	}
}

// printRevised prints once, or until the page numbers in the text are right.
func (p *printing) printRevised(ctx context.Context) ([]byte, error) {
	if p.revision == nil {
		return p.printer.Print(ctx, p.Page)
	}
	var held, texts []string // of the last two prints
	reads := 0
	revision := *p.revision // its notes of this print must not reach other runs

	printed, err := p.printer.PrintRevised(ctx, p.Page, func(printed []byte) ([]string, error) {
		reads++
		held = texts

		var err error
		if texts, err = revision.texts(printed); err != nil {
			// Contents without numbers are better than an error.
			p.log.WarnContext(ctx, "the places of the headings could not be read from the PDF",
				"error", err, "bytes", len(printed))
		}

		return texts, nil
	})
	if err == nil && reads > 1 && !slices.Equal(held, texts) {
		p.log.WarnContext(ctx, "some page numbers in the contents may be wrong: each print moved the headings")
	}

	return printed, err
}

// PrintPage prints a page that was not composed from Markdown, and packs it. Errors: those of the Printer.
func (c *Converter) PrintPage(ctx context.Context, page printable.Page, m pack.Meta) (Result, error) {
	printed, err := c.printer.Print(ctx, page)
	if err != nil {
		return Result{}, err
	}

	return c.pack(ctx, printed, m, pack.Finish{})
}

// Pack compresses the print of a page that was not composed. It sets the title and, unless level is nil, makes the
// file PDF/A of that level. Errors: RenderFailed.
func (c *Converter) Pack(
	ctx context.Context,
	printed []byte,
	title string,
	level *presswork.PDFALevel,
) (Result, error) {
	var f pack.Finish
	if level != nil {
		f.PDFA = string(*level)
	}

	return c.pack(ctx, printed, pack.Meta{Title: title}, f)
}

// pack finishes the printed PDF. If that fails, it returns the browser's PDF, unless the caller needs PDF/A,
// attachments or a password.
func (c *Converter) pack(ctx context.Context, printed []byte, m pack.Meta, f pack.Finish) (Result, error) {
	p, err := pack.Pack(printed, m, f)
	switch {
	case err != nil && (f.PDFA != "" || len(f.Sources) > 0 || f.Password != ""): // the caller requires these
		return Result{}, unfinished(f, err)
	case err != nil:
		// A PDF of an unexpected form is still a PDF: it is returned as the browser made it.
		c.log.WarnContext(ctx, "the PDF could not be packed", "error", err, "bytes", len(printed))
		p.Data = printed
		p.Missing = []string{"the PDF is not as expected"}
	}

	return resultOf(p, f, nil), nil
}

// resultOf returns the result for a packed PDF. found are warnings from before.
func resultOf(p pack.Packed, f pack.Finish, found []fault.Warning) Result {
	r := Result{PDF: p.Data, Pages: p.Pages, Warnings: found}
	if f.PDFUA && len(p.Missing) > 0 {
		r.Warnings = append(r.Warnings, incomplete(p.Missing))
	}

	return r
}

// preflightOf returns the check of a document. widest is the width of its widest formula, in em. Text, and code in
// the print stylesheet, always breaks.
func preflightOf(d Document, o presswork.Options, p page, widest float64) preflight.Check {
	check := preflight.Check{Sources: []preflight.Source{{Path: d.Path, Content: d.Content}}}
	for _, part := range d.Parts {
		check.Sources = append(check.Sources, preflight.Source{Path: part.Path, Content: part.Content})
	}

	if !p.text.MayOverflow(widest) && o.CSS == "" && !p.theme.Custom {
		return check
	}
	sheet, cover, rtl := p.sheet, isTrue(o.Cover), direction.Of(p.lang) == "rtl"
	check.Area = func(page int, width, height float64) *inspect.Area {
		if cover && page == 1 {
			return nil
		}

		return textArea(sheet, page, width, height, rtl)
	}

	return check
}

// textArea returns the area of a page for text. It is the area inside the margins with a small tolerance for content
// that overhangs on purpose. Lines that are too long overflow at their end, so the area is open at their start. width
// and height are the size of the page in points.
func textArea(s sheet.Sheet, page int, width, height float64, rtl bool) *inspect.Area {
	const tolerance = 6 // points
	const legible = 3.5 // points

	left, right := s.Sides(page, rtl)
	left, right = left+s.Bleed, right+s.Bleed

	a := inspect.Area{
		Smallest: legible * s.Scale,
		LineEnd:  width - right*pointsPerMM,
		Left:     0,
		Right:    width - right*pointsPerMM + tolerance,
		Bottom:   (s.Bottom + s.Bleed) * pointsPerMM,
		Top:      height - (s.Top+s.Bleed)*pointsPerMM,
	}
	if rtl {
		a.LineEnd = left * pointsPerMM
		a.Left, a.Right = left*pointsPerMM-tolerance, width
	}

	return &a
}
