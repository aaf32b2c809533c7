package pagetext

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// accents are the second parts of glyph names such as "eacute", as combining characters.
func accents() map[string]string {
	return map[string]string{
		"grave": "\u0300", "acute": "\u0301", "circumflex": "\u0302", "tilde": "\u0303", "macron": "\u0304",
		"breve": "\u0306", "dotaccent": "\u0307", "dieresis": "\u0308", "ring": "\u030a", "hungarumlaut": "\u030b",
		"caron": "\u030c", "cedilla": "\u0327", "ogonek": "\u0328", "commaaccent": "\u0326",
	}
}

// glyphNames are names of the Adobe Glyph List that do not follow a rule: pairs of name and text. Those whose text is a
// space are missing.
const glyphNames = `exclam ! quotedbl " numbersign # dollar $ percent % ampersand & quotesingle ' parenleft (
parenright ) asterisk * plus + comma , hyphen - period . slash / zero 0 one 1 two 2 three 3 four 4 five 5 six 6 seven 7
eight 8 nine 9 colon : semicolon ; less < equal = greater > question ? at @ bracketleft [ backslash \ bracketright ]
asciicircum ^ underscore _ grave ` + "`" + ` braceleft { bar | braceright } asciitilde ~ exclamdown ¡ cent ¢ sterling £
currency ¤ yen ¥ brokenbar ¦ section § dieresis ¨ copyright © ordfeminine ª guillemotleft « logicalnot ¬ registered ®
macron ¯ degree ° plusminus ± twosuperior ² threesuperior ³ acute ´ mu µ paragraph ¶ periodcentered · cedilla ¸
onesuperior ¹ ordmasculine º guillemotright » onequarter ¼ onehalf ½ threequarters ¾ questiondown ¿ AE Æ Eth Ð
multiply × Oslash Ø Thorn Þ germandbls ß ae æ eth ð divide ÷ oslash ø thorn þ dotlessi ı Lslash Ł lslash ł OE Œ oe œ
Dcroat Đ dcroat đ florin ƒ circumflex ˆ caron ˇ breve ˘ dotaccent ˙ ring ˚ ogonek ˛ tilde ˜ hungarumlaut ˝
endash – emdash — quoteleft ‘ quoteright ’ quotesinglbase ‚ quotedblleft “ quotedblright ” quotedblbase „ dagger †
daggerdbl ‡ bullet • ellipsis … perthousand ‰ guilsinglleft ‹ guilsinglright › fraction ⁄ Euro € trademark ™ minus −
fi fi fl fl ff ff ffi ffi ffl ffl Alpha Α Beta Β Gamma Γ Delta Δ Epsilon Ε Zeta Ζ Eta Η Theta Θ Iota Ι Kappa Κ Lambda Λ
Mu Μ Nu Ν Xi Ξ Omicron Ο Pi Π Rho Ρ Sigma Σ Tau Τ Upsilon Υ Phi Φ Chi Χ Psi Ψ Omega Ω alpha α beta β gamma γ delta δ
epsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ nu ν xi ξ omicron ο pi π rho ρ sigma σ sigma1 ς tau τ upsilon υ
phi φ chi χ psi ψ omega ω infinity ∞ partialdiff ∂ summation ∑ product ∏ integral ∫ radical √ lessequal ≤
greaterequal ≥ notequal ≠ approxequal ≈ element ∈ arrowright → arrowleft ← arrowup ↑ arrowdown ↓ lozenge ◊
sfthyphen - dotlessj ȷ`

// glyphTexts has the texts of the names in glyphNames. The zero value is ready: the first look-up fills it.
type glyphTexts map[string]string

// text returns the text of a glyph name, or "" if the name is unknown. A suffix after a dot names a variant of the
// glyph.
func (g *glyphTexts) text(name string) string {
	name, _, _ = strings.Cut(name, ".")

	if utf8.RuneCountInString(name) == 1 {
		return name
	}

	if name == "space" || name == "nbspace" {
		return " "
	}

	if *g == nil {
		*g = glyphTexts{}

		for pair := range slices.Chunk(strings.Fields(glyphNames), 2) {
			(*g)[pair[0]] = pair[1]
		}
	}

	if text := (*g)[name]; text != "" {
		return text
	}

	for _, prefix := range []string{"uni", "u"} {
		digits, ok := strings.CutPrefix(name, prefix)
		if !ok || len(digits) < 4 || len(digits) > 6 {
			continue
		}

		if n, err := strconv.ParseUint(digits, 16, 32); err == nil && utf8.ValidRune(rune(n)) {
			return string(rune(n))
		}
	}

	if len(name) > 1 {
		if mark := accents()[name[1:]]; mark != "" {
			return norm.NFC.String(name[:1] + mark)
		}
	}

	return ""
}

// standardCodes are the codes of the standard encoding that differ from Windows-1252 (ISO 32000-2, annex D.2).
func standardCodes() map[int]string {
	codes := map[int]string{0x27: "’", 0x60: "‘"}
	// The characters from 0xA1; \x00 leaves the code as in Windows-1252.
	upper := "¡¢£⁄¥ƒ§¤'“«‹›\x00\x00\x00–†‡·\x00¶•‚„”»…‰\x00¿\x00`´ˆ˜¯˘˙¨\x00˚¸\x00˝˛ˇ—"
	code := 0xa1

	for _, r := range upper {
		if r != 0 {
			codes[code] = string(r)
		}
		code++
	}

	maps.Copy(codes, map[int]string{
		0xae: "fi", 0xaf: "fl", 0xe1: "Æ", 0xe3: "ª", 0xe8: "Ł", 0xe9: "Ø", 0xea: "Œ", 0xeb: "º", 0xf1: "æ", 0xf5: "ı",
		0xf8: "ł", 0xf9: "ø", 0xfa: "œ", 0xfb: "ß",
	})

	return codes
}
