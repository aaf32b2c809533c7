package pdf

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf16"
)

// creator is the Creator of every PDF: Chromium would give its user agent.
const creator = "Presswork"

var infoField = regexp.MustCompile(`/(Producer|CreationDate|ModDate) (\((?:[^()\\]|\\.)*\))`)

// infoObject is the Info dictionary: our words, and the producer and dates of
// the original.
func infoObject(original []byte, m Meta) ([]byte, error) {
	kept := infoField.FindAllSubmatch(original, -1)
	if len(kept) == 0 {
		return nil, errors.New("the Info dictionary is not as expected")
	}
	var b bytes.Buffer
	b.WriteString("<<")
	for _, field := range [][2]string{
		{"Title", m.Title}, {"Author", m.Author}, {"Subject", m.Subject}, {"Keywords", strings.Join(m.Keywords, ", ")}, {"Creator", creator},
	} {
		if field[1] != "" {
			fmt.Fprintf(&b, "/%s %s\n", field[0], textString(field[1]))
		}
	}
	for _, field := range kept {
		fmt.Fprintf(&b, "/%s %s\n", field[1], field[2])
	}
	b.Truncate(b.Len() - 1)
	b.WriteString(">>")
	return b.Bytes(), nil
}

// textString writes a PDF text string: ASCII in brackets, anything else as
// UTF-16 in hex.
func textString(s string) string {
	ascii := true
	for _, r := range s {
		if r < ' ' || r > '~' {
			ascii = false
		}
	}
	if ascii {
		return "(" + strings.NewReplacer(`\`, `\\`, "(", `\(`, ")", `\)`).Replace(s) + ")"
	}
	var b strings.Builder
	b.WriteString("<FEFF")
	for _, u := range utf16.Encode([]rune(s)) {
		fmt.Fprintf(&b, "%04X", u)
	}
	b.WriteString(">")
	return b.String()
}
