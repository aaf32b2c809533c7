package document

import (
	"context"

	"presswork/internal/fault"
	"presswork/internal/markdown"
	"presswork/internal/pdffile"
	"presswork/internal/pdffile/pack"
)

// Inspect returns the warnings about a print, as Converter.Print does.
func Inspect(ctx context.Context, d Composed, printed []byte) ([]fault.Warning, error) {
	return d.plan.(pdfPlan).onSheet().preflight.Inspect(
		ctx,
		d.Page.HTML,
		func() (*pdffile.File, error) { return pdffile.Read(printed) },
	)
}

// Oversized returns the document as if it had more elements than one print may have, so that it must be divided.
func Oversized(d Composed) Composed {
	p := d.plan.(printPlan)
	p.parts = markdown.MaxParts + 1
	d.plan = p

	return d
}

// FinishOf returns the options with which the print of a document is packed.
func FinishOf(d Composed) pack.Finish { return d.plan.(pdfPlan).onSheet().finish }
