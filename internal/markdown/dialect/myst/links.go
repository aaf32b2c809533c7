package myst

import (
	"bytes"
	"path"
	"strings"

	"presswork/internal/lazyregexp"
)

// emptyLink matches a link without a text. Its group is the address.
var emptyLink = lazyregexp.New(`\[\]\(<?([^()<>\s]{1,500})>?\)`)

// fillLinks gives a text to links without one: a reference to the label, the address, or the name of the file.
func (r *roleReader) fillLinks() {
	src := r.source.Text()
	var out bytes.Buffer
	at := 0

	for _, m := range emptyLink().FindAllSubmatchIndex(r.source.WithoutCode(), -1) {
		if m[0] > 0 && (src[m[0]-1] == '!' || src[m[0]-1] == '\\') {
			continue
		}
		out.Write(src[at:m[0]])
		at = m[1]

		to := string(src[m[2]:m[3]])
		switch label, inside := strings.CutPrefix(to, "#"); {
		case inside:
			out.WriteString(r.reference("ref", "", label, m[0]))
		case strings.Contains(to, "://"):
			out.WriteString("<" + to + ">")
		default:
			out.WriteString("[" + plainWords(strings.TrimSuffix(path.Base(to), ".md")) + "](<" + to + ">)")
		}
	}

	if at > 0 {
		out.Write(src[at:])
		r.source.Replace(out.Bytes())
	}
}

// maxSubstituted is the largest total size of substituted texts, in bytes.
const maxSubstituted = 1 << 20

// substitution matches {{ name }}, the place of one of Reader.Substitutions.
var substitution = lazyregexp.New(`\{\{[ \t]*([A-Za-z_][\w-]{0,60})[ \t]*\}\}`)

// substitute replaces {{ name }} on a line by the texts of Reader.Substitutions, up to maxSubstituted in the document.
// alone reports whether a text is the whole line; only such a text may have several lines.
func (r *directiveReader) substitute(line string) (text string, alone bool) {
	if len(r.reader.Substitutions) == 0 || !strings.Contains(line, "{{") {
		return line, false
	}
	m := substitution().FindString(line)
	alone = m != "" && strings.TrimSpace(line) == m

	return substitution().ReplaceAllStringFunc(line, func(place string) string {
		with, ok := r.reader.Substitutions[strings.Trim(place, "{} \t")]
		if r.substituted += len(with); !ok || r.substituted > maxSubstituted {
			alone = false
			return place
		}

		if !alone {
			with = strings.Join(strings.Fields(with), " ")
		}

		return with
	}), alone
}
