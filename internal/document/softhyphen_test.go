package document_test

import (
	"strings"
	"testing"

	"presswork"
	"presswork/internal/document"
)

// In the text of the PDF, only divided words have a soft hyphen. The soft hyphens of whole words would break copying
// and searching.
func TestNoSoftHyphenStaysInWholeWords(t *testing.T) {
	t.Parallel()
	const word, plain = "Donaudampfschifffahrtsgesellschaft", " und dann "
	src := "Die [" + word + "](https://example.com)" + strings.Repeat(plain+word, 60) + " *" + word +
		"*.\n\n| Verwaltung | Verwaltung |\n|---|---|\n| " + word + " | x |\n"
	// Chromium writes Inter line by line and Work Sans letter by letter. In Source Sans the hyphen
	// has a span with its character.
	themes := map[string]string{"tagged": "light", "untagged": "cmyk", "PDF/A": "nord"}

	for name, o := range map[string]presswork.Options{
		"tagged": {Lang: "de"}, "untagged": {Lang: "de", Tagged: new(false)}, "PDF/A": {Lang: "de", PDFA: new(presswork.PDFALevel("2u"))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, path := printDocument(t, document.Document{Content: []byte(src), Theme: themes[name], Options: o})
			text := poppler(t, "pdftotext", path, "-")

			divided := strings.Count(text, "\u00ad\n")
			if divided == 0 {
				t.Error("no word is divided, want some")
			}

			if n := strings.Count(text, "\u00ad"); n != divided || strings.ContainsAny(text, "\u2010") {
				t.Errorf("got %d soft hyphens, %d of them at the end of a line; want all there:\n%s", n, divided, text)
			}

			if n := strings.Count(strings.ReplaceAll(text, "\u00ad\n", ""), word); n != 63 {
				t.Errorf("%d of 63 words are found whole:\n%s", n, text)
			}
		})
	}
}

// The hyphens are in the theme's font, the letters in a font of the system.
func TestWordsInFontsOfTheSystemAreWhole(t *testing.T) {
	t.Parallel()

	const word = "განვითარება"
	_, path := printDocument(t, document.Document{
		Content: []byte(strings.Repeat(word+" დოკუმენტაცია ", 60)),
		Options: presswork.Options{Lang: "ka", As: "paper", PageSize: "A6"},
	})
	text := poppler(t, "pdftotext", path, "-")

	divided := strings.Count(text, "\u00ad\n")
	if n := strings.Count(text, "\u00ad"); divided == 0 || n != divided {
		t.Errorf("got %d soft hyphens, %d of them at the end of a line; want all there:\n%s", n, divided, text)
	}

	if n := strings.Count(strings.ReplaceAll(text, "\u00ad\n", ""), word); n != 60 {
		t.Errorf("%d of 60 words are found whole:\n%s", n, text)
	}
}
