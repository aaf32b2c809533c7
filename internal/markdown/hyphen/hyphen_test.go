package hyphen_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"presswork/internal/markdown/hyphen"
)

// Dictionaries of each language divide these words in the same way.
func TestWordsAreDividedByTheRulesOfTheirLanguage(t *testing.T) {
	t.Parallel()

	l := hyphen.New()

	for lang, words := range map[string]string{
		"en":      "hy-phen-a-tion doc-u-men-ta-tion acad-e-my strength",
		"en-AU":   "de-part-ment",
		"de":      "Do-nau-dampf-schiff-fahrt Sil-ben-tren-nung Stra-ße",
		"de-CH":   "Ver-ant-wor-tung",
		"fr":      "ty-po-gra-phie dé-ve-lop-pe-ment",
		"es-MX":   "desa-rro-llo co-mu-ni-ca-ción",
		"it":      "tra-spa-ren-za",
		"pt-BR":   "de-sen-vol-vi-men-to",
		"nl":      "ont-wik-ke-ling",
		"sv":      "ut-veck-ling",
		"fi":      "ke-hi-tys",
		"pl":      "roz-wój",
		"ru":      "раз-ви-тие",
		"el":      "ανά-πτυ-ξη",
		"nn":      "ut-vik-ling",
		"ga":      "for-bairt",
		"cy":      "dat-blyg-iad",
		"eo":      "in-ter-na-cia",
		"la":      "do-cu-men-tum",
		"ka":      "გან-ვი-თა-რე-ბა",
		"mn":      "ба-римт-жуу-лалт",
		"sr":      "ра-звој",
		"sr-Latn": "ra-zvoj",
		"bs-BA":   "do-ku-men-ta-ci-ja",
		"ku":      "pêş-ke-tin",
		"ta":      "பகிர்ந்-த-ளிக்-கப்-பட்ட",
		"ml":      "പ്ര-വർ-ത്ത-ന-ങ്ങൾ",
		"ja":      "",
		"und":     "",
		"nonsens": "",
	} {
		t.Run(lang, func(t *testing.T) {
			d := l.For(lang)
			if (d == nil) != (words == "") {
				t.Errorf("%s: dictionary %v", lang, d != nil)
				return
			}

			for want := range strings.FieldsSeq(words) {
				word := strings.ReplaceAll(want, "-", "")
				if got := divided(word, d.Breaks(word, 2, 2)); got != want {
					t.Errorf("%s: %s, want %s", lang, got, want)
				}
			}
		})
	}
}

func divided(word string, breaks []int) string {
	for _, b := range slices.Backward(breaks) {
		word = word[:b] + "-" + word[b:]
	}

	return word
}

func TestEveryDictionaryCanBeRead(t *testing.T) {
	t.Parallel()

	l := hyphen.New()
	for lang := range strings.FieldsSeq("af be bg bs ca cnr cy da de el en en-GB eo es et fi fr fur ga gl hr hsb ia is it ka " +
		"kmr kn ku la lt ml mn nb nl nn oc pl pms pt rm ro ru sl sr sr-Latn sv ta te tk tr uk") {
		if l.For(lang) == nil {
			t.Errorf("%s has no dictionary", lang)
		}
	}
}

func TestOnlyPlainWordsAreDivided(t *testing.T) {
	t.Parallel()

	d := hyphen.New().For("en")

	for _, word := range []string{
		"", "documentationX", "DOCUMENTATION", "docu2mentation", "docu-mentation", "docu\u00admentation", "docu\xffmentation",
		strings.Repeat("documentation", 10), "İstanbulation",
	} {
		t.Run(fmt.Sprintf("%.20q", word), func(t *testing.T) {
			if breaks := d.Breaks(word, 2, 3); breaks != nil {
				t.Errorf("got the breaks %v", breaks)
			}
		})
	}

	if got := divided("documentation", d.Breaks("documentation", 4, 5)); got != "docu-men-tation" {
		t.Errorf("with four letters before and five after: %s", got)
	}

	if got := divided("documenta\u0301tion", d.Breaks("documenta\u0301tion", 2, 3)); got != "doc-u-men-ta\u0301-tion" {
		t.Errorf("with a combining accent: %s", got)
	}
}

func FuzzBreaks(f *testing.F) {
	l := hyphen.New()
	f.Add("documentation", "en")
	f.Add("Straße", "de")
	f.Add("развитие\u0301", "ru")
	f.Fuzz(func(t *testing.T, word, lang string) {
		d := l.For(lang)
		if d == nil {
			t.Skip()
		}

		for _, at := range d.Breaks(word, 2, 2) {
			if at <= 0 || at >= len(word) || !utf8.RuneStart(word[at]) {
				t.Errorf("%q is divided at %d", word, at)
			}
		}
	})
}

func BenchmarkBreaks(b *testing.B) {
	d := hyphen.New().For("de")
	for b.Loop() {
		d.Breaks("Donaudampfschifffahrtsgesellschaft", 3, 3)
	}
}

func BenchmarkRead(b *testing.B) {
	for b.Loop() {
		hyphen.New().For("de")
	}
}
