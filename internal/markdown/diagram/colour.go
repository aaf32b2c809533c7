package diagram

import (
	"fmt"
	"math"
	"slices"
	"strconv"
)

// distinct returns the colours without those that are hard to distinguish from an earlier one: all three channels
// differ by less than near.
func distinct(colors []string) (kept []string) {
	const near = 40 // of 255

	for _, c := range colors {
		if !slices.ContainsFunc(kept, func(k string) bool {
			x, y := rgb(c), rgb(k)
			return math.Abs(x[0]-y[0]) < near && math.Abs(x[1]-y[1]) < near && math.Abs(x[2]-y[2]) < near
		}) {
			kept = append(kept, c)
		}
	}

	return kept
}

// mix returns a mix of two colours. share, 0 to 1, is the part of a.
func mix(a, b string, share float64) string {
	x, y := rgb(a), rgb(b)
	for i := range x {
		x[i] = x[i]*share + y[i]*(1-share)
	}

	return fmt.Sprintf("#%02x%02x%02x", int(x[0]+.5), int(x[1]+.5), int(x[2]+.5))
}

// contrasting returns black or white, whichever has more contrast to a colour.
func contrasting(c string) string {
	const black, white = "#000000", "#ffffff"
	if contrast(c, black) > contrast(c, white) {
		return black
	}

	return white
}

// contrast returns the contrast ratio of two colours as WCAG 2 defines it, 1 to 21.
func contrast(a, b string) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// luminance returns the relative luminance of a colour as WCAG 2 defines it, 0 to 1.
func luminance(c string) float64 {
	v := rgb(c)
	for i := range v {
		if v[i] /= 255; v[i] <= 0.04045 {
			v[i] /= 12.92
		} else {
			v[i] = math.Pow((v[i]+0.055)/1.055, 2.4)
		}
	}

	return 0.2126*v[0] + 0.7152*v[1] + 0.0722*v[2]
}

// rgb returns the channels of "#rrggbb", each 0 to 255. For any other text it returns black.
func rgb(c string) (v [3]float64) {
	if len(c) != 7 || c[0] != '#' {
		return v
	}

	n, err := strconv.ParseUint(c[1:], 16, 32)
	if err != nil {
		return v
	}

	return [3]float64{float64(n >> 16), float64(n >> 8 & 255), float64(n & 255)}
}

// darkened returns a colour, darkened until white text on it is readable.
func darkened(c string) string {
	const readable = 4.5 // WCAG AA
	for share := 1.0; contrast(c, "#ffffff") < readable; share -= 0.1 {
		c = mix(c, "#000000", share)
	}

	return c
}
