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

// Composed is a document before its output is made. It has the common fields of all outputs and a plan for its
// own.
type Composed struct {
	// Output is that of the Document.
	Output presswork.Output
	// Page is the page to print. For HTML it is the file itself, for EPUB the cover.
	Page printable.Page
	// Meta is the metadata of the file: for a PDF the Info dictionary and XMP.
	Meta pack.Meta
	// Theme is the name of the theme.
	Theme    string
	Warnings []fault.Warning
	// Key identifies the result: equal keys mean equal results. It covers the HTML, the sheet, the metadata, the
	// plan and the versions of browser and packer.
	Key string

	// strict turns warnings into an error.
	strict bool
	layout layout // of Page.HTML
	plan   plan
}

// plan makes the output of a composed document.
type plan interface {
	// make returns the finished document with all warnings. Errors: those of Converter.Make.
	make(ctx context.Context, c *Converter, d Composed) (Made, error)
}

// Made is a finished document.
type Made struct {
	// Data is the file.
	Data []byte
	// Pictures are the pages as PNGs. Data holds them as a zip archive.
	Pictures [][]byte
	// Pages is the number of pages, 0 for HTML and EPUB.
	Pages int
	// Warnings are those of Composed and those found later.
	Warnings []fault.Warning
}

// Make makes the output of a composed document. Errors: those of Print and of Options.Picture.
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

// Print prints a document that was composed for PDF or PNG, and packs the PDF. Errors: those of the Printer,
// RenderFailed when the PDF cannot be packed as requested, StrictFindings (with the Warnings).
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

// judge returns all warnings of a document. found are those found since it was composed. Errors: StrictFindings.
func (d Composed) judge(found []fault.Warning) ([]fault.Warning, error) {
	all := slices.Concat(d.Warnings, found)
	if d.strict && len(all) > 0 {
		return all, strictFindings(all)
	}

	return all, nil
}

// Standalone returns the page for other programs than the Printer. Its policy lets it load nothing.
func (d Composed) Standalone() string {
	at := d.layout.charset
	return d.Page.HTML[:at] + policyMeta + d.Page.HTML[at:]
}
