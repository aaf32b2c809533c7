package document_test

import (
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"

	"presswork"
	"presswork/internal/document"
)

// A search finds Arabic and Persian words as they were written. The text of the PDF has base letters instead of
// presentation forms, and it has the letters of a ligature in their order.
func TestRightToLeftWordsAreFoundAsWritten(t *testing.T) {
	t.Parallel()

	for lang, words := range map[string]string{
		"ar": "الإسلام والسلام الأطفال والآباء لا يعرفون الألوان ولأن السلام مهم الكتاب بكم إلا",
		"fa": "سلام این یک متن فارسی است لازم کلاس درست تلاش اطلاعات",
	} {
		t.Run(lang, func(t *testing.T) {
			t.Parallel()
			o := presswork.Options{Lang: lang, PDFA: new(presswork.PDFALevel("2u"))}
			r, path := printDocument(
				t,
				document.Document{Content: []byte("# " + words + "\n\n" + words + " **" + words + "**\n"), Options: o},
			)

			text := poppler(t, "pdftotext", path, "-")
			if !norm.NFKC.IsNormalString(strings.ReplaceAll(text, "\u00a0", " ")) {
				t.Errorf("the text has presentation forms, want base letters: %q", text)
			}

			found := map[string]int{}
			for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return r < 0x600 || r > 0x6ff }) {
				found[word]++
			}

			for word := range strings.FieldsSeq(words) {
				want := 3 * strings.Count(" "+words+" ", " "+word+" ") // in the heading, the text and bold text
				if found[word] != want {
					t.Errorf("%q is found %d times, want %d, in\n%s", word, found[word], want, text)
				}
			}

			for _, fault := range faults(t, r.PDF, claim{level: "2u"}) {
				t.Error(fault)
			}
		})
	}
}
