package pdf

import "strings"

// narrowLetter is the mean width of a letter in em in the narrower typefaces.
const narrowLetter = 0.44

// markParagraphs marks the paragraphs that may go on on the next page, those that lead
// to what follows and stay with it, and those of pictures alone. Chromium would
// break the others as well, and leave one line of four alone there: it heeds
// widows only where there are lines enough for orphans too.
func markParagraphs(body string, s sheet) string {
	const (
		opening = "<p"
		whole   = 3 // lines of a paragraph that stays in one piece
	)
	perLine := max(1, int((s.width-s.left-s.right)/s.scale/(bodySize*narrowLetter))) // letters
	var out strings.Builder
	out.Grow(len(body) + len(body)/32)
	for {
		at := strings.Index(body, opening)
		if at < 0 {
			break
		}
		out.WriteString(body[:at+len(opening)])
		body = body[at+len(opening):]
		within := body
		if next := strings.Index(body, opening); next >= 0 {
			within = body[:next]
		}
		end := strings.Index(within, "</p>")
		if end > 0 && (body[0] == '>' || body[0] == ' ') {
			if strings.Contains(body[:end], "<img ") && strings.TrimSpace(visible(body[:end])) == "" {
				out.WriteString(" data-pictures")
			}
			lines := 0
			for part := range strings.SplitSeq(body[:end], "<br") {
				lines += 1 + letters(visible(part))/perLine
			}
			if lines > whole {
				out.WriteString(" data-long")
			}
			if leads(body[:end]) {
				out.WriteString(" data-lead")
			}
		}
	}
	return out.String() + body
}

// leads reports whether a paragraph, given from within its start tag on, speaks of
// what follows: it ends in a colon, or all of it is bold, like a heading.
func leads(paragraph string) bool {
	_, text, _ := strings.Cut(strings.TrimSpace(paragraph), ">")
	if bold, ok := strings.CutPrefix(text, "<strong>"); ok {
		if bold, ok = strings.CutSuffix(bold, "</strong>"); ok && !strings.Contains(bold, "</strong>") {
			return true
		}
	}
	for strings.HasSuffix(text, ">") { // tags at the end
		text = strings.TrimSpace(text[:max(0, strings.LastIndexByte(text, '<'))])
	}
	return strings.HasSuffix(text, ":") || strings.HasSuffix(text, "：")
}

// visible is what a reader sees of an element, given from within its start tag
// on.
func visible(element string) string {
	inTag := true
	return strings.Map(func(r rune) rune {
		switch r {
		case '<':
			inTag = true
		case '>':
			inTag = false
			return -1
		case '\u00ad':
			return -1
		}
		if inTag {
			return -1
		}
		return r
	}, element)
}
