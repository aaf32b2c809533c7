// Package kramdown removes the extensions of kramdown (https://kramdown.gettalong.org/syntax.html#extensions). Its
// attributes in braces stay: package tree reads them.
package kramdown

import (
	"bytes"

	"presswork/internal/fault"
	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/source"
)

// extension matches a comment, options, the tags around raw text and the definition of an attribute list. The raw text
// itself does not match, so it stays.
var extension = lazyregexp.New(
	`\{::comment\}(?s:.*?)\{:/(?:comment)?\}|\{::(?:comment|options)[^}\n]*/\}|` +
		`\{::nomarkdown[^}\n]*\}|\{:/(?:nomarkdown)?\}|(?m:^ {0,3}\{:[\w-]+:[ \t][^}\n]*\}[ \t]*$)`,
)

// Rewrite removes the extensions of kramdown outside of code. It returns no warnings.
func Rewrite(s *source.Source) []fault.Warning {
	if bytes.Contains(s.Text(), []byte("{:")) {
		s.Edit(extension().FindAllIndex(s.WithoutCode(), -1), func([]int) string { return "" })
	}

	return nil
}
