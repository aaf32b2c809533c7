package themes

import (
	"fmt"
	"math"
	"testing"
)

func TestParseColor(t *testing.T) {
	t.Parallel()

	for in, want := range map[string]string{
		"#5E81AC": "#5e81ac", "#abc": "#aabbcc", "#abcd": "#aabbcc", "#11223344": "#112233", " red ": "#ff0000", "RebeccaPurple": "#663399",
		"rgb(94, 129, 172)": "#5e81ac", "rgb(94 129 172 / 50%)": "#5e81ac", "rgba(100%,0%,0%,1)": "#ff0000",
		"hsl(213 32% 52%)": "#5d81ac", "hsla(0deg, 100%, 50%, .5)": "#ff0000",
		"oklch(100% 0 0)": "#ffffff", "oklch(0.45 0.24 277.023)": "#422ad5", "oklch(45% 0.24 277.023)": "#422ad5",
	} {
		t.Run(in, func(t *testing.T) {
			c, ok := parseColor(in)
			if !ok || c.hex() != want {
				t.Errorf("%q: got %s, %v; want %s", in, c.hex(), ok, want)
			}
		})
	}

	for i, in := range []string{"", "#12", "#xyzxyz", "rgb(1,2)", "rgb(a,b,c)", "oklch(NaN 0 0)", "var(--x)", "a b", "url(x)", "color-mix(in srgb, red, blue)", "aliceblue f0f8ff antiquewhite", "ffd700", "9acd32"} {
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
			if c, ok := parseColor(in); ok {
				t.Errorf("%q is taken for %s", in, c.hex())
			}
		})
	}
}

func TestOKLCHRoundTrip(t *testing.T) {
	t.Parallel()

	for _, hex := range []string{"#000000", "#ffffff", "#422ad5", "#f43098", "#00d0bb", "#5e81ac", "#123456"} {
		t.Run(hex, func(t *testing.T) {
			c, _ := parseColor(hex)
			if got := c.oklch().color().hex(); got != hex {
				t.Errorf("%s became %s", hex, got)
			}
		})
	}
}

func TestContrast(t *testing.T) {
	t.Parallel()

	if got := contrast(black, white); math.Abs(got-21) > 1e-9 {
		t.Errorf("black on white is %v", got)
	}

	grey, _ := parseColor("#767676")
	if got := contrast(grey, white); math.Abs(got-4.54) > 0.01 {
		t.Errorf("#767676 on white is %v, WCAG says 4.54", got)
	}
}
