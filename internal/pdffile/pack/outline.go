package pack

import (
	"strings"
	"unicode"

	"presswork/internal/pdffile"
)

// titleOutline replaces the titles of outline entries by the texts of their headings. Both are in reading order. An
// entry gets the next heading of the same level with whose beginning its title begins. Entries without a heading
// keep their title, without the marks of formulas.
func titleOutline(f *pdffile.File, catalog pdffile.Dict, headings []Heading) error {
	beginnings := make([]string, len(headings))
	for i, h := range headings {
		beginnings[i] = beginning(h.Text)
	}
	next := 0

	for _, n := range f.Outline(catalog) {
		entry, _, err := pdffile.ReadDict(f.Objects[n])
		if err != nil {
			return err
		}
		title := pdffile.DecodeText(entry.Get("Title"))
		better := strings.ReplaceAll(title, formulaMark, "")

		level, own := f.HeadingLevel(entry.Get("SE")), beginning(title)
		for i := next; i < len(headings); i++ {
			// A heading without letters matches only a title without letters.
			matches := strings.HasPrefix(own, beginnings[i]) && (beginnings[i] != "" || own == "")
			if matches && headings[i].Level == level {
				better, next = headings[i].Text, i+1
				break
			}
		}

		if better = pdffile.OneLine(better); better != title {
			entry.Set("Title", pdffile.TextString(better))
			f.Objects[n] = entry.Bytes()
		}
	}

	return nil
}

// beginning returns the first letters and digits of a title in lower case. Chromium's titles differ from the headings
// in spaces and in formulas, so the beginning is short.
func beginning(title string) string {
	const enough = 8 // letters and digits
	var b strings.Builder
	taken := 0

	for _, r := range title {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			continue
		}
		b.WriteRune(unicode.ToLower(r))

		if taken++; taken == enough {
			break
		}
	}

	return b.String()
}
