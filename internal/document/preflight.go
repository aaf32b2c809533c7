package document

import (
	"bytes"
	"context"
	"fmt"
	"path"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/markdown"
	"presswork/internal/pdffile"
	"presswork/internal/pdffile/inspect"
)

// preflight is what the print of a document is checked against.
type preflight struct {
	sources []Part // for line numbers
	sheet   sheet
	cover   bool
	rtl     bool
	// wide reports that the page holds something that could be wider than its
	// column: text, and code as the print sheet sets it, always breaks.
	wide bool
}

// maybeWide reports that a formula of so many em may not fit an area of so many millimetres.
func maybeWide(em, area float64) bool {
	const doubt = 1.4 // guesses are not that far off
	return em*bodySize*doubt > area
}

// preflightOf is the preflight of a document whose widest formula has so many em; doubtful is
// that some table may be too wide.
func preflightOf(d Document, o presswork.Options, p page, doubtful bool, widest float64) preflight {
	area := (p.sheet.width - p.sheet.left - p.sheet.right) / p.sheet.scale

	return preflight{
		sources: append([]Part{{Content: d.Content, Path: d.Path}}, d.Parts...),
		sheet:   p.sheet,
		cover:   isTrue(o.Cover),
		rtl:     markdown.Direction(p.lang) == "rtl",
		wide:    doubtful || maybeWide(widest, area) || o.CSS != "" || p.theme.Custom,
	}
}

// inspect looks through a print for characters that no font has, for what is cut
// off at the side and for what became too small to read. Most documents can have
// nothing of the kind, and are not looked at.
func (p preflight) inspect(
	ctx context.Context,
	html string,
	read func() (*pdffile.File, error),
) ([]fault.Warning, error) {
	wanted := beyondFonts(html)
	if !p.wide && len(wanted) == 0 {
		return nil, nil
	}

	f, err := read()
	if err != nil {
		return nil, err
	}

	var areaOf func(int, float64, float64) *inspect.Area
	if p.wide {
		areaOf = p.areaOf
	}

	found, err := inspect.Text(ctx, f, wanted, areaOf)
	if err != nil {
		return nil, err
	}

	return append(p.glyphsMissing(found.Missing), p.linesOverflow(found.Misfits)...), nil
}

// areaOf is where the text of a page lies, in points: the area inside the
// margins and a little more, for what hangs over on purpose. The cover does what
// it likes. What runs out does so where lines end.
func (p preflight) areaOf(page int, width, height float64) *inspect.Area {
	const pointsPerMM, tolerance = 72 / 25.4, 6

	if p.cover && page == 1 {
		return nil
	}
	const legible = 3.5 // points
	left, right := p.sheet.sides(page, p.rtl)
	left, right = left+p.sheet.bleed, right+p.sheet.bleed

	a := inspect.Area{
		Smallest: legible * p.sheet.scale,
		LineEnd:  width - right*pointsPerMM,
		Left:     0,
		Right:    width - right*pointsPerMM + tolerance,
		Bottom:   (p.sheet.bottom + p.sheet.bleed) * pointsPerMM,
		Top:      height - (p.sheet.top+p.sheet.bleed)*pointsPerMM,
	}
	if p.rtl {
		a.LineEnd = left * pointsPerMM
		a.Left, a.Right = left*pointsPerMM-tolerance, width
	}

	return &a
}

// maxOverflows is how many pages are reported; more add nothing new.
const maxOverflows = 10

// linesOverflow words what does not fit, page by page.
func (p preflight) linesOverflow(found []inspect.Misfit) (warnings []fault.Warning) {
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
			w.Message = fmt.Sprintf(
				"page %d: something is so wide that it is set in %.1f pt, too small to read",
				m.Page,
				m.Size,
			)
		}

		if text := pdffile.OneLine(m.Text); text != "" {
			w.Message += fmt.Sprintf(", at %q", short(text))
			p.locate(&w, text)
		}
		warnings = append(warnings, w)
	}

	return warnings
}

// locate gives a warning the line of the first of the texts that is found in
// the source as it was printed, and of several files the name.
func (p preflight) locate(w *fault.Warning, texts ...string) {
	for _, source := range p.sources {
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
		if len(p.sources) > 1 {
			w.Message = path.Base(source.Path) + ": " + w.Message
		}

		return
	}
}
