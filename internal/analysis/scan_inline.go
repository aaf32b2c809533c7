package analysis

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf8"
)

// evidence counts what plain takes out of a text.
type evidence struct {
	codeSpans, links, images, badges, urls, citations, math, mentions, issues, breaks int
	// marked are the texts in bold, and of links, that are no sentences.
	bold, linked []string
	// futile counts the bytes that were looked ahead for an end that is not there.
	futile int
}

// Bounds of look-ahead, so that hostile text costs linear time.
const (
	maxLabel  = 1000
	maxTarget = 2000
	maxTag    = 400
	maxSpan   = 2000
	maxMarked = 400 // bold and link texts kept of a document
	maxFutile = 4 << 20
)

// plain returns the text of inline Markdown: no markup, code, URLs or images.
// Hard line breaks become "\n", others a space.
func plain(s string, ev *evidence) string {
	var out strings.Builder
	out.Grow(len(s))
	ev.plain(&out, s, 0)
	return out.String()
}

func (ev *evidence) plain(out *strings.Builder, s string, depth int) {
	bold := -1
	for i := 0; i < len(s); {
		n := 0
		switch s[i] {
		case '\\':
			if i+1 < len(s) && s[i+1] < utf8.RuneSelf && unicode.IsPunct(rune(s[i+1])) || i+1 < len(s) && strings.IndexByte("$<>=+^`|~", s[i+1]) >= 0 {
				out.WriteByte(s[i+1])
				n = 2
			} else {
				n = command(s[i:])
			}
		case '`':
			n = ev.codeSpan(s[i:])
		case '!':
			if i+1 < len(s) && s[i+1] == '[' && depth < 4 {
				n = ev.image(s[i:])
			}
		case '[':
			if depth < 4 {
				n = ev.link(out, s[i:], depth)
			}
		case '<':
			n = ev.tag(out, s[i:])
		case 'h', 'H', 'w', 'W':
			if i == 0 || !isAlnum(s[i-1]) {
				n = ev.url(s[i:])
			}
		case '*':
			if strings.HasPrefix(s[i:], "**") {
				bold = ev.mark(out, bold)
				n = 2
			} else {
				n = 1
			}
		case '_':
			if i == 0 || i+1 >= len(s) || !isAlnum(s[i-1]) || !isAlnum(s[i+1]) {
				n = 1
			}
		case '~', '=':
			if i+1 < len(s) && s[i+1] == s[i] {
				n = 2
			}
		case '&':
			n = entity(out, s[i:])
		case '$':
			n = ev.formula(s[i:])
		case '{':
			n = ev.attribute(s[i:])
		case '@':
			if i == 0 || s[i-1] == ' ' || s[i-1] == '(' {
				ev.mentions++
			}
		case '#':
			if i+1 < len(s) && s[i+1] >= '0' && s[i+1] <= '9' {
				ev.issues++
			}
		case '\n':
			n = 1
			if strings.HasSuffix(s[:i], "  ") || strings.HasSuffix(s[:i], "\\") {
				ev.breaks++
				out.WriteByte('\n')
			} else if strings.HasPrefix(s[i+1:], "**") { // labels stand one a line
				out.WriteByte('\n')
			} else {
				out.WriteByte(' ')
			}
		}
		if n == 0 {
			out.WriteByte(s[i])
			n = 1
		}
		i += n
	}
}

// mark opens bold text, or closes it and keeps what stood in it.
func (ev *evidence) mark(out *strings.Builder, from int) int {
	if from < 0 {
		return out.Len()
	}
	if text := out.String()[from:]; len(text) > 1 && len(text) < 60 && len(ev.bold) < maxMarked {
		ev.bold = append(ev.bold, text)
	}
	return -1
}

func (ev *evidence) codeSpan(s string) int {
	n := len(s) - len(strings.TrimLeft(s, "`"))
	end := strings.Index(s[n:min(len(s), n+maxSpan)], s[:n])
	if end < 0 {
		return n
	}
	ev.codeSpans++
	return n + end + n
}

// tag takes "<b>", "</b>", "<!-- -->" and "<https://…>" out. A break becomes a
// line end.
func (ev *evidence) tag(out *strings.Builder, s string) int {
	if len(s) < 3 || !isAlnum(s[1]) && s[1] != '/' && s[1] != '!' {
		return 0
	}
	end := strings.IndexAny(s[1:min(len(s), maxTag)], "<>")
	if end < 0 || s[1+end] != '>' {
		return 0
	}
	name := strings.ToLower(s[1 : 1+end])
	switch {
	case strings.HasPrefix(name, "http") || strings.Contains(name, "@"):
		ev.urls++
	case strings.HasPrefix(name, "br"):
		ev.breaks++
		out.WriteByte('\n')
	case strings.HasPrefix(name, "img"):
		ev.picture(name)
	case strings.HasPrefix(name, "a "):
		ev.links++
	}
	return end + 2
}

func (ev *evidence) url(s string) int {
	head := strings.ToLower(s[:min(len(s), 8)])
	if !strings.HasPrefix(head, "http://") && !strings.HasPrefix(head, "https://") && !strings.HasPrefix(head, "www.") {
		return 0
	}
	ev.urls++
	if end := strings.IndexAny(s, " \t\n<>\"|"); end >= 0 {
		return end
	}
	return len(s)
}

// formula takes "$x^2$" out, but not "$5 and $6".
func (ev *evidence) formula(s string) int {
	if strings.HasPrefix(s, "$$") {
		if end := strings.Index(s[2:min(len(s), maxSpan)], "$$"); end >= 0 {
			ev.math++
			return end + 4
		}
		return 2
	}
	if len(s) < 3 || s[1] == ' ' || s[1] >= '0' && s[1] <= '9' {
		return 0
	}
	end := strings.IndexAny(s[1:min(len(s), 300)], "$\n")
	if end <= 0 || s[1+end] == '\n' || s[end] == ' ' {
		return 0
	}
	ev.math++
	return end + 2
}

// attribute takes "{#id}", "{.class}", "{/* comment */}", "{{ var }}" and
// "{% tag %}" out.
func (ev *evidence) attribute(s string) int {
	if len(s) < 3 || strings.IndexByte("#./{%:", s[1]) < 0 || ev.futile > maxFutile {
		return 0
	}
	end := strings.IndexAny(s[2:min(len(s), maxTag)], "}\n")
	if end < 0 || s[2+end] == '\n' {
		ev.futile += min(len(s), maxTag)
		return 0
	}
	n := end + 3
	if s[1] == '{' && n < len(s) && s[n] == '}' {
		n++
	}
	return n
}

// command takes the name of a TeX command out: what letters for pandoc close with.
func command(s string) int {
	n := 1
	for n < len(s) && n < 40 && isAlnum(s[n]) {
		n++
	}
	if n > 3 {
		return n
	}
	return 0
}

func entity(out *strings.Builder, s string) int {
	end := strings.IndexByte(s[:min(len(s), 10)], ';')
	if end < 2 {
		return 0
	}
	out.WriteString(html.UnescapeString(s[:end+1]))
	return end + 1
}
