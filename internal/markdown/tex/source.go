package tex

import (
	"strings"

	"golang.org/x/text/unicode/norm"

	"presswork/internal/lazyregexp"
)

// The letters of Unicode's Mathematical Alphanumeric Symbols are from firstLetter to lastLetter. JavaScript stores them
// as two halves, which Temml rejects.
const (
	// alphabets are the commands for the Latin alphabets from firstLetter, each of 26 capital and 26 small letters.
	alphabets = `\mathbf \mathit \boldsymbol \mathscr \boldsymbol \mathfrak \mathbb \boldsymbol \mathsf ` +
		`\boldsymbol \mathsf \boldsymbol \mathtt`
	firstLetter, lastLetter           = '\U0001d400', '\U0001d7ff'
	firstGreek, lastGreek             = '\U0001d6a8', '\U0001d7c9'
	firstItalicGreek, lastItalicGreek = '\U0001d6e2', '\U0001d71b'
)

var (
	// textCommand matches the start of an argument that is text.
	textCommand = lazyregexp.New(`\\(?:text(?:bf|it|rm|sf|tt|normal)?|[mh]box)\s*\{`)
	// otherNames replaces environments that Temml lacks by similar ones.
	otherNames = strings.NewReplacer(
		`\begin{eqnarray}`, `\begin{array}{rcl}`, `\end{eqnarray}`, `\end{array}`,
		`\begin{eqnarray*}`, `\begin{array}{rcl}`, `\end{eqnarray*}`, `\end{array}`,
		`\begin{flalign}`, `\begin{align}`, `\end{flalign}`, `\end{align}`,
		`\begin{flalign*}`, `\begin{align*}`, `\end{flalign*}`, `\end{align*}`,
	)
)

// forTemml rewrites LaTeX that MathJax reads and Temml does not. These are letters beyond U+FFFF, signs such as _ in
// text, and the environments eqnarray and flalign.
func forTemml(src string) string {
	if strings.ContainsFunc(src, func(r rune) bool { return r >= firstLetter }) {
		src = mapLetters(src)
	}

	return escapeText(otherNames.Replace(src))
}

// mapLetters replaces mathematical letters beyond U+FFFF by commands with plain letters.
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

// plainLetter returns the letter or digit without its style. Each Greek alphabet ends with variants of six letters,
// which normalisation would replace by the usual letters.
func plainLetter(r rune) string {
	const alphabet, common = 58, 52 // the letters of a Greek alphabet, with and without the variants

	if i := int(r-firstGreek) % alphabet; r >= firstGreek && r <= lastGreek && i >= common {
		return string([]rune("ϵϑϰϕϱϖ")[i-common])
	}

	return norm.NFKC.String(string(r))
}

// escapeText escapes signs in text arguments that mean something in formulas only, such as the _ in \text{my_name}.
// Formulas within the text, between dollars, keep their signs.
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
