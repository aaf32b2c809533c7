package themes

import "strings"

// rootTokens returns the custom properties in top-level rules of a stylesheet, of any selector. Those within @media and
// similar rules are conditional and do not count. Of several values, the last counts.
func rootTokens(css string) tokens {
	r := tokenReader{found: tokens{}}

	s := newCSSScanner(css)
	for t, ok := s.next(); ok; t, ok = s.next() {
		r.read(t)
	}
	r.endValue()

	return r.found
}

// tokenReader reads the custom properties of a stylesheet token by token.
type tokenReader struct {
	found tokens
	// depth is the number of open rules. conditional reports whether the outermost is an at-rule.
	depth       int
	conditional bool
	// name is the property that is being read, "" for none. colon reports whether its value has begun.
	name  string
	colon bool
	value strings.Builder
	// brackets is the number of open brackets in the value.
	brackets int
}

// read reads the next token.
func (r *tokenReader) read(t cssToken) {
	punctuation := ""
	if t.kind == cssOther {
		punctuation = t.raw
	}

	switch {
	case t.kind == cssAt && r.depth == 0:
		r.conditional = true
	case punctuation == ";" && r.brackets == 0:
		r.endValue()
		r.endRule()
	case punctuation == "{":
		r.depth++
		r.dropProperty()
	case punctuation == "}":
		r.endValue()
		r.depth = max(0, r.depth-1)
		r.endRule()
	case r.colon:
		r.brackets = max(0, r.brackets+nesting(t))
		r.value.WriteString(t.raw)
	case r.name != "" && punctuation == ":":
		r.colon = true
	case r.name == "" && r.depth == 1 && t.kind == cssIdent && strings.HasPrefix(t.value, "--"):
		r.name = t.value
	case t.kind != cssSpace:
		r.dropProperty()
	}
}

// endValue adds the property to found. It skips a value that ends within brackets or an escape. In the rule that tokens
// write, the text after the value would become a part of it.
func (r *tokenReader) endValue() {
	value := strings.TrimSpace(r.value.String())
	if r.colon && r.depth == 1 && !r.conditional && r.brackets == 0 && !strings.HasSuffix(value, `\`) {
		r.found[r.name] = value
	}
	r.dropProperty()
}

// endRule resets conditional after a top-level rule.
func (r *tokenReader) endRule() {
	if r.depth == 0 {
		r.conditional = false
	}
}

// dropProperty forgets the property that is being read.
func (r *tokenReader) dropProperty() {
	r.name, r.colon, r.brackets = "", false, 0
	r.value.Reset()
}
