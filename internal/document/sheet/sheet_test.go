package sheet

import (
	"strings"
	"testing"

	"presswork"
	"presswork/internal/fault"
)

func TestOfReadsSizes(t *testing.T) {
	t.Parallel()

	for size, want := range map[string][2]float64{
		"":              {210, 297},
		" Letter":       {215.9, 279.4},
		"10cm x 200MM":  {100, 200},
		"960px x 96px":  {254, 25.4},
		"720pt x 72pt":  {254, 25.4},
		"100mm x 100in": {100, 2540},
	} {
		t.Run(size, func(t *testing.T) {
			t.Parallel()

			s, err := Of(presswork.Options{PageSize: size, MarginPreset: "none"}, NormalMargins())
			if err != nil || Round(s.Width) != want[0] || Round(s.Height) != want[1] {
				t.Errorf("got %v x %v mm, %v; want %v", s.Width, s.Height, err, want)
			}
		})
	}
}

func TestOfRejectsInvalidSizes(t *testing.T) {
	t.Parallel()

	for size, want := range map[string]string{
		"A44":           `did you mean "A4"?`,
		"10mm x 100mm":  "each side is 20mm to 5080mm",
		"100 x 200":     "a length is a number with a unit",
		"100mm x 201in": "each side is 20mm to 5080mm",
	} {
		t.Run(size, func(t *testing.T) {
			t.Parallel()

			_, err := Of(presswork.Options{PageSize: size}, NormalMargins())
			if e := fault.AsError(err); e.Param != "options.page_size" || !strings.Contains(e.Message, want) {
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
}

func TestMirroredMarginsChangeSides(t *testing.T) {
	t.Parallel()

	s, err := Of(presswork.Options{}, ParseMargins("25 30 26 30"))
	if err != nil {
		t.Fatal(err)
	}
	s.Mirror(presswork.Options{})

	if left, right := s.Sides(1, false); left != 27 || right != 33 {
		t.Errorf("page 1 has the margins %v and %v, want 27 and 33", left, right)
	}

	if left, right := s.Sides(2, false); left != 33 || right != 27 {
		t.Errorf("page 2 has the margins %v and %v, want 33 and 27", left, right)
	}

	if css := s.FacingCSS(true); !strings.Contains(css, "@page:left{margin-left:21mm;margin-right:15mm;") {
		t.Errorf("got the rules %s of facing pages, want the margins of left pages 21 and 15 mm", css)
	}
}

func TestParseMarginsIgnoresInvalidNumbers(t *testing.T) {
	t.Parallel()

	for token, want := range map[string]Margins{
		"10 20 30 40": {10, 20, 30, 40},
		"10 20 30":    NormalMargins(),
		"10 x 30 61":  {10, 33, 30, 33},
	} {
		t.Run(token, func(t *testing.T) {
			if got := ParseMargins(token); got != want {
				t.Errorf("ParseMargins(%q) = %v, want %v", token, got, want)
			}
		})
	}
}
