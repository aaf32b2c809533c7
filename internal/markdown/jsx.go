package markdown

import (
	"bytes"
	"html"
	"slices"
	"strings"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/source"
)

const (
	// maxTag bounds the tag of a component, in bytes.
	maxTag = 8000
	// maxUnclosed bounds the text that is searched for the ends of tags without finding
	// them, in bytes: a thousand tags of maxTag.
	maxUnclosed = 1000 * maxTag
)

// plainComponents makes the components of MDX what HTML has words for, and leaves every
// line where it is: tags lose the attributes that are JavaScript in braces, and what
// stands within begins where the component does, for MDX knows no indented code. Error:
// ContentTooComplex.
func plainComponents(src []byte) ([]byte, error) {
	src, err := plainTags(src)
	if err != nil {
		return nil, err
	}
	var out strings.Builder
	out.Grow(len(src))
	var indents []int // how far what is in each open component is indented, -1 before its first line
	fence := ""

	for line := range strings.Lines(string(src)) {
		text := strings.TrimLeft(line, " \t")
		indent := len(line) - len(text)

		n := len(indents)
		switch {
		case strings.TrimSpace(text) == "":
			out.WriteString(line)
			continue
		case fence == "" && strings.HasPrefix(text, "</") && within().MatchString(text):
			indents = indents[:max(0, n-1)]
		case n > 0 && indents[n-1] < 0:
			indents[n-1] = indent
		}

		if n = len(indents); n > 0 && indents[n-1] > 0 {
			line = line[min(indent, indents[n-1]):]
		} else if n == 0 && fence == "" && strings.HasPrefix(text, "</") {
			line = text
		}
		out.WriteString(line)

		switch {
		case fence != "":
			if strings.HasPrefix(text, fence) {
				fence = ""
			}
		case strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~"):
			fence = text[:3]
		case opensComponent(text):
			indents = append(indents, -1)
		}
	}

	return []byte(out.String()), nil
}

// opensComponent reports whether a line begins with the tag of a component, or of an element
// that holds blocks, and does not close it.
func opensComponent(text string) bool {
	if m := within().FindStringIndex(text); len(text) < 3 || m == nil || m[0] != 0 || text[1] == '/' {
		return false
	}
	name := text[1 : 1+strings.IndexFunc(text[1:]+">", func(r rune) bool { return strings.ContainsRune(" />\n", r) })]

	return !strings.Contains(text, "/>") && !strings.Contains(text, "</"+name)
}

// plainTags takes JavaScript from the tags of components, outside of code. Error:
// ContentTooComplex.
func plainTags(src []byte) ([]byte, error) {
	unclosed := 0 // how many bytes were searched in vain
	var out bytes.Buffer
	out.Grow(len(src))
	fence := ""
	begins := true // a line
	code := false  // within a line

	for at := 0; at < len(src); {
		if begins {
			code = false
			text := bytes.TrimLeft(src[at:source.LineEnd(src, at)], " \t")

			mark := ""
			if bytes.HasPrefix(text, []byte("```")) || bytes.HasPrefix(text, []byte("~~~")) {
				mark = string(text[:3])
			}

			if fence != "" || mark != "" {
				switch {
				case fence == "":
					fence = mark
				case mark == fence:
					fence = ""
				}
				end := source.LineEnd(src, at)
				out.Write(src[at:end])
				at = end
				continue
			}
		}
		c := src[at]
		begins = c == '\n'

		code = code != (c == '`')
		if c == '<' && !code && at+1 < len(src) && src[at+1] >= 'A' && src[at+1] <= 'Z' {
			tag, end := plainTag(src, at)
			if tag == "" {
				if unclosed += end - at; unclosed > maxUnclosed {
					return nil, tooComplex(
						"the MDX has too many tags of components that nothing closes, such as that in line %d: end each with > within %d bytes, or write &lt; for a < that begins no tag",
						1+bytes.Count(src[:at], []byte("\n")),
						maxTag,
					)
				}
			} else {
				if strings.HasPrefix(tag, "<Frame>") ||
					strings.HasPrefix(tag, "<Frame ") { // HTML's would drop what it encloses
					tag = "<Figure" + tag[len("<Frame"):]
				}
				out.WriteString(tag)
				at = end
				continue
			}
		}

		if closing := []byte("</Frame>"); c == '<' && !code && bytes.HasPrefix(src[at:], closing) {
			out.WriteString("</Figure>")
			at += len(closing)
			continue
		}
		out.WriteByte(c)
		at++
	}

	return out.Bytes(), nil
}

// literal is an attribute's value that is a string of JavaScript and nothing more.
var literal = lazyregexp.New("^\\{\\s*(?:\"([^\"\\\\\n]*)\"|'([^'\\\\\n]*)'|`([^`\\\\$]*)`)\\s*\\}")

// plainTag reads a tag, and writes it on one line, its line ends after it, without
// what is in braces. Without a tag, end is where the search for its end stopped.
func plainTag(src []byte, at int) (tag string, end int) {
	var out strings.Builder
	depth, quote, lines := 0, byte(0), 0

	last := min(len(src), at+maxTag)
	for i := at; i < last; i++ {
		c := src[i]
		if c == '\n' {
			if lines++; quote == 0 && depth == 0 && i+1 < len(src) &&
				src[i+1] == '\n' { // a blank line ends what is no tag
				return "", i
			}
			c = ' '
		}

		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' || c == '`':
			quote = c
		case c == '{' && depth == 0 && i > at && src[i-1] == '=' && literal().Match(src[i:min(len(src), i+maxTag)]):
			m := literal().FindSubmatch(src[i:min(len(src), i+maxTag)])
			out.WriteString(
				`"` + html.EscapeString(
					string(bytes.ReplaceAll(slices.Concat(m[1:]...), []byte("\n"), []byte(" "))),
				) + `"`,
			)
			lines += bytes.Count(m[0], []byte("\n"))
			i += len(m[0]) - 1
			continue
		case c == '{':
			if depth++; depth == 1 { // with the name before it
				kept := strings.TrimRightFunc(out.String(), func(r rune) bool { return r != ' ' })
				out.Reset()
				out.WriteString(kept)
			}
		case c == '}':
			depth--
			continue
		case c == '>' && depth == 0:
			return out.String() + ">" + strings.Repeat("\n", lines), i + 1
		}

		if depth == 0 {
			out.WriteByte(c)
		}
	}

	return "", last
}
