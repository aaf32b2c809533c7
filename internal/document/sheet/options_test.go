package sheet

import (
	"strings"
	"testing"

	"presswork"
	"presswork/internal/fault"
)

func TestOfReadsOptions(t *testing.T) {
	t.Parallel()
	yes, no, half := true, false, 0.5

	type margins = presswork.Margins
	a4 := Sheet{
		Width:   210,
		Height:  297,
		Top:     25,
		Right:   33,
		Bottom:  26,
		Left:    33,
		Scale:   1,
		tagged:  true,
		outline: true,
	}

	for name, test := range map[string]struct {
		options presswork.Options
		change  func(*Sheet)
	}{
		"none":      {presswork.Options{}, func(*Sheet) {}},
		"landscape": {presswork.Options{Landscape: &yes}, func(s *Sheet) { s.Width, s.Height = 297, 210 }},
		"landscape of a wide page": {
			presswork.Options{PageSize: "297mm x 210mm", Landscape: &yes},
			func(s *Sheet) { s.Width, s.Height = 297, 210 },
		},
		"narrow": {
			presswork.Options{MarginPreset: "narrow"},
			func(s *Sheet) { s.Top, s.Right, s.Bottom, s.Left = 13, 13, 15, 13 },
		},
		"wide": {
			presswork.Options{MarginPreset: "Wide"},
			func(s *Sheet) { s.Top, s.Right, s.Bottom, s.Left = 32, 42, 34, 42 },
		},
		"smaller paper": {
			presswork.Options{PageSize: "105mm x 297mm", MarginPreset: "wide"},
			func(s *Sheet) { s.Width, s.Top, s.Right, s.Bottom, s.Left = 105, 16, 21, 17, 21 },
		},
		"single margins": {
			presswork.Options{Margins: margins{Top: "1in", Right: "2cm", Bottom: "8q", Left: "6pc"}},
			func(s *Sheet) { s.Top, s.Right, s.Bottom, s.Left = 25.4, 20, 2, 25.4 },
		},
		"binding":               {presswork.Options{Binding: "7mm"}, func(s *Sheet) { s.Left, s.Mirrored = 40, true }},
		"crop marks":            {presswork.Options{CropMarks: &yes}, func(s *Sheet) { s.Bleed, s.Marks = 3, 9 }},
		"crop marks with bleed": {presswork.Options{CropMarks: &yes, Bleed: "5mm"}, func(s *Sheet) { s.Bleed, s.Marks = 5, 9 }},
		"scale":                 {presswork.Options{Scale: &half}, func(s *Sheet) { s.Scale = 0.5 }},
		"ranges":                {presswork.Options{PageRanges: "1-3,5"}, func(s *Sheet) { s.ranges = "1-3,5" }},
		"untagged":              {presswork.Options{Tagged: &no}, func(s *Sheet) { s.tagged, s.outline = false, false }},
		"without outline":       {presswork.Options{Outline: &no}, func(s *Sheet) { s.outline = false }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want := a4
			test.change(&want)

			got, err := Of(test.options, NormalMargins())
			for _, side := range []*float64{&got.Top, &got.Right, &got.Bottom, &got.Left} {
				*side = Round(*side)
			}

			if err != nil || got != want {
				t.Errorf("got %+v, %v\nwant %+v", got, err, want)
			}
		})
	}
}

func TestOfRejectsInvalidOptions(t *testing.T) {
	t.Parallel()

	for param, test := range map[string]struct {
		options presswork.Options
		want    string
	}{
		"margin_preset": {presswork.Options{MarginPreset: "narow"}, `did you mean "narrow"?`},
		"margins.left": {
			presswork.Options{Margins: presswork.Margins{Left: "20"}}, `margins.left "20" is not valid: a length is`,
		},
		"margins": {
			presswork.Options{Margins: presswork.Margins{Top: "290mm"}}, "leave less than 10mm of a page of 210mm x 297mm",
		},
		"binding":     {presswork.Options{Binding: "51mm"}, `binding "51mm" is not allowed: at most 50mm`},
		"bleed":       {presswork.Options{Bleed: "26mm"}, `bleed "26mm" is not allowed: at most 25mm`},
		"page_ranges": {presswork.Options{PageRanges: "3-1"}, "3-1"},
	} {
		t.Run(param, func(t *testing.T) {
			t.Parallel()

			_, err := Of(test.options, NormalMargins())
			if e := fault.AsError(err); e.Param != "options."+param || !strings.Contains(e.Message, test.want) {
				t.Errorf("got %v with the parameter %q, want %q", err, e.Param, test.want)
			}
		})
	}
}

