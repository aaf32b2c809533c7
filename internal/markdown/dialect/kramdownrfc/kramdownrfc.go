// Package kramdownrfc reads the Internet-Drafts of kramdown-rfc.
package kramdownrfc

import (
	"bytes"
	"strings"

	"presswork/internal/fault"
	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/source"
)

var (
	// reference is {{{a name}}} or {{label}}.
	reference = lazyregexp.New(`\{\{\{([^{}]{1,200})\}\}\}|\{\{[<!?]?([^{}]{1,200})\}\}`)
	// placeInWork is a place and the work that it is in.
	placeInWork = lazyregexp.New(`^([^,]+?)(\s+of\s+)(\S+)$`)
	// headingLabel is a heading with its label, {#label} or, on a line of its own, {: #label}.
	headingLabel = lazyregexp.New(
		`(?m)^#{1,6}[ \t]+([^\n]{1,300}?)[ \t]*#*[ \t]*\n?\{:?[ \t]*#([A-Za-z][\w.:-]{0,100})[^}\n]*\}[ \t]*$`,
	)
	// titleLabel is the label after a figure or table: {: #label title="Title"}.
	titleLabel = lazyregexp.New(
		`(?m)^\{:[ \t]*#([A-Za-z][\w.:-]{0,100})[ \t]+title="([^"\n]{1,300})"[^}\n]*\}[ \t]*$`,
	)
	boilerplate = lazyregexp.New(`^\{::boilerplate[ \t]+bcp14[\w+-]*[ \t]*\}\s*$`)
	workLabel   = lazyregexp.New(`^[A-Z][\w.+=-]*$`)
)

// Rewrite rewrites a text that begins with a part: parts get headings, {{label}} becomes a
// link to the section of that label, {{RFC9000}} and {{Section 2 of RFC9000}} the name of the
// work in brackets. It has no warnings.
func Rewrite(s *source.Source) []fault.Warning {
	first, _, _ := bytes.Cut(s.Text(), []byte("\n"))
	if !source.IsDraftPart(first) {
		return nil
	}

	src, text := s.Text(), s.WithoutCode()
	titles := titlesByLabel(src, text)
	var out bytes.Buffer
	out.Grow(len(src))
	at := 0

	for _, m := range reference().FindAllSubmatchIndex(text, -1) {
		out.Write(src[at:m[0]])

		if at = m[1]; m[2] >= 0 {
			out.Write(src[m[2]:m[3]]) // a name with its own letters
		} else {
			out.WriteString(link(string(src[m[4]:m[5]]), titles))
		}
	}
	out.Write(src[at:])
	s.Replace(out.Bytes())
	writeParts(s)

	return nil
}

// titlesByLabel returns the titles of what has a label.
func titlesByLabel(src, text []byte) map[string]string {
	titles := map[string]string{}
	for _, m := range titleLabel().FindAllSubmatch(text, -1) {
		titles[string(m[1])] = string(m[2])
	}

	for _, m := range headingLabel().FindAllSubmatchIndex(text, -1) {
		titles[string(src[m[4]:m[5]])] = string(src[m[2]:m[3]])
	}

	return titles
}

// writeParts gives the parts their headings, outside code.
func writeParts(s *source.Source) {
	var out bytes.Buffer
	at := 0

	for line := range bytes.Lines(s.WithoutCode()) {
		switch {
		case source.IsDraftPart(line):
			out.WriteString(heading(string(line)) + "\n")
		case boilerplate().Match(line):
			out.WriteString(keyWords + "\n")
		default:
			out.Write(s.Text()[at : at+len(line)])
		}
		at += len(line)
	}
	s.Replace(out.Bytes())
}

// keyWords is the text of BCP 14 (RFC 8174) that {::boilerplate bcp14-tagged} stands for.
const keyWords = `The key words "MUST", "MUST NOT", "REQUIRED", "SHALL", "SHALL NOT", "SHOULD", "SHOULD NOT", ` +
	`"RECOMMENDED", "NOT RECOMMENDED", "MAY", and "OPTIONAL" in this document are to be interpreted as described ` +
	`in BCP 14 \[RFC2119\] \[RFC8174\] when, and only when, they appear in all capitals, as shown here.`

// heading returns the heading of a part, "" for the text and what follows it.
func heading(line string) string {
	part := strings.TrimSpace(strings.TrimPrefix(line, "--- "))
	switch title, isNote := strings.CutPrefix(part, "note_"); {
	case isNote:
		return "# " + strings.ReplaceAll(title, "_", " ")
	case part == "abstract":
		return "# Abstract"
	}

	return ""
}

// link returns what a reference becomes, with as many lines.
func link(to string, titles map[string]string) string {
	place, between, work := "", "", to
	if m := placeInWork().FindStringSubmatch(to); m != nil {
		place, between, work = m[1], m[2], m[3]
	} else if before, after, ok := strings.Cut(to, ","); ok {
		rest := strings.TrimLeft(after, " \n")
		place, between, work = strings.TrimSpace(after), " of"+after[:len(after)-len(rest)], before
	}

	if title, ok := titles[work]; ok {
		work = "[" + title + "](#" + work + ")"
	} else if work, _, _ = strings.Cut(work, "="); workLabel().MatchString(work) {
		work = `\[` + work + `\]`
	}

	return place + between + work
}
