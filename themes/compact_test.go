package themes_test

import (
	"testing"

	"presswork/themes"
)

func TestCompactKeepsTheMeaning(t *testing.T) {
	t.Parallel()

	for css, want := range map[string]string{
		"a  b ,\n c { color : red ; margin: 0 auto }\n": "a b,c{color : red;margin: 0 auto}",
		"a :hover > b{content:\"  ; { \"}":              "a :hover > b{content:\"  ; { \"}",
		"/* x */ a/* y */b{width:calc(1px + 2px)}":      "a b{width:calc(1px + 2px)}",
		"@media print { p { x: y } }":                   "@media print{p{x: y}}",
		"":                                              "",
	} {
		t.Run(css, func(t *testing.T) {
			if got := themes.CompactCSS(css); got != want {
				t.Errorf("%q became %q, want %q", css, got, want)
			}
		})
	}
}
