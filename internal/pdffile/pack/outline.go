package pack

import (
	"strings"
	"unicode"

	"presswork/internal/pdffile"
)

// titleOutline replaces the titles of outline entries by the texts of their headings. It matches them in order, by
// level and beginning.
func titleOutline(f *pdffile.File, catalog pdffile.Dict, headings []Heading) error {
	begins := make([]string, len(headings))
	for i, h := range headings {
		begins[i] = beginning(h.Text)
	}
	next := 0

	for _, n := range f.Outline(catalog) {
		entry, _, err := pdffile.ReadDict(f.Objects[n])
		if err != nil {
			return err
		}
		title := pdffile.DecodeText(entry.Get("Title"))
		better := strings.ReplaceAll(title, formulaMark, "")

		level, begun := f.HeadingLevel(entry.Get("SE")), beginning(title)
		for i := next; i < len(headings); i++ {
			if headings[i].Level == level && strings.HasPrefix(begun, begins[i]) && (begins[i] != "" || begun == "") {
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

// beginning returns the first letters and digits of a title, by which entries and headings are matched.
func beginning(title string) string {
	const enough = 8
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
