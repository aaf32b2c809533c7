package diagram

import (
	"slices"
	"strconv"
	"testing"
)

// Text is readable on areas of every accent, even a loud one.
func TestTextIsReadableOnEveryArea(t *testing.T) {
	t.Parallel()

	for name, s := range map[string]Style{
		"light":           {Page: "#ffffff", Text: "#1f2328", Line: "#d0d7de", Accents: []string{"#4a2fd8", "#d49a00"}},
		"black on cream":  {Page: "#fff7ed", Text: "#7c2808", Line: "#d0c0b0", Accents: []string{"#000000", "#370a00", "#f6b900"}},
		"white on black":  {Page: "#09090b", Text: "#dca54d", Line: "#403020", Accents: []string{"#ffffff", "#152747", "#e2d563"}},
		"yellow on black": {Page: "#000000", Text: "#d6d6d6", Line: "#303030", Accents: []string{"#3a3a3a", "#ffff00", "#0000ff"}},
	} {
		t.Run(name, func(t *testing.T) {
			v := s.variables()

			for i := range 12 {
				for _, area := range []string{"pie" + strconv.Itoa(i+1), "cScale" + strconv.Itoa(i)} {
					if ratio := contrast(v[area].(string), s.Text); ratio < 4.5 {
						t.Errorf("%s: the contrast of the text on %s is %.1f", name, area, ratio)
					}
				}
			}

			for i := range 12 {
				if ratio := contrast(s.stroke(i), s.Page); ratio < 3 {
					t.Errorf("%s: the contrast of branch %d with the page is %.1f", name, i, ratio)
				}
			}

			if len(s.Accents) > 1 && v["pie1"] == v["pie2"] {
				t.Errorf("%s: two slices have the colour %s", name, v["pie1"])
			}
		})
	}
}

func TestSimilarColoursAreDropped(t *testing.T) {
	t.Parallel()

	got := distinct([]string{"#0d0d0d", "#1a1919", "#262626", "#ffd182", "#ff9a8c", "#ffd182"})
	if want := []string{"#0d0d0d", "#ffd182", "#ff9a8c"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
