package recommend

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"presswork/internal/analysis"
)

// distance returns the difference of two looks, 0 to 1. It compares only the attributes that matter to both.
func distance(a, b look) float64 {
	sum, n := 0.0, 0

	for i := range a {
		if a[i] >= 0 && b[i] >= 0 {
			sum += (a[i] - b[i]) * (a[i] - b[i])
			n++
		}
	}

	if n == 0 {
		return 0
	}

	return math.Sqrt(sum / float64(n))
}

// without returns the look with one attribute ignored.
func (l look) without(attribute int) look {
	l[attribute] = -1
	return l
}

// nearest returns the built-in theme with the most similar look, and the similarity, 0 to 1.
func (r *Rules) nearest(l look) (name string, likeness float64) {
	least := math.Inf(1)
	for _, other := range slices.Sorted(maps.Keys(r.looks)) {
		if d := distance(l, r.looks[other]); d < least {
			name, least = other, d
		}
	}

	return name, max(0, 1-1.5*least)
}

// customScore returns the score of a custom theme by its likeness to a built-in theme. Tags that name the type, the
// tone or a topic of the document add to it.
func (c *choice) customScore(k candidate) float64 {
	score := 0.2 * k.likeness

	has := func(word string) bool {
		return word != "" && slices.ContainsFunc(k.Tags, func(tag string) bool { return foldName(tag) == word })
	}
	for _, b := range c.beliefs {
		if has(b.name) || slices.ContainsFunc(analysis.DocumentFamilies(), func(family string) bool {
			return has(family) && slices.Contains(c.rules.families[family], b.name)
		}) {
			score += 0.6 * b.share
		}
	}

	if c.tone.name != "neutral" && has(c.tone.name) {
		score += 0.6 * c.strength * max(c.voice, 0.2)
	}

	for _, topic := range c.p.Topics {
		if has(topic.Name) {
			score += 0.4 * topic.Strength
		}
	}

	return score
}

// lookOf derives a look from colours. A dark page gives a dark look; strong colours count as energetic, playful
// and informal.
func lookOf(t ThemeInfo) look {
	page, ok := parseOKLCH(t.Colors["base_100"])
	if !ok {
		page.lightness = 1
		if t.Scheme == "dark" {
			page.lightness = 0.2
		}
	}
	chroma, warm, weight := 0.0, 0.0, 0.0

	for _, part := range []struct {
		name  string
		share float64
	}{{"primary", 3}, {"secondary", 1}, {"accent", 1}} {
		color, ok := parseOKLCH(t.Colors[part.name])
		if !ok {
			continue
		}
		chroma += part.share * color.chroma
		// Orange, at 55°, is the warmest hue; a grey has none.
		warm += part.share * color.chroma * math.Cos((color.hue-55)*math.Pi/180)
		weight += part.share
	}

	if weight == 0 {
		weight = 1
	}
	chroma, warm = chroma/weight, warm/weight
	bound := func(v float64) float64 { return min(max(v, 0), 1) }
	dark := bound((1 - page.lightness) * 1.2)

	return look{
		lookFormality:   bound(0.9 - 2*chroma - 3*page.chroma),
		lookEnergy:      bound(0.1 + 2.2*chroma + 3*page.chroma),
		lookWarmth:      bound(0.4 + 2.5*warm),
		lookDarkness:    dark,
		lookPlayfulness: bound(2.2*chroma + 2*page.chroma - 0.1*dark),
		lookOrnament:    0.2,
	}
}

// oklch is a colour: lightness 0 to 1, chroma 0 to about 0.4, hue in degrees.
type oklch struct{ lightness, chroma, hue float64 }

// parseOKLCH reads "#rrggbb".
func parseOKLCH(hex string) (oklch, bool) {
	v, err := strconv.ParseUint(strings.TrimPrefix(hex, "#"), 16, 24)
	if err != nil || len(hex) != 7 {
		return oklch{}, false
	}
	linear := func(channel uint64) float64 {
		s := float64(channel&0xff) / 255
		if s <= 0.04045 {
			return s / 12.92
		}

		return math.Pow((s+0.055)/1.055, 2.4)
	}
	r, g, b := linear(v>>16), linear(v>>8), linear(v)
	// From linear sRGB to OKLab, by the matrices of https://bottosson.github.io/posts/oklab/.
	l := math.Cbrt(0.4122214708*r + 0.5363325363*g + 0.0514459929*b)
	m := math.Cbrt(0.2119034982*r + 0.6806995451*g + 0.1073969566*b)
	s := math.Cbrt(0.0883024619*r + 0.2817188376*g + 0.6299787005*b)
	x := 1.9779984951*l - 2.4285922050*m + 0.4505937099*s
	y := 0.0259040371*l + 0.7827717662*m - 0.8086757660*s
	hue := math.Atan2(y, x) * 180 / math.Pi

	return oklch{0.2104542553*l + 0.7936177850*m - 0.0040720468*s, math.Hypot(x, y), hue}, true
}
