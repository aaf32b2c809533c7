package themes

import "strings"

// CompactCSS returns a stylesheet without comments and unneeded spaces. Every printed page contains the built-in
// stylesheets, and the browser parses them each time.
func CompactCSS(css string) string {
	var b strings.Builder
	s := newCSSScanner(css)
	pending, afterMark := false, true // whether space came before the token, and whether a mark that needs none did

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
