package markdown

import (
	"bytes"
	"strings"

	"presswork/internal/lazyregexp"
)

var (
	draftReference = lazyregexp.New(`\{\{\{([^{}]{1,200})\}\}\}|\{\{[<!?]?([^{}]{1,200})\}\}`)
	// placeInWork is a place and the work that it is in.
	placeInWork = lazyregexp.New(`^([^,]+?)(\s+of\s+)(\S+)$`)
	// draftLabel is a heading with its label, {#label} or, on a line of its own, {: #label}.
	draftLabel = lazyregexp.New(
		`(?m)^#{1,6}[ \t]+([^\n]{1,300}?)[ \t]*#*[ \t]*\n?\{:?[ \t]*#([A-Za-z][\w.:-]{0,100})[^}\n]*\}[ \t]*$`,
	)
	// titleLabel is that of a figure or table, behind it: {: #label title="Title"}.
	titleLabel  = lazyregexp.New(`(?m)^\{:[ \t]*#([A-Za-z][\w.:-]{0,100})[ \t]+title="([^"\n]{1,300})"[^}\n]*\}[ \t]*$`)
	boilerplate = lazyregexp.New(`^\{::boilerplate[ \t]+bcp14[\w+-]*[ \t]*\}\s*$`)
	workLabel   = lazyregexp.New(`^[A-Z][\w.+=-]*$`)
)

// plainDraft makes what is kramdown-rfc's own in an Internet-Draft Markdown, and leaves
// every line where it is: its parts have headings, {{label}} leads to the section of that
// label, {{RFC9000}} and {{Section 2 of RFC9000}} name the work in brackets.
func (d *draft) plainDraft() {
	first, _, _ := bytes.Cut(d.src, []byte("\n"))
	if d.dialect == GFM || !bytes.HasPrefix(first, []byte("--- ")) || !draftPart().Match(first) {
		return
	}
	src, text := d.src, withoutCode(d.src)

	titles := map[string]string{}
	for _, m := range titleLabel().FindAllSubmatch(text, -1) {
		titles[string(m[1])] = string(m[2])
	}

	for _, m := range draftLabel().FindAllSubmatchIndex(text, -1) {
		titles[string(src[m[4]:m[5]])] = string(src[m[2]:m[3]])
	}
	var out bytes.Buffer
	out.Grow(len(src))

	at := 0
	for _, m := range draftReference().FindAllSubmatchIndex(text, -1) {
		out.Write(src[at:m[0]])

		if at = m[1]; m[2] >= 0 {
			out.Write(src[m[2]:m[3]]) // a name with its own letters
		} else {
			out.WriteString(draftLink(string(src[m[4]:m[5]]), titles))
		}
	}
	out.Write(src[at:])
	d.setSource(draftParts(out.Bytes()))
}

// draftParts gives the parts their headings, outside of code.
func draftParts(src []byte) []byte {
	var out bytes.Buffer
	at := 0

	for line := range bytes.Lines(withoutCode(src)) {
		if draftPart().Match(line) {
			out.WriteString(partHeading(string(line)) + "\n")
		} else if boilerplate().Match(line) {
			out.WriteString(keyWords + "\n")
		} else {
			out.Write(src[at : at+len(line)])
		}
		at += len(line)
	}

	return out.Bytes()
}

// keyWords is the text of BCP 14 (RFC 8174) that {::boilerplate bcp14-tagged} stands for.
const keyWords = `The key words "MUST", "MUST NOT", "REQUIRED", "SHALL", "SHALL NOT", "SHOULD", "SHOULD NOT", "RECOMMENDED", "NOT RECOMMENDED", "MAY", and "OPTIONAL" ` +
	`in this document are to be interpreted as described in BCP 14 \[RFC2119\] \[RFC8174\] when, and only when, they appear in all capitals, as shown here.`

// partHeading is the heading of a part: the text and what is behind it have none.
func partHeading(line string) string {
	part := strings.TrimSpace(strings.TrimPrefix(line, "--- "))
	switch title, isNote := strings.CutPrefix(part, "note_"); {
	case isNote:
		return "# " + strings.ReplaceAll(title, "_", " ")
	case part == "abstract":
		return "# Abstract"
	}

	return ""
}

// draftLink is what stands for a reference, with as many lines.
func draftLink(to string, titles map[string]string) string {
	place, between, work := "", "", to
	if m := placeInWork().FindStringSubmatch(to); m != nil {
		place, between, work = m[1], m[2], m[3]
	} else if before, after, ok := strings.Cut(to, ","); ok {
		place, between, work = strings.TrimSpace(
			after,
		), " of"+after[:len(after)-len(strings.TrimLeft(after, " \n"))], before
	}

	if title, ok := titles[work]; ok {
		work = "[" + title + "](#" + work + ")"
	} else if work, _, _ = strings.Cut(work, "="); workLabel().MatchString(work) {
		work = `\[` + work + `\]`
	}

	return place + between + work
}
