package inference

import (
	"strconv"
	"unicode/utf8"

	"presswork/internal/lazyregexp"
)

// Origin is the source of lines in a view. A model cites them as 【Cursor†L3】 or 【Cursor†L3-L5】.
type Origin struct {
	// Cursor is the number of the view in its session.
	Cursor int `json:"cursor"`
	// First and Last are lines of the view, both included.
	First int    `json:"first"`
	Last  int    `json:"last"`
	URL   string `json:"url"`
	Title string `json:"title"`
}

// Citation is a mark in a text that cites a page.
type Citation struct {
	// Start and End delimit the mark in characters of the text; End is exclusive.
	Start, End int
	URL, Title string
}

// citationMark matches a citation in the form that gpt-oss models were trained on. They sometimes omit the L before
// a line, or add a third part.
var citationMark = lazyregexp.New(`【(\d{1,6})†L?(\d{1,9})[^†】]{0,40}(?:†[^†】]{0,200})?】`)

// Citations returns the marks in an answer whose origin is known. A mark of a line without an origin gets that of
// its view, if the view has only one page.
func Citations(text string, origins []Origin) (found []Citation) {
	chars, at := 0, 0 // the characters and bytes of the text up to the end of the last mark

	for _, m := range citationMark().FindAllStringSubmatchIndex(text, -1) {
		cursor, _ := strconv.Atoi(text[m[2]:m[3]]) // no error: citationMark allows at most 9 digits
		line, _ := strconv.Atoi(text[m[4]:m[5]])
		start := chars + utf8.RuneCountInString(text[at:m[0]])

		chars, at = start+utf8.RuneCountInString(text[m[0]:m[1]]), m[1]
		if s, ok := originOf(origins, cursor, line); ok {
			found = append(found, Citation{Start: start, End: chars, URL: s.URL, Title: s.Title})
		}
	}

	return found
}

// originOf returns the origin of a line, or the only page of the view; see Citations.
func originOf(origins []Origin, cursor, line int) (Origin, bool) {
	var only Origin
	urls := map[string]bool{}

	for _, s := range origins {
		if s.Cursor != cursor {
			continue
		}

		if s.First <= line && line <= s.Last {
			return s, true
		}
		only, urls[s.URL] = s, true
	}

	return only, len(urls) == 1
}
