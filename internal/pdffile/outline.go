package pdffile

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
)

// titleOutline gives the entries of the outline the words of the headings they
// lead to. Headings without a text may have none.
func (f *File) titleOutline(catalog Dict, headings []Heading) error {
	begins := make([]string, len(headings))
	for i, h := range headings {
		begins[i] = beginning(h.Text)
	}
	next := 0

	for _, n := range f.Outline(catalog) {
		entry, _, err := ReadDict(f.Objects[n])
		if err != nil {
			return err
		}
		title := DecodeText(entry.Get("Title"))
		better := strings.ReplaceAll(title, formulaMark, "")

		level, begun := f.HeadingLevel(entry.Get("SE")), beginning(title)
		for i := next; i < len(headings); i++ {
			if headings[i].Level == level && strings.HasPrefix(begun, begins[i]) && (begins[i] != "" || begun == "") {
				better, next = headings[i].Text, i+1
				break
			}
		}

		if better = OneLine(better); better != title {
			entry.Set("Title", TextString(better))
			f.Objects[n] = entry.Bytes()
		}
	}

	return nil
}

// Outline lists the entries in reading order. It tolerates an outline that is
// no tree.
func (f *File) Outline(catalog Dict) (entries []int) {
	seen := map[int]bool{}

	for todo := [][]byte{catalog.Get("Outlines")}; len(todo) > 0; {
		n, ok := f.Object(todo[len(todo)-1])
		todo = todo[:len(todo)-1]

		if !ok || seen[n] {
			continue
		}
		seen[n] = true

		d, _, err := ReadDict(f.Objects[n])
		if err != nil {
			continue
		}

		if d.Get("Title") != nil {
			entries = append(entries, n)
		}
		todo = append(todo, d.Get("Next"), d.Get("First"))
	}

	return entries
}

// HeadingLevel is that of a structure element; 0 if it is no heading.
func (f *File) HeadingLevel(element []byte) int {
	n, ok := f.Object(element)
	if !ok {
		return 0
	}

	rest, ok := bytes.CutPrefix(bytes.TrimPrefix(f.Objects[n], StructElement), []byte("/S /H"))
	if !ok {
		return 0
	}
	level, _ := strconv.Atoi(string(rest[:regular(rest)])) // 0 of other types

	return level
}

// beginning is what distinguishes a title from others: its first letters and digits.
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
