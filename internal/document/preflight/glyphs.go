package preflight

import (
	"fmt"
	"strings"
	"unicode"

	"presswork/internal/chromium/fonts"
	"presswork/internal/fault"
)

// maxWanted limits the different characters that are looked for.
const maxWanted = 20_000

// beyondFonts returns the characters of a page that none of the embedded fonts has. Only the fonts of the machine
// can print them.
func beyondFonts(html string) (wanted []rune) {
	seen := map[rune]bool{}
	for _, r := range html {
		// All text fonts have ASCII.
		if r >= 0x7f && !seen[r] && !fonts.Covers(r) && !inkless(r) && len(wanted) < maxWanted {
			seen[r] = true
			wanted = append(wanted, r)
		}
	}

	return wanted
}

// inkless reports whether a character needs no glyph, because it is printed as nothing or as a gap.
func inkless(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zs, unicode.Zl, unicode.Zp, unicode.Variation_Selector) ||
		r == '\u034f'
}

// remedy is the advice for a kind of character.
type remedy struct {
	isOf   func(rune) bool // reports whether a character is of that kind
	advice string          // the end of the warning about it
}

// remedies lists the advice for characters that no font has. The first entry that matches a character applies.
func remedies() []remedy {
	in := func(tables ...*unicode.RangeTable) func(rune) bool {
		return func(r rune) bool { return unicode.In(r, tables...) }
	}
	const rare = 0x20000 // the first of the rare ideographs

	return []remedy{
		{
			func(r rune) bool { return r >= rare && unicode.Is(unicode.Han, r) },
			"; the package fonts-hanazono has rare ideographs",
		},
		{
			in(cjk(), unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Bopomofo),
			"; the package fonts-noto-cjk has such characters",
		},
		{in(pictographs()), "; the package fonts-noto-color-emoji has such characters"},
		{in(unicode.Co), ": they are for private use, and only the font they were made for has them"},
		{
			in(unicode.L, unicode.M, unicode.N, unicode.P, unicode.S),
			"; the packages fonts-noto-core and fonts-noto-extra have many scripts",
		},
		{func(rune) bool { return true }, ": they stand for nothing in Unicode"},
	}
}

// cjk returns the blocks of punctuation and compatibility forms of Chinese, Japanese and Korean.
func cjk() *unicode.RangeTable {
	return &unicode.RangeTable{
		R16: []unicode.Range16{
			{Lo: 0x2e80, Hi: 0x33ff, Stride: 1},
			{Lo: 0xfe30, Hi: 0xfe4f, Stride: 1},
			{Lo: 0xff00, Hi: 0xffef, Stride: 1},
		},
	}
}

// pictographs returns the blocks with emoji.
func pictographs() *unicode.RangeTable {
	return &unicode.RangeTable{
		R16: []unicode.Range16{{Lo: 0x2600, Hi: 0x27bf, Stride: 1}},
		R32: []unicode.Range32{{Lo: 0x1f000, Hi: 0x1faff, Stride: 1}},
	}
}

// glyphsMissing returns warnings about characters that no font has, one for each remedy.
func (c Check) glyphsMissing(missing []string) (warnings []fault.Warning) {
	list := remedies()
	groups := make([][]string, len(list))

	for _, text := range missing {
		wanting := wantingIn(text)
		if wanting == "" {
			continue
		}

		first := []rune(wanting)[0]
		for n, r := range list {
			if r.isOf(first) {
				groups[n] = append(groups[n], text)
				break
			}
		}
	}

	for n, texts := range groups {
		if len(texts) == 0 {
			continue
		}
		const shown = 5 // texts
		var b strings.Builder

		for i, text := range texts[:min(len(texts), shown)] {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(named(text))
		}

		if more := len(texts) - shown; more > 0 {
			fmt.Fprintf(&b, " and %d more", more)
		}
		w := fault.Warning{Code: fault.GlyphMissing, Message: "no font has " + b.String() + list[n].advice}
		c.locate(&w, texts[:min(len(texts), shown)]...)
		warnings = append(warnings, w)
	}

	return warnings
}

// wantingIn returns the characters of a text that no embedded font has. If there are none, it returns all characters
// that need a glyph.
func wantingIn(text string) string {
	inked := strings.Map(func(r rune) rune {
		if inkless(r) {
			return -1
		}

		return r
	}, text)

	foreign := strings.Map(func(r rune) rune {
		if fonts.Covers(r) {
			return -1
		}

		return r
	}, inked)
	if foreign != "" {
		return foreign
	}

	return inked
}

// named returns a text with the codes of its characters: 漢 (U+6F22). It returns only the codes of a text that cannot be
// shown.
func named(text string) string {
	var codes []string
	for _, r := range text {
		codes = append(codes, fmt.Sprintf("%U", r))
	}

	const maxCodes = 4
	if len(codes) > maxCodes {
		codes = append(codes[:maxCodes], "…")
	}

	if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) && !inkless(r) }) {
		return strings.Join(codes, " ")
	}

	return text + " (" + strings.Join(codes, " ") + ")"
}
