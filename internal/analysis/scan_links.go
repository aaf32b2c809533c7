package analysis

import (
	"strings"
)

// label returns the text between s[0] == '[' and its bracket, and the length
// with brackets; 0 where there is none near.
func label(s string) (text string, n int) {
	depth := 0
	for i := 0; i < len(s) && i < maxLabel; i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			if depth++; depth > 3 {
				return "", 0
			}
		case ']':
			if depth--; depth == 0 {
				return s[1:i], i + 1
			}
		}
	}
	return "", 0
}

// target returns what follows a label: "(url)" or "[ref]", and its length.
func (ev *evidence) target(s string) (url string, n int) {
	if s == "" || s[0] != '(' && s[0] != '[' || ev.futile > maxFutile {
		return "", 0
	}
	end := byte(')')
	if s[0] == '[' {
		end = ']'
	}
	depth := 0
	for i := 1; i < len(s) && i < maxTarget && s[i] != '\n'; i++ {
		switch {
		case s[i] == '(' && end == ')':
			depth++
		case s[i] == end && depth == 0:
			return s[1:i], i + 1
		case s[i] == end:
			depth--
		}
	}
	ev.futile += min(len(s), maxTarget)
	return "", 0
}

func (ev *evidence) image(s string) int {
	text, n := label(s[1:])
	if n == 0 {
		return 0
	}
	url, m := ev.target(s[1+n:])
	ev.picture(url + " " + text)
	return 1 + n + m
}

func (ev *evidence) picture(words string) {
	words = strings.ToLower(words[:min(len(words), 400)])
	for _, sign := range []string{"badge", "shields.io", "travis", "codecov", "coveralls", "npm version", "build status"} {
		if strings.Contains(words, sign) {
			ev.badges++
			return
		}
	}
	ev.images++
}

func (ev *evidence) link(out *strings.Builder, s string, depth int) int {
	text, n := label(s)
	if n == 0 {
		return 0
	}
	if strings.HasPrefix(text, "^") {
		return n // a footnote
	}
	if strings.HasPrefix(text, "@") || strings.HasPrefix(text, "-@") || len(text) < 4 && text != "" && strings.Trim(text, "0123456789, ") == "" {
		ev.citations += 1 + strings.Count(text, ";")
		return n
	}
	url, m := ev.target(s[n:])
	if m == 0 && len(text) < 2 {
		return n // a check box
	}
	if m > 0 && !strings.HasPrefix(url, "#") {
		ev.links++
	}
	from := out.Len()
	ev.plain(out, text, depth+1)
	if shown := out.String()[from:]; len(shown) > 1 && len(shown) < 60 && len(ev.linked) < maxMarked {
		ev.linked = append(ev.linked, shown)
	}
	return n + m
}
