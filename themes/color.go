package themes

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// color is an opaque sRGB colour, each channel 0 to 1.
type color struct{ r, g, b float64 }

var white, black = color{1, 1, 1}, color{}

// hex returns the colour as "#rrggbb".
func (c color) hex() string {
	b := func(v float64) int { return int(math.Round(min(max(v, 0), 1) * 255)) }
	return fmt.Sprintf("#%02x%02x%02x", b(c.r), b(c.g), b(c.b))
}

// parseColor reads hex, rgb(), hsl(), oklch() and names such as "navy". It ignores an alpha channel, because paper is
// opaque. It returns false for other values.
func parseColor(s string) (color, bool) {
	s = strings.ToLower(strings.TrimSpace(s))
	if hex, ok := strings.CutPrefix(s, "#"); ok {
		return parseHex(hex)
	}

	if hex, ok := namedColor(s); ok {
		return parseHex(hex)
	}

	name, rest, ok := strings.Cut(s, "(")
	if !ok || !strings.HasSuffix(rest, ")") {
		return color{}, false
	}

	args := strings.FieldsFunc(strings.TrimSuffix(rest, ")"), func(r rune) bool {
		return r == ' ' || r == ',' || r == '/' || r == '\t' || r == '\n'
	})
	if len(args) < 3 || len(args) > 4 {
		return color{}, false
	}

	switch name {
	case "rgb", "rgba":
		v, ok := numbers(args, 255, 255, 255)
		return color{clamp(v[0] / 255), clamp(v[1] / 255), clamp(v[2] / 255)}, ok
	case "hsl", "hsla":
		v, ok := numbers(args, 360, 1, 1)
		for i := 1; i < 3; i++ {
			if !strings.HasSuffix(args[i], "%") {
				v[i] /= 100
			}
		}

		return fromHSL(v[0], clamp(v[1]), clamp(v[2])), ok
	case "oklch":
		v, ok := numbers(args, 1, 0.4, 360)
		return oklch{clamp(v[0]), max(v[1], 0), v[2]}.color(), ok
	}

	return color{}, false
}

// parseHex reads rgb, rgba, rrggbb or rrggbbaa without its #. It ignores the opacity.
func parseHex(s string) (color, bool) {
	if len(s) == 3 || len(s) == 4 {
		s = string([]byte{s[0], s[0], s[1], s[1], s[2], s[2]})
	}

	if len(s) != 6 && len(s) != 8 {
		return color{}, false
	}
	n, err := strconv.ParseUint(s[:6], 16, 32)

	return color{float64(n>>16) / 255, float64(n>>8&255) / 255, float64(n&255) / 255}, err == nil
}

// numbers parses three components. wholes has the value of 100 % for each. "none" is 0.
func numbers(args []string, wholes ...float64) (v [3]float64, ok bool) {
	for i, whole := range wholes {
		a := strings.TrimSuffix(args[i], "deg")

		factor := 1.0
		if p, isPercent := strings.CutSuffix(a, "%"); isPercent {
			a, factor = p, whole/100
		}

		if a == "none" {
			a = "0"
		}

		n, err := strconv.ParseFloat(a, 64)
		if err != nil || math.IsNaN(n) || math.IsInf(n, 0) {
			return v, false
		}
		v[i] = n * factor
	}

	return v, true
}

// clamp returns the nearest value from 0 to 1.
func clamp(v float64) float64 { return min(max(v, 0), 1) }

// fromHSL converts a colour by the formula of CSS Color 4. h is in degrees, s and l are 0 to 1.
func fromHSL(h, s, l float64) color {
	f := func(n float64) float64 {
		k := math.Mod(n+math.Mod(h, 360)/30+12, 12)
		return l - s*min(l, 1-l)*max(-1, min(k-3, 9-k, 1))
	}

	return color{f(0), f(8), f(4)}
}

// oklch is a colour by lightness 0 to 1, chroma, and hue in degrees (Ottosson 2020, bottosson.github.io/posts/oklab).
// Equal steps of lightness look equal, so readable changes it without changing the hue.
type oklch struct{ l, c, h float64 }

