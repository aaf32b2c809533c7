package themes

import "strings"

// CompactCSS removes the comments and unneeded spaces of a built-in stylesheet.
// Every printed page contains it, and the browser parses it each time.
func CompactCSS(css string) string {
	var b strings.Builder
	s := newCSSScanner(css)
	pending, afterMark := false, true

	for t, ok := s.next(); ok; t, ok = s.next() {
		if t.kind == cssSpace {
			pending = true
			continue
		}

		mark := t.kind == cssOther && strings.Contains("{};,", t.raw)
		if pending && !mark && !afterMark {
			b.WriteByte(' ')
		}
		b.WriteString(t.raw)
		pending, afterMark = false, mark
	}

	return b.String()
}
