package bibfile_test

import (
	"strings"
	"testing"

	"presswork/internal/markdown/cite/bibfile"
)

func TestTeXCommands(t *testing.T) {
	t.Parallel()

	for tex, want := range map[string]string{
		`\'e`:             "é",
		`\'{e}`:           "é",
		`{\'e}`:           "é",
		`{\'{e}}`:         "é",
		`\' e`:            "é",
		"\\`a":            "à",
		`\^o`:             "ô",
		`\"u`:             "ü",
		`\~n`:             "ñ",
		`\=a`:             "ā",
		`\.z`:             "ż",
		`\v{c}`:           "č",
		`\v c`:            "č",
		`\u{g}`:           "ğ",
		`\H{o}`:           "ő",
		`\c{c}`:           "ç",
		`\k{a}`:           "ą",
		`\r{a}`:           "å",
		`\d{s}`:           "ṣ",
		`\b{d}`:           "ḏ",
		`\'\i`:            "í",
		`\"{\i}`:          "ï",
		`\'{\i}`:          "í",
		`{\ss}`:           "ß",
		`\ss`:             "ß",
		`{\ae}`:           "æ",
		`{\AE}`:           "Æ",
		`{\oe}`:           "œ",
		`{\o}`:            "ø",
		`{\L}`:            "Ł",
		`{\aa}`:           "å",
		`{\dh}`:           "ð",
		`{\th}`:           "þ",
		`{\dj}`:           "đ",
		`Ma{\~n}ana`:      "Mañana",
		`na\"{\i}ve`:      "naïve",
		`Stra{\ss}e`:      "Straße",
		`\O re`:           "Øre",
		`a~b`:             "a\u00a0b",
		`\&`:              "&",
		`100\%`:           "100%",
		`\#1`:             "#1",
		`a\_b`:            "a_b",
		`\S 3`:            "§3",
		`\ldots`:          "…",
		`\copyright`:      "©",
		`\textregistered`: "®",
		`H$_2$O`:          "H<sub>2</sub>O", `x$^{10}$`: "x<sup>10</sup>", `$\beta$-carotene`: "β-carotene", `5 $ a`: "5 $ a",
		`\emph{x}`:            "<i>x</i>",
		`\textbf{x}`:          "<b>x</b>",
		`\textsuperscript{2}`: "<sup>2</sup>",
		`\textsubscript{2}`:   "<sub>2</sub>",
		`\enquote{x}`:         "“x”",
		`\textsc{x}`:          `<span style="font-variant:small-caps">x</span>`,
		`{\it x} y`:           "<i>x</i> y",
		`{\bf x} y`:           "<b>x</b> y",
		`\mbox{x}`:            "x",
		`\url{a}`:             "a",
		"``x''":               "“x”",
		"`x'":                 "‘x’",
		`a\-b`:                "ab",
		`a\/b`:                "ab",
		`\'{}`:                "",
		`\'{abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz}`: "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz",
	} {
		t.Run(tex, func(t *testing.T) {
			t.Parallel()

			if got := read(t, "@book{k, publisher = {"+tex+"}}").Vars["publisher"]; got != want {
				t.Errorf("%q, want %q", got, want)
			}
		})
	}
}

func TestSurplusBracesDoNotEndTheField(t *testing.T) {
	t.Parallel()

	for src, want := range map[string]string{
		`"before } after"`: "before after",
		"{" + strings.Repeat("{", 60) + "deep" + strings.Repeat("}", 60) + " after}": "deep after",
	} {
		if got := read(t, "@misc{k, note = "+src+"}").Vars["note"]; got != want {
			t.Errorf("%s: %q, want %q", src, got, want)
		}
	}
}

func TestTeXBecomesText(t *testing.T) {
	t.Parallel()

	for tex, want := range map[string]string{
		`{\"O}sterreich \'{e} \c{c} \v{s} \o \ss{} \aa ngstr\"om \'\i`: "Österreich é ç š øß ångström í",
		"``Quoted'' -- it's---so~it":                                   "“Quoted” – it’s—so\u00a0it",
		`a \& b \% \$5 \_x`:                                            "a & b % $5 _x",
		`x $\alpha^{2}$ y_1`:                                           "x α<sup>2</sup> y_1",
		`\textbf{bold} {\em slanted} \unknown{kept}`:                   `<b>bold</b> <i>slanted</i> <span class="nocase">kept</span>`,
		`open { group`:                                                 `open <span class="nocase"> group</span>`,
		`shut } group`:                                                 "shut", `\'`: "", `\`: "", "": "",
	} {
		t.Run(tex, func(t *testing.T) {
			b, err := bibfile.Read(
				[]byte(
					"@misc{k, title = {"+strings.NewReplacer("open { group", "open { group}", "shut } group", "shut").
						Replace(tex)+
						"}}",
				),
				"",
			)
			if err != nil {
				t.Fatal(err)
			}

			got := ""
			if item := b.Items["k"]; item != nil {
				got = item.Vars["title"]
			}

			if got != want && !strings.Contains(got, want) {
				t.Errorf("%s: %q, want %q", tex, got, want)
			}
		})
	}
}
