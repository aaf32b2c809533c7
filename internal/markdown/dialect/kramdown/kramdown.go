// Package kramdown reads the extensions of kramdown.
package kramdown

import (
	"bytes"

	"presswork/internal/fault"
	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/source"
)

// extension is a comment, options, text that is no Markdown or the definition of an
// attribute list. Of these, only the text is printed.
var extension = lazyregexp.New(
	`\{::comment\}(?s:.*?)\{:/(?:comment)?\}|\{::(?:comment|options)[^}\n]*/\}|` +
		`\{::nomarkdown[^}\n]*\}|\{:/(?:nomarkdown)?\}|(?m:^ {0,3}\{:[\w-]+:[ \t][^}\n]*\}[ \t]*$)`,
)

// Rewrite removes the extensions of kramdown outside code. It has no warnings.
func Rewrite(s *source.Source) []fault.Warning {
	if bytes.Contains(s.Text(), []byte("{:")) {
		s.Edit(extension().FindAllIndex(s.WithoutCode(), -1), func([]int) string { return "" })
	}

	return nil
}
