package tex

import (
	"strings"

	"golang.org/x/text/unicode/norm"

	"presswork/internal/lazyregexp"
)

// alphabets are the commands for the letters of Unicode's Mathematical Alphanumeric Symbols, from firstLetter. Each
// has 26 capital and 26 small letters. The JavaScript engine splits these letters into halves that Temml rejects.
const (
	alphabets = `\mathbf \mathit \boldsymbol \mathscr \boldsymbol \mathfrak \mathbb \boldsymbol \mathsf ` +
		`\boldsymbol \mathsf \boldsymbol \mathtt`
	firstLetter, lastLetter           = '\U0001d400', '\U0001d7ff'
	firstGreek, lastGreek             = '\U0001d6a8', '\U0001d7c9'
	firstItalicGreek, lastItalicGreek = '\U0001d6e2', '\U0001d71b'
)

var (
	// textCommand matches the start of an argument of text.
	textCommand = lazyregexp.New(`\\(?:text(?:bf|it|rm|sf|tt|normal)?|[mh]box)\s*\{`)
	// otherNames replaces environments that Temml lacks by similar ones.
	otherNames = strings.NewReplacer(
		`\begin{eqnarray}`, `\begin{array}{rcl}`, `\end{eqnarray}`, `\end{array}`,
		`\begin{eqnarray*}`, `\begin{array}{rcl}`, `\end{eqnarray*}`, `\end{array}`,
		`\begin{flalign}`, `\begin{align}`, `\end{flalign}`, `\end{align}`,
		`\begin{flalign*}`, `\begin{align*}`, `\end{flalign*}`, `\end{align*}`,
	)
)

// forTemml rewrites what MathJax reads and Temml does not: letters beyond U+FFFF, signs such as _ in text, and two
// environments.
func forTemml(src string) string {
	if strings.ContainsFunc(src, func(r rune) bool { return r >= firstLetter }) {
		src = mapLetters(src)
	}

	return escapeText(otherNames.Replace(src))
}

// mapLetters replaces mathematical letters beyond U+FFFF by commands with plain letters, because Temml does not know
// them.
func mapLetters(src string) string {
	var b strings.Builder
	commands := strings.Fields(alphabets)

	for _, r := range src {
		if r < firstLetter || r > lastLetter {
			b.WriteRune(r)
			continue
		}

		command := `\boldsymbol` // of Greek letters and of digits
		if i := int(r-firstLetter) / 52; i < len(commands) {
			command = commands[i]
		} else if r >= firstItalicGreek && r <= lastItalicGreek {
			command = `\mathit`
		}
		b.WriteString(command + "{" + plainLetter(r) + "}")
	}

	return b.String()
}

// plainLetter returns the letter or digit without its style. Each Greek alphabet ends with other shapes of six letters,
// which Unicode does not tell apart.
func plainLetter(r rune) string {
	const alphabet, common = 58, 52

	if i := int(r-firstGreek) % alphabet; r >= firstGreek && r <= lastGreek && i >= common {
		return string([]rune("ϵϑϰϕϱϖ")[i-common])
	}

	return norm.NFKC.String(string(r))
}

// escapeText escapes the signs in arguments of text that have a meaning in formulas only, such as the _ of
// \text{my_name}. Formulas in the text keep them.
func escapeText(src string) string {
	var b strings.Builder

	for {
		at := textCommand().FindStringIndex(src)
		if at == nil {
			return b.String() + src
		}
		b.WriteString(src[:at[1]])
		src = src[at[1]:]
		depth, inner, i := 1, false, 0

		for ; i < len(src) && depth > 0; i++ {
			switch c := src[i]; {
			case c == '\\' && i+1 < len(src):
				b.WriteByte(c)
				i++
			case c == '$':
				inner = !inner
			case c == '{':
				depth++
			case c == '}':
				depth--
			// Within \text these signs must be escaped for Temml, but not within a formula inside it.
			case !inner && (c == '_' || c == '#' || c == '&' || c == '%'):
				b.WriteByte('\\')
			case !inner && c == '^':
				b.WriteString(`\textasciicircum `)
				continue
			}
			b.WriteByte(src[i])
		}
		src = src[i:]
	}
}
