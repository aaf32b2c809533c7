package document

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"presswork"
	"presswork/internal/chromium/printable"
	"presswork/internal/document/layout"
	"presswork/internal/document/metadata"
	"presswork/internal/document/raster"
	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/internal/pdffile/pack"
)

// pointsPerMM is the number of typographic points in a millimetre.
const pointsPerMM = 72 / 25.4

// letterOutputs is the error message for a letter as an EPUB.
const letterOutputs = `as "letter" goes with the outputs pdf, html and png; epub is for books`

// CheckOutput returns an error for an unknown output, and for an output that cannot satisfy the options and the
// front matter. A document that sets a password is never printed without one. Errors: InvalidOption,
// FrontMatterInvalid.
func CheckOutput(output presswork.Output, matter metadata.FrontMatter, o presswork.Options) error {
	var names []string
	for _, known := range presswork.Outputs() {
		names = append(names, string(known))
	}

	if output != "" && !slices.Contains(names, string(output)) {
		return fault.Errorf(fault.InvalidOption, "output %q does not exist%s; allowed: %s", input.Short(string(output)),
			input.DidYouMean(string(output), names), strings.Join(names, ", ")).WithParam("output")
	}

	switch {
	case output == "" || output == presswork.PDF:
		return nil
	case output == presswork.EPUB && o.As == layout.Letter:
		return invalid("as", "%s", letterOutputs)
	case output == presswork.EPUB && o.As == "" && matter.Options.As == layout.Letter:
		return fault.Errorf(fault.FrontMatterInvalid, "front matter, line %d: %s", matter.Lines["as"], letterOutputs).
			WithParam("content")
	case o.Password != "":
		return invalid("password", "password goes with the output pdf only: %s cannot be encrypted", output)
	case matter.Options.Password != "":
		return fault.Errorf(fault.FrontMatterInvalid,
			"front matter, line %d: password goes with the output pdf only: %s cannot be encrypted",
			matter.Lines["password"], output).
			WithParam("content")
	}

	return nil
}

// picturesPlan is the plan for pictures of the pages of a PDF.
type picturesPlan struct {
	pdfPlan

	resolution int // in pixels to the inch
}

// make prints the document and draws a picture of each page. The result has the pictures and an archive of them.
func (p picturesPlan) make(ctx context.Context, c *Converter, d Composed) (Made, error) {
	made, err := c.makePDF(ctx, d)
	if err != nil {
		return made, err
	}

	if c.script == nil {
		return Made{}, fault.Errorf(fault.InvalidOption, "pictures of pages are not made here: that takes a browser").
			WithParam("output")
	}

	sheet := d.Page.Sheet
	made.Pictures, err = raster.Pages(ctx, c.script, made.Data, made.Pages, p.resolution, sheet.Width*sheet.Height)
	made.Data = nil

	if err == nil {
		made.Data, err = archive(made.Pictures)
	}

	return made, err
}

// planned sets the plan of a document, that of the PDF or of pictures of its pages, and the key. finish is that of the
// plan.
func (c *Converter) planned(d Composed, pdf pdfPlan, finish pack.Finish, o presswork.Options) Composed {
	if d.plan = pdf; d.Output == presswork.PNG {
		d.plan = picturesPlan{pdf, resolutionOf(o)}
	}

	return c.keyed(d, finish, resolutionOf(o))
}

// archive returns a zip of pictures, with names that sort by page.
func archive(pictures [][]byte) ([]byte, error) {
	var out bytes.Buffer

	z := zip.NewWriter(&out)
	for i, picture := range pictures {
		f, err := z.CreateHeader(&zip.FileHeader{Name: PictureName("page", i+1, len(pictures)), Method: zip.Store})
		if err == nil {
			_, err = f.Write(picture)
		}

		if err != nil {
			return nil, fmt.Errorf("document: %w", err)
		}
	}

	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("document: %w", err)
	}

	return out.Bytes(), nil
}

// PictureName returns the file name of the picture of a page: "page-07.png" for the name "page" and page 7 of 12. Names
// of the same document sort by page.
func PictureName(name string, page, pages int) string {
	return fmt.Sprintf("%s-%0*d.png", name, len(strconv.Itoa(pages)), page)
}

// defaultResolution is the resolution of pictures of pages, in pixels per inch.
const defaultResolution = 150

// resolutionOf returns the pixels per inch of pictures of pages.
func resolutionOf(o presswork.Options) int {
	if o.Resolution != nil {
		return *o.Resolution
	}

	return defaultResolution
}

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
	layout offsets // of the parts of Page.HTML
	plan   plan
}

// plan makes the output of a composed document. Each output has its own: printPlan, slidePlan, picturesPlan, webPlan,
// bookPlan.
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

// judge returns all warnings of a document. found are those found since it was composed. With the option strict, any
// warning is the error StrictFindings.
func (d Composed) judge(found []fault.Warning) ([]fault.Warning, error) {
	all := slices.Concat(d.Warnings, found)
	if d.strict && len(all) > 0 {
		return all, strictFindings(all)
	}

	return all, nil
}

// strictFindings returns the error for these warnings. Its message has the first ones.
func strictFindings(warnings []fault.Warning) error {
	const shown = 5 // warnings
	var b strings.Builder

	for i, w := range warnings {
		if i == shown {
			fmt.Fprintf(&b, "; and %d more", len(warnings)-shown)
			break
		}

		if i > 0 {
			b.WriteString("; ")
		}

		if w.Line > 0 {
			fmt.Fprintf(&b, "line %d: ", w.Line)
		}
		b.WriteString(w.Message)
	}

	return fault.Errorf(fault.StrictFindings, "strict: %s", b.String())
}

// Standalone returns the page for other programs than the Printer. Its policy lets it load nothing.
func (d Composed) Standalone() string {
	at := d.layout.charset
	return d.Page.HTML[:at] + policyMeta + d.Page.HTML[at:]
}

// quartoFormats returns the names that Quarto has for an output. Content for other formats is left out.
func quartoFormats(output presswork.Output) []string {
	switch output {
	case presswork.HTML:
		return []string{"html", "html:js"}
	case presswork.EPUB:
		return []string{"epub", "html"}
	default:
		return []string{"pdf", "latex"}
	}
}
