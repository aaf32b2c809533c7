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
	"presswork/internal/document/metadata"
	"presswork/internal/document/raster"
	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/internal/pdffile/pack"
)

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

// planned sets the plan of a document: that of the PDF, or of pictures of its pages.
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

// PictureName returns the name of the picture of a page: page-07.png. pages is the number of pages.
func PictureName(name string, page, pages int) string {
	return fmt.Sprintf("%s-%0*d.png", name, len(strconv.Itoa(pages)), page)
}

// defaultResolution is the resolution of pictures of pages, in pixels per inch.
const defaultResolution = 150

func resolutionOf(o presswork.Options) int {
	if o.Resolution != nil {
		return *o.Resolution
	}

	return defaultResolution
}
