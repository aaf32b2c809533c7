package pdf

import (
	"bytes"
	"fmt"
	"strings"
	"unicode"

	"presswork/internal/markdown"
)

// titleOutline gives the entries of the outline the words of the headings they
// lead to.
func (f *skiaFile) titleOutline(catalog dict, headings []markdown.Heading) error {
	for _, n := range f.outline(catalog) {
		entry, _, err := readDict(f.objects[n])
		if err != nil {
			return err
		}
		title := decodeText(entry.get("Title"))
		better := strings.ReplaceAll(title, markdown.FormulaMark, "")
		for i, h := range headings {
			words := strings.TrimSpace(h.Number + " " + h.Text)
			if f.isHeading(entry.get("SE"), h.Level) && sameBeginning(title, words) {
				better, headings = words, headings[i+1:]
				break
			}
		}
		if better = clean(better); better != title {
			entry.set("Title", textString(better))
			f.objects[n] = entry.bytes()
		}
	}
	return nil
}

// outline lists the entries in reading order. It tolerates an outline that is
// no tree.
func (f *skiaFile) outline(catalog dict) (entries []int) {
	seen := map[int]bool{}
	for todo := [][]byte{catalog.get("Outlines")}; len(todo) > 0; {
		n, ok := reference(todo[len(todo)-1])
		todo = todo[:len(todo)-1]
		if !ok || n >= len(f.objects) || seen[n] {
			continue
		}
		seen[n] = true
		d, _, err := readDict(f.objects[n])
		if err != nil {
			continue
		}
		if d.get("Title") != nil {
			entries = append(entries, n)
		}
		todo = append(todo, d.get("Next"), d.get("First"))
	}
	return entries
}

// isHeading says whether a structure element is a heading of that level.
func (f *skiaFile) isHeading(element []byte, level int) bool {
	n, ok := reference(element)
	if !ok || n >= len(f.objects) {
		return false
	}
	rest, ok := bytes.CutPrefix(f.objects[n], structElem)
	return ok && bytes.HasPrefix(rest, fmt.Appendf(nil, "/S /H%d\n", level))
}

// sameBeginning says whether two texts begin with the same letters and digits.
func sameBeginning(a, b string) bool {
	const enough = 8
	bare := func(s string) []rune {
		return []rune(strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return unicode.ToLower(r)
			}
			return -1
		}, s))
	}
	x, y := bare(a), bare(b)
	n := min(len(y), enough)
	return len(x) >= n && string(x[:n]) == string(y[:n])
}
