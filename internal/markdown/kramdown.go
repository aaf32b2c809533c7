package markdown

import (
	"bytes"

	"presswork/internal/lazyregexp"
)

// kramdownExtension is a comment, options, text that is no Markdown or a definition of an
// attribute list, of kramdown: none of them is printed, but for that text.
var kramdownExtension = lazyregexp.New(
	`\{::comment\}(?s:.*?)\{:/(?:comment)?\}|\{::(?:comment|options)[^}\n]*/\}|\{::nomarkdown[^}\n]*\}|\{:/(?:nomarkdown)?\}|(?m:^ {0,3}\{:[\w-]+:[ \t][^}\n]*\}[ \t]*$)`,
)

// plainKramdown takes out the extensions of kramdown outside of code, and leaves every line
// where it is.
func (d *draft) plainKramdown() {
	if d.dialect == GFM || !bytes.Contains(d.src, []byte("{:")) {
		return
	}

	found := kramdownExtension().FindAllIndex(withoutCode(d.src), -1)
	if len(found) == 0 {
		return
	}
	var out bytes.Buffer
	out.Grow(len(d.src))

	at := 0
	for _, m := range found {
		out.Write(d.src[at:m[0]])
		out.Write(bytes.Repeat([]byte("\n"), bytes.Count(d.src[m[0]:m[1]], []byte("\n"))))
		at = m[1]
	}
	out.Write(d.src[at:])
	d.setSource(out.Bytes())
}

// setSource gives the draft a source that has the same lines, of other lengths.
func (d *draft) setSource(src []byte) {
	lines := d.lines.of
	d.src = src
	d.lines = newLineIndex(src, max(d.options.FirstLine, 1))
	d.lines.of = lines
}
