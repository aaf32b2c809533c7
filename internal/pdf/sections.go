package pdf

import (
	"regexp"
	"strings"

	"presswork/themes"
)

// sideways finds what begins a section for pages of one orientation.
var sideways = regexp.MustCompile(`<div\b[^<>]*\bclass="(?:[^"]* )?(landscape|portrait)(?: [^"]*)?"[^<>]*>`)

// fitSections fits tables, diagrams and code to the pages that they stand on: those of
// a .landscape section, or a .portrait one of a landscape document, are turned.
// codeSize is the theme's, see fitCode.
func fitSections(body string, s sheet, codeSize string) (fitted string, doubtful bool) {
	turned := s
	turned.width, turned.height = s.height, s.width
	other := "landscape"
	if s.width > s.height {
		other = "portrait"
	}
	var out strings.Builder
	fit := func(part string, s sheet) {
		tables, doubt := fitTables(part, s)
		out.WriteString(fitCode(fitDiagrams(tables, s), s, codeSize))
		doubtful = doubtful || doubt
	}
	for from := 0; strings.Contains(body[from:], other); {
		m := sideways.FindStringSubmatchIndex(body[from:])
		if m == nil {
			break
		}
		start, inner := from+m[0], from+m[1]
		if body[from+m[2]:from+m[3]] != other {
			from = inner
			continue
		}
		end := elementEnd(body, start, "div")
		fit(body[:start], s)
		out.WriteString(turnedStart + "\n" + body[start:inner])
		fit(body[inner:end], turned)
		out.WriteString("\n</div>")
		body, from = body[end:], 0
	}
	fit(body, s)
	return out.String(), doubtful
}

// elementEnd is where the element that begins at start ends, elements of its kind
// within it included.
func elementEnd(body string, start int, element string) int {
	opening, closing := "<"+element, "</"+element+">"
	depth, at := 1, start+len(opening)
	for {
		end := strings.Index(body[at:], closing)
		if end < 0 {
			return len(body)
		}
		depth += strings.Count(body[at:at+end], opening) - 1
		at += end + len(closing)
		if depth == 0 {
			return at
		}
	}
}

// bareCSS are the rules of sections, and of white pages, that have no header or no footer:
// Chromium knows no margin box of some pages but by the name of the page.
func bareCSS(names themes.Names) string {
	header, footer := "", ""
	for _, place := range []string{"left", "center", "right"} {
		header += "@top-" + place + "{content:none}"
		footer += "@bottom-" + place + "{content:none}"
	}
	css := ""
	if names[".no-header"] {
		css += "@page no-header{" + header + "}.no-header{page:no-header}"
	}
	if names[".no-footer"] {
		css += "@page no-footer{" + footer + "}.no-footer{page:no-footer}"
	}
	if names[".no-header"] && names[".no-footer"] {
		css += "@page no-banners{" + header + footer + "}.no-header.no-footer{page:no-banners}"
	}
	if names[".leaf"] {
		css += "@page leaf{" + header + footer + "}"
	}
	return css
}
