package document

import (
	"context"
	"fmt"
	"slices"

	"presswork"
	"presswork/internal/chromium/printable"
	"presswork/internal/fault"
	"presswork/internal/pdffile/pack"
)

// Composed is a document ready to be made into its output: what all outputs have in common, and
// the plan of its own.
type Composed struct {
	// Output is the Document's.
	Output presswork.Output
	// Page is what is printed; of HTML it is the file itself, of EPUB the cover.
	Page printable.Page
	// Meta goes into the metadata of the file: of a PDF the Info dictionary and XMP.
	Meta pack.Meta
	// Theme is the name of the theme in force.
	Theme    string
	Warnings []fault.Warning
	// Key names the result: equal keys, equal results. It covers the HTML, the
	// sheet, the metadata, the plan and the versions of browser and packer.
	Key string

	// strict makes an error of warnings.
	strict bool
	layout layout // of Page.HTML
	plan   plan
}

// plan makes a composed document into its output.
type plan interface {
	// make returns the finished document, with all warnings. Errors: Converter.Make's.
	make(ctx context.Context, c *Converter, d Composed) (Made, error)
}

// Made is a finished document.
type Made struct {
	// Data is the file.
	Data []byte
	// Pictures are the pages, PNGs, which Data holds as a zip archive.
	Pictures [][]byte
	// Pages is how many there are, 0 for HTML and EPUB.
	Pages int
	// Warnings are those of Composed and those found since.
	Warnings []fault.Warning
}

// Make makes a composed document into its output. Errors: Print's, those of
// Options.Picture.
func (c *Converter) Make(ctx context.Context, d Composed) (Made, error) {
	return d.plan.make(ctx, c, d)
}

// Result is a printed document.
type Result struct {
	PDF   []byte
	Pages int
	// Warnings are those of Composed and those found while printing.
	Warnings []fault.Warning
}

// Print prints a document that was composed for PDF or PNG, and packs the PDF. Errors: the
// Printer's, RenderFailed when it cannot be made into what was asked for, StrictFindings
// (with the Warnings).
func (c *Converter) Print(ctx context.Context, d Composed) (Result, error) {
	p, ok := d.plan.(pdfPlan)
	if !ok {
		return Result{}, fmt.Errorf("document: the output %s is not printed", d.Output)
	}

	r, err := p.print(ctx, c, d)
	if err != nil {
		return Result{}, err
	}

	if r.Warnings, err = d.judge(r.Warnings); err != nil {
		return Result{Warnings: r.Warnings}, err
	}

	return r, nil
}

// judge returns all warnings of a document, given those found since it was composed.
// Errors: StrictFindings.
func (d Composed) judge(found []fault.Warning) ([]fault.Warning, error) {
	all := slices.Concat(d.Warnings, found)
	if d.strict && len(all) > 0 {
		return all, strictFindings(all)
	}

	return all, nil
}

// Standalone is the page for another program than the Printer: with a policy of
// its own that lets it fetch nothing.
func (d Composed) Standalone() string {
	at := d.layout.charset
	return d.Page.HTML[:at] + policyMeta + d.Page.HTML[at:]
}
