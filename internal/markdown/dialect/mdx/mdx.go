// Package mdx rewrites the components of MDX (https://mdxjs.com) into elements without JavaScript, which the extension
// component reads.
package mdx

import (
	"bytes"
	"html"
	"slices"
	"strings"

	"presswork/internal/fault"
	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/source"
)

const (
	// maxTag is the longest tag of a component, in bytes.
	maxTag = 8000
	// maxUnclosed bounds the bytes that are searched for the ends of unclosed tags. It allows a thousand tags of
	// maxTag, and keeps "<A <A <A …" from taking quadratic time.
	maxUnclosed = 1000 * maxTag
)

// container matches the tags whose content is Markdown in MDX: components, and the HTML elements that contain blocks.
var container = lazyregexp.New(`</?(?:[A-Z][A-Za-z0-9.]*|article|aside|center|details|div|figure|section)[\s/>]`)

// HoldsMarkdown reports whether the content of the element with this tag is Markdown in MDX.
func HoldsMarkdown(tag []byte) bool { return container().Match(tag) }

// Rewrite removes attributes whose value is JavaScript in braces from the tags of components and of HTML elements. It
// also removes the indentation of their content, because indented text is not code in MDX. Lines keep their numbers.
// The error is ContentTooComplex.
func Rewrite(s *source.Source) error {
	if err := rewriteTags(s); err != nil {
		return err
	}
	unindent(s)

	return nil
}

// unindent removes the indentation of the content of components.
func unindent(s *source.Source) {
	hidden := source.WithoutFencedCode(s.Text())
	var out strings.Builder
	out.Grow(len(hidden))
	// indents holds the indentation of the content of each open component, -1 before its first line.
	var indents []int
	at := 0

	for line := range strings.Lines(string(s.Text())) {
		text := strings.TrimLeft(line, " \t")
		indent := len(line) - len(text)
		code := len(bytes.TrimSpace(hidden[at:at+len(line)])) == 0
		at += len(line)

		n := len(indents)
		switch {
		case strings.TrimSpace(text) == "":
			out.WriteString(line)
			continue
		case !code && strings.HasPrefix(text, "</") && container().MatchString(text):
			indents = indents[:max(0, n-1)]
		case n > 0 && indents[n-1] < 0:
			indents[n-1] = indent
		}

		if n = len(indents); n > 0 && indents[n-1] > 0 {
			line = line[min(indent, indents[n-1]):]
		} else if n == 0 && !code && strings.HasPrefix(text, "</") {
			line = text
		}
		out.WriteString(line)

		if !code && opensComponent(text) {
			indents = append(indents, -1)
		}
	}
	s.Replace([]byte(out.String()))
}

// opensComponent reports whether a line, without its indentation, begins with the tag of a container and does not close
// it.
func opensComponent(text string) bool {
	if m := container().FindStringIndex(text); len(text) < 3 || m == nil || m[0] != 0 || text[1] == '/' {
		return false
	}
	name := text[1 : 1+strings.IndexFunc(text[1:]+">", func(r rune) bool { return strings.ContainsRune(" />\n", r) })]

	return !strings.Contains(text, "/>") && !strings.Contains(text, "</"+name)
}

// rewriteTags removes JavaScript from the tags outside of code. The error is ContentTooComplex.
func rewriteTags(s *source.Source) error {
	src := s.Text()
	text := source.WithoutFencedCode(src)
	unclosed := 0 // bytes that were searched for the ends of unclosed tags
	var out bytes.Buffer
	out.Grow(len(src))

	for at := 0; at < len(src); {
		next := bytes.IndexByte(text[at:], '<')
		if next < 0 {
			out.Write(src[at:])
			break
		}
		out.Write(src[at : at+next])
		at += next

		// The component Frame becomes Figure: the HTML element frame has no content, so its content would be lost.
		if closing := []byte("</Frame>"); bytes.HasPrefix(text[at:], closing) {
			out.WriteString("</Figure>")
			at += len(closing)

			continue
		}

		tag := "" // the tag at this offset, without JavaScript; "" leaves only the < as it is

		if mayHoldScript(text[at:]) {
			end := 0
			if tag, end = plainTag(src, at); tag == "" {
				unclosed += end - at
			} else {
				at = end
			}
		}

		if unclosed > maxUnclosed {
			return tooManyUnclosed(1 + bytes.Count(src[:at], []byte("\n")))
		}

		if tag == "" {
			tag = "<"
			at++
		} else if strings.HasPrefix(tag, "<Frame>") || strings.HasPrefix(tag, "<Frame ") {
			tag = "<Figure" + tag[len("<Frame"):]
		}
		out.WriteString(tag)
	}
	s.Replace(out.Bytes())

	return nil
}

// mayHoldScript reports whether a text begins with a tag that may have JavaScript. That is the tag of a component, or
// of an HTML element with an attribute in braces.
func mayHoldScript(text []byte) bool {
	if len(text) < 2 {
		return false
	}

	switch c := text[1]; {
	case c >= 'A' && c <= 'Z':
		return true
	case c >= 'a' && c <= 'z':
		end := 1 + bytes.IndexAny(text[1:min(len(text), maxTag)], "<>")
		return end > 0 && bytes.Contains(text[:end], []byte("={"))
	}

	return false
}

// tooManyUnclosed returns ContentTooComplex for a text in which more than maxUnclosed bytes were searched up to a line.
func tooManyUnclosed(line int) error {
	return fault.Errorf(fault.ContentTooComplex,
		"the MDX has too many component tags without an end, for example in line %d: "+
			"end each tag with > within %d bytes, or write &lt; for a < that is text", line, maxTag).
		WithParam("content")
}

// literal matches the value of an attribute that is a single string of JavaScript: {"text"}.
var literal = lazyregexp.New("^\\{\\s*(?:\"([^\"\\\\\n]*)\"|'([^'\\\\\n]*)'|`([^`\\\\$]*)`)\\s*\\}")

// plainTag reads the tag at an offset. It returns the tag on one line and without JavaScript. The line ends within the
// tag follow it, so that lines keep their numbers. end is the offset after the tag. If the tag has no end, tag is ""
// and end is the offset where the search stopped.
func plainTag(src []byte, at int) (tag string, end int) {
	var out strings.Builder
	depth, quote, lines := 0, byte(0), 0 // the open braces, the open quotation mark, the line ends so far

	last := min(len(src), at+maxTag)
	for i := at; i < last; i++ {
		c := src[i]
		if c == '\n' {
			lines++

			if quote == 0 && depth == 0 && i+1 < len(src) && src[i+1] == '\n' {
				return "", i // a tag has no blank line
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
		// Braces after an equals sign that hold only a string are the value of an attribute.
		case c == '{' && depth == 0 && i > at && src[i-1] == '=' && literal().Match(src[i:min(len(src), i+maxTag)]):
			m := literal().FindSubmatch(src[i:min(len(src), i+maxTag)])
			value := bytes.ReplaceAll(slices.Concat(m[1:]...), []byte("\n"), []byte(" "))
			out.WriteString(`"` + html.EscapeString(string(value)) + `"`)
			lines += bytes.Count(m[0], []byte("\n"))
			i += len(m[0]) - 1
			continue
		case c == '{':
			if depth++; depth == 1 { // also remove the name of the attribute, up to the space before it
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
