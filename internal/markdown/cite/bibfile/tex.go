package bibfile

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// maxNesting is the number of levels that braces may nest in a field. Deeper braces are dropped, but not their text.
const maxNesting = 40

// texReader converts the TeX of a field into text with the markup of CSL-JSON.
type texReader struct {
	src       string
	at        int  // the current offset
	keepsCase bool // whether the outermost braces become <span class="nocase">, which keeps capitals
	out       strings.Builder
}

// texText returns the TeX of a field as text with the markup of CSL-JSON. In a title, braces keep capitals.
func texText(src string, title bool) string {
	if src == "" {
		return ""
	}
	r := &texReader{src: src, keepsCase: title}
	r.group(0)

	return joinSpaces(norm.NFC.String(r.out.String()))
}

// plainTeX returns the TeX of a field as text without markup.
func plainTeX(src string) string {
	return markup().ReplaceAllString(texText(src, false), "")
}

// group reads a group up to the brace that closes it, or the whole field. depth is the number of braces around it.
func (r *texReader) group(depth int) {
	shut := ""
	defer func() { r.out.WriteString(shut) }()

	for r.at < len(r.src) {
		c := r.src[r.at]
		r.at++

		switch c {
		case '}':
			if depth > 0 { // a surplus brace does not end the field
				return
			}
		case '{':
			r.braces(depth)
		case '\\':
			if tag := r.command(depth); tag != "" { // it applies to the rest of the group
				r.out.WriteString("<" + tag + ">")
				shut = "</" + tag + ">" + shut
			}
		case '~':
			r.out.WriteString("\u00a0")
		case '$':
			r.math()
		case '-':
			switch {
			case strings.HasPrefix(r.src[r.at:], "--"):
				r.out.WriteString("—")
				r.at += 2
			case strings.HasPrefix(r.src[r.at:], "-"):
				r.out.WriteString("–")
				r.at++
			default:
				r.out.WriteByte('-')
			}
		case '`', '\'':
			if r.at < len(r.src) && r.src[r.at] == c {
				r.at++
				r.out.WriteString(map[byte]string{'`': "“", '\'': "”"}[c])
			} else {
				r.out.WriteString(map[byte]string{'`': "‘", '\'': "’"}[c])
			}
		default:
			r.out.WriteByte(c)
		}
	}
}

// braces reads a group after its opening brace. The outermost braces of a title keep the capitals in them, unless they
// enclose a command, such as an accent.
func (r *texReader) braces(depth int) {
	if depth >= maxNesting {
		return
	}

	if r.at < len(r.src) && r.src[r.at] == '}' {
		r.at++
		return
	}

	keep := r.keepsCase && depth == 0 && r.at < len(r.src) && r.src[r.at] != '\\'
	if keep {
		r.out.WriteString(`<span class="nocase">`)
	}
	r.group(depth + 1)

	if keep {
		r.out.WriteString("</span>")
	}
}

// symbols returns the texts of commands without an argument, by their names.
var symbols = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"ss":                "ß",
		"ae":                "æ",
		"AE":                "Æ",
		"oe":                "œ",
		"OE":                "Œ",
		"o":                 "ø",
		"O":                 "Ø",
		"l":                 "ł",
		"L":                 "Ł",
		"aa":                "å",
		"AA":                "Å",
		"i":                 "ı",
		"j":                 "ȷ",
		"dh":                "ð",
		"DH":                "Ð",
		"th":                "þ",
		"TH":                "Þ",
		"dj":                "đ",
		"DJ":                "Đ",
		"S":                 "§",
		"P":                 "¶",
		"pounds":            "£",
		"copyright":         "©",
		"euro":              "€",
		"textendash":        "–",
		"textemdash":        "—",
		"ldots":             "…",
		"dots":              "…",
		"textellipsis":      "…",
		"textquoteright":    "’",
		"textquoteleft":     "‘",
		"textquotedblleft":  "“",
		"textquotedblright": "”",
		"textasciitilde":    "~",
		"textbackslash":     "\\",
		"textregistered":    "®",
		"texttrademark":     "™",
		"textdegree":        "°",
		"slash":             "/",
		"LaTeX":             "LaTeX",
		"TeX":               "TeX",
		"BibTeX":            "BibTeX",
		"times":             "×",
		"textunderscore":    "_",
		"guillemotleft":     "«",
		"guillemotright":    "»",
		"alpha":             "α",
		"beta":              "β",
		"gamma":             "γ",
		"delta":             "δ",
		"epsilon":           "ε",
		"lambda":            "λ",
		"mu":                "μ",
		"pi":                "π",
		"sigma":             "σ",
		"omega":             "ω",
		"infty":             "∞",
	}
})

// accents returns the combining marks of the commands for accents, by their names.
var accents = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"'":  "\u0301",
		"`":  "\u0300",
		"^":  "\u0302",
		"\"": "\u0308",
		"~":  "\u0303",
		"=":  "\u0304",
		".":  "\u0307",
		"v":  "\u030c",
		"u":  "\u0306",
		"H":  "\u030b",
		"c":  "\u0327",
		"k":  "\u0328",
		"r":  "\u030a",
		"d":  "\u0323",
		"b":  "\u0331",
		"t":  "\u0361",
	}
})