// oklch converts the colour by the matrices of CSS Color 4.
func (c color) oklch() oklch {
	r, g, b := linear(c.r), linear(c.g), linear(c.b)
	l := math.Cbrt(0.4122214708*r + 0.5363325363*g + 0.0514459929*b)
	m := math.Cbrt(0.2119034982*r + 0.6806995451*g + 0.1073969566*b)
	s := math.Cbrt(0.0883024619*r + 0.2817188376*g + 0.6299787005*b)
	a := 1.9779984951*l - 2.4285922050*m + 0.4505937099*s
	bb := 0.0259040371*l + 0.7827717662*m - 0.8086757660*s

	return oklch{0.2104542553*l + 0.7936177850*m - 0.0040720468*s, math.Hypot(a, bb), math.Atan2(bb, a) * 180 / math.Pi}
}

// color returns the sRGB colour. It reduces the chroma, by bisection, until sRGB can show the colour.
func (o oklch) color() color {
	sin, cos := math.Sincos(o.h * math.Pi / 180)

	c, inside := o.light(sin, cos)
	if !inside {
		low, high := 0.0, o.c
		for range 24 {
			o.c = (low + high) / 2
			if _, inside = o.light(sin, cos); inside {
				low = o.c
			} else {
				high = o.c
			}
		}
		o.c = low
		c, _ = o.light(sin, cos)
	}

	return color{clamp(gamma(c.r)), clamp(gamma(c.g)), clamp(gamma(c.b))}
}

// light returns the linear channels, and whether sRGB can show them. sin and cos are those of the hue.
func (o oklch) light(sin, cos float64) (c color, inside bool) {
	a, b := o.c*cos, o.c*sin
	cube := func(v float64) float64 { return v * v * v }
	l := cube(o.l + 0.3963377774*a + 0.2158037573*b)
	m := cube(o.l - 0.1055613458*a - 0.0638541728*b)
	s := cube(o.l - 0.0894841775*a - 1.2914855480*b)
	c = color{
		4.0767416621*l - 3.3077115913*m + 0.2309699292*s,
		-1.2684380046*l + 2.6097574011*m - 0.3413193965*s,
		-0.0041960863*l - 0.7034186147*m + 1.7076147010*s,
	}
	// Colours count as inside if they miss the range by less than rounding to 8 bits.
	const lowest, highest = -7.74e-6, 1.0002276
	ok := func(v float64) bool { return v >= lowest && v <= highest }

	return c, ok(c.r) && ok(c.g) && ok(c.b)
}

// linear returns the linear value of an sRGB channel.
func linear(v float64) float64 {
	if v <= 0.04045 {
		return v / 12.92
	}

	return math.Pow((v+0.055)/1.055, 2.4)
}

// gamma is the inverse of linear.
func gamma(v float64) float64 {
	if v <= 0.0031308 {
		return v * 12.92
	}

	return 1.055*math.Pow(v, 1/2.4) - 0.055
}

// contrast returns the WCAG 2 contrast ratio of two colours, 1 to 21.
func contrast(a, b color) float64 { return ratioOf(a.luminance(), b.luminance()) }

// ratioOf returns the contrast ratio for two luminances.
func ratioOf(a, b float64) float64 { return (max(a, b) + 0.05) / (min(a, b) + 0.05) }

// luminance returns the relative luminance as WCAG 2 defines it, 0 to 1. It rounds the channels to 8 bits, the values
// that are printed.
func (c color) luminance() float64 {
	q := func(v float64) float64 { return linear(math.Round(clamp(v)*255) / 255) }
	return 0.2126*q(c.r) + 0.7152*q(c.g) + 0.0722*q(c.b)
}

// mix mixes two colours. share is the part of a, 0 to 1.
func mix(a, b color, share float64) color {
	m := func(x, y float64) float64 { return x*share + y*(1-share) }
	return color{m(a.r, b.r), m(a.g, b.g), m(a.b, b.b)}
}

// readable returns c if it has at least the contrast ratio on every background. Otherwise it changes the lightness
// toward that of text in steps of 1 %, and then mixes in text. The result is text if no step is enough.
func readable(c, text color, ratio float64, backgrounds ...color) color {
	lights := make([]float64, len(backgrounds))
	for i, b := range backgrounds {
		lights[i] = b.luminance()
	}

	enough := func(x color) bool {
		light := x.luminance()
		return !slices.ContainsFunc(lights, func(l float64) bool { return ratioOf(light, l) < ratio })
	}
	if enough(c) {
		return c
	}

	from, to := c.oklch(), text.oklch()
	for step := 1; step <= 100; step++ {
		o := from

		o.l += (to.l - from.l) * float64(step) / 100
		if x := o.color(); enough(x) {
			return x
		}
	}

	for step := 1; step <= 20; step++ {
		if x := mix(text, c, float64(step)/20); enough(x) {
			return x
		}
	}

	return text
}
