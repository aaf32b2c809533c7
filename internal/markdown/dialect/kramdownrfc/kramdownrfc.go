// Package kramdownrfc rewrites the Internet-Drafts of kramdown-rfc
// (https://github.com/cabo/kramdown-rfc).
package kramdownrfc

import (
	"bytes"
	"strings"

	"presswork/internal/fault"
	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/source"
)

var (
	// reference matches {{{a name}}}, {{{a name}{in another script}}} and {{label}}.
	reference = lazyregexp.New(`\{\{\{([^{}]{1,200})(?:\}\{([^{}]{1,200}))?\}\}\}|\{\{[<!?]?([^{}]{1,200})\}\}`)
	// placeInWork matches a place in a work, such as "Section 2 of RFC9000".
	placeInWork = lazyregexp.New(`^([^,]+?)(\s+of\s+)(\S+)$`)
	// headingLabel matches a heading with its label: {#label}, or {: #label} on the next line.
	headingLabel = lazyregexp.New(
		`(?m)^#{1,6}[ \t]+([^\n]{1,300}?)[ \t]*#*[ \t]*\n?\{:?[ \t]*#([A-Za-z][\w.:-]{0,100})[^}\n]*\}[ \t]*$`,
	)
	// titleLabel matches the label after a figure or a table: {: #label title="Title"}.
	titleLabel = lazyregexp.New(`(?m)^\{:[ \t]*#([A-Za-z][\w.:-]{0,100})[ \t]+title="([^"\n]{1,300})"[^}\n]*\}[ \t]*$`)
	// boilerplate matches the line that keyWords replaces.
	boilerplate = lazyregexp.New(`^\{::boilerplate[ \t]+bcp14[\w+-]*[ \t]*\}\s*$`)
	// workLabel matches the label of a work: RFC9000.
	workLabel = lazyregexp.New(`^[A-Z][\w.+=-]*$`)
)

// Rewrite rewrites an Internet-Draft, a text that begins with a line such as "--- abstract". Parts get headings.
// {{label}} becomes a link to the section with that label, and {{RFC9000}} becomes the name of the work in brackets.
// Rewrite leaves any other text unchanged. It returns no warnings.
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

		switch at = m[1]; {
		case m[2] < 0:
			out.WriteString(link(string(src[m[6]:m[7]]), titles))
		case m[4] < 0:
			out.Write(src[m[2]:m[3]])
		default:
			out.WriteString(string(src[m[2]:m[3]]) + " (" + string(src[m[4]:m[5]]) + ")")
		}
	}
	out.Write(src[at:])
	s.Replace(out.Bytes())
	writeParts(s)

	return nil
}

// titlesByLabel returns the titles of the headings, figures and tables with a label. text is src without code.
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

// writeParts replaces the lines that begin parts by headings, outside of code.
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

// keyWords is the text of BCP 14 (RFC 8174, section 2), which replaces {::boilerplate bcp14-tagged}.
const keyWords = `The key words "MUST", "MUST NOT", "REQUIRED", "SHALL", "SHALL NOT", "SHOULD", "SHOULD NOT", ` +
	`"RECOMMENDED", "NOT RECOMMENDED", "MAY", and "OPTIONAL" in this document are to be interpreted as described ` +
	`in BCP 14 \[RFC2119\] \[RFC8174\] when, and only when, they appear in all capitals, as shown here.`

// heading returns the heading of a part, "" for the middle and the back.
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

// link returns the Markdown for a reference, with as many lines as the reference.
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