// command reads a command after its backslash and writes its text. For a command that changes the rest of its group,
// such as \em, it returns the name of the element. An unknown command has no text, but its argument stays.
func (r *texReader) command(depth int) (tag string) {
	name := r.commandName()
	if mark, ok := accents()[name]; ok {
		r.accent(mark, depth)
		return ""
	}

	if text, ok := symbols()[name]; ok {
		r.out.WriteString(text)
		r.endCommand(name)

		return ""
	}

	switch name {
	case "em", "it", "itshape", "sl", "slshape":
		r.endCommand(name)
		return "i"
	case "bf", "bfseries":
		r.endCommand(name)
		return "b"
	case "emph", "textit", "textsl", "mkbibemph", "mkbibitalic":
		r.wrapped("<i>", "</i>", depth)
	case "textbf", "mkbibbold":
		r.wrapped("<b>", "</b>", depth)
	case "textsc":
		r.wrapped(`<span style="font-variant:small-caps">`, "</span>", depth)
	case "textsuperscript", "mkbibsuperscript":
		r.wrapped("<sup>", "</sup>", depth)
	case "textsubscript", "mkbibsubscript":
		r.wrapped("<sub>", "</sub>", depth)
	case "enquote", "mkbibquote":
		r.wrapped("“", "”", depth)
	case "&", "%", "$", "#", "_", "{", "}", "@", " ", "\n":
		r.out.WriteString(name)
	case "\\", "newline", ",", ";", ":", "quad":
		r.out.WriteByte(' ')
	case "-", "/", "": // a place to divide a word, a correction of space, and a backslash at the end show nothing
	default:
		r.endCommand(name)
	}

	return ""
}

// commandName reads the name of a command: ASCII letters, or one other character.
func (r *texReader) commandName() string {
	from := r.at
	for r.at < len(r.src) && (r.src[r.at] >= 'a' && r.src[r.at] <= 'z' || r.src[r.at] >= 'A' && r.src[r.at] <= 'Z') {
		r.at++
	}

	if r.at == from && r.at < len(r.src) {
		_, size := utf8.DecodeRuneInString(r.src[r.at:])
		r.at += size
	}

	return r.src[from:r.at]
}

// endCommand skips the spaces after the name of a command. As in TeX, they belong to the command only if its name has
// letters.
func (r *texReader) endCommand(name string) {
	if name != "" && unicode.IsLetter(rune(name[0])) {
		r.skipSpace()
	}
}

// skipSpace skips spaces.
func (r *texReader) skipSpace() {
	for r.at < len(r.src) && r.src[r.at] == ' ' {
		r.at++
	}
}

// wrapped reads the argument of a command, a group in braces, and writes it between two texts.
func (r *texReader) wrapped(open, shut string, depth int) {
	r.skipSpace()
	r.out.WriteString(open)

	if r.at < len(r.src) && r.src[r.at] == '{' && depth < maxNesting {
		r.at++
		r.group(depth + 1)
	}
	r.out.WriteString(shut)
}

// accent reads the argument of an accent, a letter or a group, and writes its first letter with the mark.
func (r *texReader) accent(mark string, depth int) {
	r.skipSpace()

	if r.at >= len(r.src) {
		return
	}

	inner := &texReader{src: r.src[r.at:]}
	switch r.src[r.at] {
	case '{':
		const longest = 40 // bytes

		end := closingBrace(r.src[r.at:min(len(r.src), r.at+longest+1)])
		if end < 0 || depth >= maxNesting {
			return // the group is read as one without an accent
		}
		inner = &texReader{src: r.src[r.at+1 : r.at+end]}
		r.at += end + 1
		inner.group(depth + 1)
	case '\\':
		r.at++
		name := r.commandName()
		inner.out.WriteString(symbols()[name])
		r.endCommand(name)
	default:
		_, size := utf8.DecodeRuneInString(r.src[r.at:])
		inner.out.WriteString(r.src[r.at : r.at+size])
		r.at += size
	}

	text := inner.out.String()
	// TeX puts accents on a dotless i; in Unicode, the mark replaces the dot.
	if rest, dotless := strings.CutPrefix(text, "ı"); dotless {
		text = "i" + rest
	}

	if text == "" {
		return
	}
	_, size := utf8.DecodeRuneInString(text)
	r.out.WriteString(text[:size] + mark + text[size:])
}

// math reads a formula after its dollar. It writes raised and lowered text and the symbols, and drops other commands. A
// dollar without a second one stays.
func (r *texReader) math() {
	end := strings.IndexByte(r.src[r.at:], '$')
	if end < 0 {
		r.out.WriteByte('$')
		return
	}
	formula := r.src[r.at : r.at+end]
	r.at += end + 1

	for i := 0; i < len(formula); i++ {
		c := formula[i]

		tag := map[byte]string{'^': "sup", '_': "sub"}[c]
		switch {
		case tag != "" && i+1 < len(formula):
			arg := formula[i+1 : i+2]
			if arg == "{" {
				if shut := strings.IndexByte(formula[i:], '}'); shut > 1 {
					arg = formula[i+2 : i+shut]
					i += shut - 1
				}
			}
			i++
			r.out.WriteString("<" + tag + ">" + arg + "</" + tag + ">")
		case c == '\\':
			inner := &texReader{src: formula, at: i + 1}
			r.out.WriteString(symbols()[inner.commandName()])
			i = inner.at - 1
		case c != '{' && c != '}':
			r.out.WriteByte(c)
		}
	}
}
