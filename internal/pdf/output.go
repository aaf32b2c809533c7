package pdf

import (
	"context"
	"slices"
	"strings"

	"presswork"
	"presswork/internal/input"
	"presswork/internal/markdown"
)

// CheckOutput refuses an output that does not exist, and one that cannot keep
// what the options, or the front matter below them, ask for: a document that asks
// for a password never goes out without one. Errors: InvalidOption,
// FrontMatterInvalid.
func CheckOutput(output presswork.Output, matter markdown.Matter, o presswork.Options) error {
	var names []string
	for _, known := range presswork.Outputs() {
		names = append(names, string(known))
	}
	if output != "" && !slices.Contains(names, string(output)) {
		return presswork.Errorf(presswork.InvalidOption, "output %q does not exist%s; allowed: %s", short(string(output)),
			input.DidYouMean(string(output), names), strings.Join(names, ", ")).WithParam("output")
	}
	switch {
	case output == "" || output == presswork.PDF:
		return nil
	case o.Password != "":
		return invalid("password", "password goes with the output pdf only: %s cannot be encrypted", output)
	case matter.Options.Password != "":
		return presswork.Errorf(presswork.FrontMatterInvalid, "front matter, line %d: password goes with the output pdf only: %s cannot be encrypted",
			matter.Lines["password"], output).WithParam("content")
	}
	return nil
}

// Made is a finished document.
type Made struct {
	// Data is the file.
	Data []byte
	// Pages is how many there are, 0 for HTML and EPUB.
	Pages int
	// Warnings are those of Composed and those found since.
	Warnings []presswork.Warning
}

// Make makes a composed document into its output. Errors: Print's, those of
// Options.Picture.
func (c *Converter) Make(ctx context.Context, d Composed) (Made, error) {
	switch d.Output {
	case presswork.HTML:
		return Made{Data: []byte(d.Page.HTML), Warnings: d.Warnings}, nil
	case presswork.EPUB:
		return c.makeBook(ctx, d)
	}
	printed, err := c.Print(ctx, d)
	return Made{Data: printed.PDF, Pages: printed.Pages, Warnings: printed.Warnings}, err
}