// Chromium also paints text in strips above and below the content area. The margins of @page are smaller by these
// strips.
func TestCSSKeepsTextWithinTheMargins(t *testing.T) {
	t.Parallel()

	s := Sheet{Width: 200, Height: 300, Top: 20, Right: 30, Bottom: 4, Left: 40, Scale: 1}
	for _, want := range []string{
		"@page{size:200mm 300mm;margin:15mm 18mm 0mm 28mm;",
		"@top-center{margin-bottom:-5mm;padding:0 12mm}@bottom-center{margin-top:-4mm;padding:0 12mm}",
		"@page turned{size:300mm 200mm}",
	} {
		if css := s.CSS(); !strings.Contains(css, want) || strings.Contains(css, "margin-top:0mm") {
			t.Errorf("want %s in\n%s", want, css)
		}
	}

	s.Bleed = 3
	for _, want := range []string{
		"@page{size:206mm 306mm;margin:18mm 21mm 3mm 31mm;",
		"@page{@top-center{margin-top:3mm}@bottom-center{margin-bottom:3mm}}",
	} {
		if css := s.CSS(); !strings.Contains(css, want) {
			t.Errorf("want %s in\n%s", want, css)
		}
	}
}

// The page is 10 × 5 inches, scaled by 2, with a bleed of half an inch.
func TestLengthsForThePrinter(t *testing.T) {
	t.Parallel()

	s := Sheet{
		Width: 254, Height: 127, Top: 20, Right: 30, Bottom: 10, Left: 40, Scale: 2, Bleed: 12.7,
		ranges: "2", tagged: true, outline: true,
	}
	if s.TextWidth() != 184 || s.TextHeight() != 97 || Round(s.TextTop()) != Round((127+25.4-2.5)/Point) {
		t.Errorf("the text is %g x %g mm and begins at %g pt, want 184 x 97 at %g",
			s.TextWidth(), s.TextHeight(), s.TextTop(), (127+25.4-2.5)/Point)
	}

	p := s.ForPrinter()
	if Round(p.Width) != 11 || Round(p.Height) != 6 || p.Scale != 2 || p.PageRanges != "2" || !p.Tagged || !p.Outline {
		t.Errorf("the printer gets %+v, want 11 x 6 in, scale 2, page 2, tags and outline", p)
	}

	properties := s.Properties()
	for name, want := range map[string]string{
		"--sheet-width": "139.7mm", "--sheet-height": "76.2mm", "--area-height": "48.5mm",
		"--overhang": "6mm", "--rise": "2.5mm", "--drop": "2.5mm",
	} {
		if properties[name] != want {
			t.Errorf("%s is %s, want %s", name, properties[name], want)
		}
	}
}

func TestMirroredPagesHaveTheirTextAndNumbersAtTheOuterEdge(t *testing.T) {
	t.Parallel()

	s := Sheet{Width: 200, Height: 300, Left: 20, Right: 30, Mirrored: true}
	if left, right := s.Sides(1, true); left != 30 || right != 20 {
		t.Errorf("page 1 of a right-to-left document has the margins %v and %v, want 30 and 20", left, right)
	}

	edge := "@top-center{text-align:right}@bottom-center{text-align:right}"
	if css := s.FacingCSS(true); !strings.Contains(css, edge) {
		t.Errorf("want the page numbers at the edge, got %s", css)
	}

	if css := s.FacingCSS(false); strings.Contains(css, "text-align") {
		t.Errorf("want the page numbers in the middle, got %s", css)
	}
	s.Mirror(presswork.Options{Margins: presswork.Margins{Left: "20mm"}})

	if s.Left != 20 || s.Right != 30 {
		t.Errorf("Mirror changed margins of the options to %v and %v, want 20 and 30", s.Left, s.Right)
	}

	if css := (Sheet{}).FacingCSS(true); css != "" {
		t.Errorf("pages that are not mirrored have the CSS %s, want none", css)
	}
}
