// Package preflight checks the print of a document for characters that no font has, and for content that is too wide or
// too small. It turns the findings of package inspect into warnings with the line of the source.
package preflight

import (
	"bytes"
	"context"
	"fmt"
	"path"

	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/internal/pdffile"
	"presswork/internal/pdffile/inspect"
)

// Check says what to check in a print. Its zero value looks for missing characters only.
type Check struct {
	// Sources are searched for the lines of warnings.
	Sources []Source
	// Area returns the area for the text of a page; nil for a page that is not checked. Nil: nothing on the pages can be
	// too wide.
	Area inspect.AreaOf
}

// Source is a file that the document is made of.
type Source struct {
	Path    string
	Content []byte
}

// Inspect checks a print of HTML for characters without a font, content that is cut off at the side, and text that is
// too small. read returns the print. It is not called for a document that cannot have these problems, as most cannot.
// Errors: those of read and of inspect.Text.
func (c Check) Inspect(ctx context.Context, html string,
	read func() (*pdffile.File, error),
) ([]fault.Warning, error) {
	wanted := beyondFonts(html)
	if c.Area == nil && len(wanted) == 0 {
		return nil, nil
	}

	f, err := read()
	if err != nil {
		return nil, err
	}

	found, err := inspect.Text(ctx, f, wanted, c.Area)
	if err != nil {
		return nil, err
	}

	return append(c.glyphsMissing(found.Missing), c.linesOverflow(found.Misfits)...), nil
}

// maxOverflows limits the pages that are reported, because more add nothing new.
const maxOverflows = 10

// linesOverflow returns warnings about content that does not fit, one for each page.
func (c Check) linesOverflow(found []inspect.Misfit) (warnings []fault.Warning) {
	for n, m := range found {
		if n > 0 && found[n-1].Page == m.Page {
			continue
		}

		if len(warnings) == maxOverflows {
			break
		}

		w := fault.Warning{
			Code:    fault.LineOverflow,
			Message: fmt.Sprintf("page %d: something is wider than its column and is cut off", m.Page),
		}
		if m.Size > 0 {
			w.Message = fmt.Sprintf("page %d: something is so wide that it is set in %.1f pt, too small to read",
				m.Page, m.Size)
		}

		if text := pdffile.OneLine(m.Text); text != "" {
			w.Message += fmt.Sprintf(", at %q", input.Short(text))
			c.locate(&w, text)
		}
		warnings = append(warnings, w)
	}

	return warnings
}

// locate adds to a warning the line of the first text that is found in the printed source. With several sources it
// adds the file name.
func (c Check) locate(w *fault.Warning, texts ...string) {
	for _, source := range c.Sources {
		first := -1
		for _, text := range texts {
			if at := bytes.Index(source.Content, []byte(text)); at >= 0 && (first < 0 || at < first) {
				first = at
			}
		}

		if first < 0 {
			continue
		}

		w.Line = 1 + bytes.Count(source.Content[:first], []byte("\n"))
		if len(c.Sources) > 1 {
			w.Message = path.Base(source.Path) + ": " + w.Message
		}

		return
	}
}
