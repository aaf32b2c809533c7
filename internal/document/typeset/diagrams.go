package typeset

import (
	"fmt"
	"strconv"
	"strings"

	"presswork/internal/document/sheet"
	"presswork/internal/markdown/block"
	"presswork/internal/markdown/diagram"
)

const (
	// DiagramText is the size of a diagram's texts in CSS pixels: 10.5 pt, slightly less than the text around it.
	DiagramText = 14
	// worthTurning is the factor by which a turned page must enlarge a diagram.
	worthTurning = 1.25
	// pageShare is the share of a page's height for a diagram. The rest is for the heading above it.
	pageShare = 0.85
	// largestSheet bounds each side of a fold-out sheet, as a multiple of that of the other sheets.
	largestSheet = 4
)

// fitDiagram gives a diagram that would be too small to read a turned page or a larger sheet that folds out. In two
// columns it gives it both columns.
func (t *writer) fitDiagram(list []neighbour, at int, s sheet.Sheet) {
	d := &list[at]

	wanted := diagramSheet(block.Attributes(d.Inner()), s)
	if wanted == s {
		return
	}

	if t.columns {
		d.tag = d.TagWithClasses([]string{"spanning"})
		return
	}
	d.wrapper = turnedStart

	if wanted.Width != s.Height || wanted.Height != s.Width {
		t.folded++
		name := fmt.Sprintf("sheet-%d", t.folded)
		d.wrapper = strings.TrimSuffix(turnedStart, ">") + ` style="page:` + name + `">`
		d.rule = fmt.Sprintf("<style>@page %s{size:%gmm %gmm}</style>", name,
			sheet.Round(wanted.Width+2*s.Bleed), sheet.Round(wanted.Height+2*s.Bleed))
	}
	// The rule of print.css limits the diagram to the height of the upright page.
	d.height = fmt.Sprintf(` style="max-height:%gmm"`, sheet.Round((wanted.Height-s.Top-s.Bottom)*pageShare/s.Scale))
	list[leadIn(list, at)].until = at + 1
}

// diagram writes a diagram.
func (t *writer) diagram(s *neighbour) {
	if s.tag != "" {
		t.out.WriteString(s.tag + s.Element()[len(s.Tag()):])
		return
	}

	at := len(s.Tag())
	if s.height != "" {
		at += len("<svg")
	}
	t.out.WriteString(s.HTML[:at] + s.height + s.Element()[at:])
}

// diagramSheet returns the sheet for a drawing with these attributes: the given sheet, the same sheet turned, or a
// larger one.
func diagramSheet(attributes map[string]string, s sheet.Sheet) sheet.Sheet {
	width, _ := strconv.ParseFloat(attributes["width"], 64)
	height, _ := strconv.ParseFloat(attributes["height"], 64)

	smallest := float64(DiagramText)
	if text, noted := attributes[diagram.TextAttribute]; noted {
		smallest, _ = strconv.ParseFloat(text, 64)
	}

	if !(width > 0 && height > 0 && smallest > 0) {
		return s
	}
	legible := min(1, diagram.SmallestText/smallest) // the least scale of the drawing
	const pixel = 25.4 / 96                          // in millimetres
	// size returns the scale at which the drawing fits a sheet.
	size := func(s sheet.Sheet) float64 {
		across, along := s.TextWidth(), s.TextHeight()*pageShare
		return min(1, across/s.Scale/pixel/width, along/s.Scale/pixel/height)
	}

	best := s
	if size(s) >= legible {
		return s
	}
	turned := s

	turned.Width, turned.Height = s.Height, s.Width
	if size(turned) > worthTurning*size(s) {
		best = turned
	}

	if size(best) >= legible {
		return best
	}
	// Each side grows by the missing length, up to the largest sheet.
	grown := best
	grown.Width = min(max(best.Width, width*legible*pixel*s.Scale+s.Left+s.Right+1),
		largestSheet*best.Width, sheet.MaxSide)
	grown.Height = min(max(best.Height, height*legible*pixel*s.Scale/pageShare+s.Top+s.Bottom+1),
		largestSheet*best.Height, sheet.MaxSide)

	return grown
}
