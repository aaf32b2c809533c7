package formula

import (
	"strconv"
	"strings"

	"presswork/internal/lazyregexp"
	"presswork/internal/markdown/tex"
)

const (
	// maxMacros bounds the macros of a document, maxMacroBytes their size together.
	maxMacros     = 500
	maxMacroBytes = 64 << 10
	// maxBody and maxParameters bound the body and the parameters of one definition, in bytes. Without them, many
	// unclosed definitions would take quadratic time.
	maxBody       = 4 << 10
	maxParameters = 200
)

// macros are the definitions of a document so far.
type macros struct {
	of    map[string]string // the definitions by name, such as \R; nil without any
	bytes int               // the length of all definitions
}

var (
	// definitionStart matches the start of a definition. Its groups are the command, a star, and the name with or
	// without braces.
	definitionStart = lazyregexp.New(
		`^\\(newcommand|renewcommand|providecommand|DeclareMathOperator|gdef|def)(\*?)\s*` +
			`(?:\{\s*(\\[A-Za-z]+|\\.)\s*\}|(\\[A-Za-z]+|\\.))`,
	)
	// arity matches the number of parameters of \newcommand, command any command.
	arity   = lazyregexp.New(`^\s*\[([0-9])\]`)
	command = lazyregexp.New(`\\(?:[A-Za-z]+|.)`)
)

// definition is one definition of a macro: its name, its form for later formulas, and its length in the source.
type definition struct {
	name, text string
	length     int
}

// readDefinition reads the definition at the start of a source. ok is false if there is none. The text of the result
// uses \def, which may define a name again, except for a macro with an optional argument.
func readDefinition(src string) (d definition, ok bool) {
	m := definitionStart().FindStringSubmatch(src)
	if m == nil {
		return d, false
	}
	kind, name, rest := m[1], m[3]+m[4], src[len(m[0]):]
	parameters := ""

	switch {
	case kind == "def" || kind == "gdef":
		open := strings.IndexByte(rest[:min(len(rest), maxParameters)], '{')
		if open < 0 {
			return d, false
		}
		parameters, rest = strings.TrimSpace(rest[:open]), rest[open:]
	case kind != "DeclareMathOperator":
		if n := arity().FindStringSubmatch(rest); n != nil {
			count, _ := strconv.Atoi(n[1])
			for i := range count {
				parameters += "#" + strconv.Itoa(i+1)
			}
			rest = rest[len(n[0]):]
		}
	}

	usual, trimmed := "", strings.TrimLeft(rest, " \n\t") // usual is the default of an optional argument, in brackets
	if parameters != "" && strings.HasPrefix(trimmed, "[") {
		end := strings.IndexByte(trimmed[:min(len(trimmed), maxParameters)], ']')
		if end < 0 {
			return d, false
		}
		usual, rest = trimmed[:end+1], trimmed[end+1:]
	}
	rest = strings.TrimLeft(rest, " \n\t")

	body, ok := group(rest)
	if !ok {
		return d, false
	}
	d.name, d.length = name, len(src)-len(rest)+len(body)

	switch {
	case kind == "DeclareMathOperator":
		d.text = `\def` + name + `{\operatorname` + m[2] + body + `}`
	case usual != "":
		// Only \newcommand has an optional argument.
		d.text = `\newcommand{` + name + `}[` + strconv.Itoa(strings.Count(parameters, "#")) + `]` + usual + body
	default:
		d.text = `\def` + name + parameters + body
	}

	return d, true
}

// group returns the group in braces at the start of a source, braces included. It returns false if there is none or it
// is longer than maxBody bytes.
func group(src string) (string, bool) {
	if !strings.HasPrefix(src, "{") {
		return "", false
	}

	for i, depth := 0, 0; i < min(len(src), maxBody); i++ {
		switch src[i] {
		case '\\':
			i++
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return src[:i+1], true
			}
		}
	}

	return "", false
}

// take returns a formula without its definitions, and keeps them for it and for later formulas. A definition beyond
// the limits stays in its formula.
func (m *macros) take(src string) string {
	if !strings.Contains(src, `\def`) && !strings.Contains(src, `\gdef`) && !strings.Contains(src, "command") &&
		!strings.Contains(src, `\DeclareMathOperator`) {
		return src
	}
	var kept strings.Builder

	for i := 0; i < len(src); {
		if src[i] != '\\' {
			kept.WriteByte(src[i])
			i++

			continue
		}

		d, ok := readDefinition(src[i:])
		if !ok || len(m.of) >= maxMacros || m.bytes+len(d.text) > maxMacroBytes {
			end := min(i+2, len(src))
			kept.WriteString(src[i:end])
			i = end

			continue
		}

		if m.of == nil {
			m.of = map[string]string{}
		}
		m.bytes += len(d.text) - len(m.of[d.name])
		m.of[d.name] = d.text
		i += d.length
	}

	return kept.String()
}

// usedBy returns the definitions that a formula needs, and those that they need themselves. Only these are in the key
// of the renderer's cache. It stops after tex.MaxSource bytes, with which the renderer rejects the formula.
func (m *macros) usedBy(src string) string {
	if len(m.of) == 0 {
		return ""
	}
	var needed strings.Builder
	seen := map[string]bool{}

	for queue := []string{src}; len(queue) > 0 && needed.Len() <= tex.MaxSource; {
		text := queue[0]
		queue = queue[1:]

		for _, name := range command().FindAllString(text, -1) {
			if d, ok := m.of[name]; ok && !seen[name] {
				seen[name] = true
				needed.WriteString(d)
				queue = append(queue, d)
			}
		}
	}

	return needed.String()
}

// isDefinitions reports whether a text consists of definitions only.
func isDefinitions(src string) bool {
	if !strings.HasPrefix(src, `\`) {
		return false
	}

	return strings.TrimSpace(new(macros).take(src)) == ""
}
