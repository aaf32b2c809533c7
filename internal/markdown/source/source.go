// Package source holds the text of a document while dialects rewrite it, before it is parsed. It knows the line of
// the file for each line of the text, and where code is. A rewriter finds its syntax in WithoutCode, so that it leaves
// code unchanged. It replaces the syntax by Edit, Replace or ReplaceLines.
package source

import (
	"slices"

	"presswork/internal/fault"
)

// Source is a text that dialects rewrite one after another. It is not safe for concurrent use.
type Source struct {
	text []byte
	// withoutCode and lines are computed from text when they are first needed, nil before.
	withoutCode []byte
	lines       *Lines
	// first is the number of the first line of the file. from has the line of the file, counted from 0, for
	// each line of text; nil if they are the same.
	first int
	from  []int
}

// New returns the source for a text whose first line is line first of its file, from 1. The lines of the text must end
// with \n only: see NormalizeNewlines.
func New(text []byte, first int) *Source {
	return &Source{text: text, first: max(first, 1)}
}

// Text returns the text. The caller must not change it.
func (s *Source) Text() []byte { return s.text }

// WithoutCode returns the text with spaces in place of code, as the function WithoutCode
// does. The caller must not change it.
func (s *Source) WithoutCode() []byte {
	if s.withoutCode == nil {
		s.withoutCode = WithoutCode(s.text)
	}

	return s.withoutCode
}

// Replace sets a text with the same number of lines as before. It keeps text.
func (s *Source) Replace(text []byte) {
	s.text, s.withoutCode, s.lines = text, nil, nil
}

// ReplaceLines sets a text whose line i is made from line from[i] of the text before, both counted from 0. It keeps and
// changes from.
func (s *Source) ReplaceLines(text []byte, from []int) {
	if s.from != nil {
		for i, line := range from {
			from[i] = s.from[min(line, len(s.from)-1)]
		}
	}
	s.from = from
	s.Replace(text)
}

// Lines returns the lines of the current text. The result does not follow later changes.
func (s *Source) Lines() *Lines {
	if s.lines == nil {
		s.lines = newLines(s.text, s.first, s.from)
	}

	return s.lines
}

// Warning returns a warning about the line of an offset of the text.
func (s *Source) Warning(code fault.WarningCode, offset int, message string) fault.Warning {
	return fault.Warning{Code: code, Message: message, Line: s.Lines().At(offset)}
}

// Edit replaces parts of the text. Each part is a pair of offsets. The parts are in order and do not overlap.
// replacement returns the text for a part, without line ends. Edit appends the line ends of the part, so that the
// lines after it keep their numbers.
func (s *Source) Edit(parts [][]int, replacement func(part []int) string) {
	if len(parts) == 0 {
		return
	}

	var out []byte
	at := 0

	for _, part := range parts {
		out = append(out, s.text[at:part[0]]...)
		out = append(out, replacement(part)...)

		for _, c := range s.text[part[0]:part[1]] {
			if c == '\n' {
				out = append(out, c)
			}
		}
		at = part[1]
	}
	s.Replace(slices.Concat(out, s.text[at:]))
}
