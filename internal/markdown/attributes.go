package markdown

import (
	"bytes"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"golang.org/x/net/html"
)

const (
	// maxBraces bounds, in bytes, the length of {attributes}.
	maxBraces = 1000
	// maxClasses bounds, in bytes, the class names of one element: any number of
	// braces may follow it.
	maxClasses = 140
)

// attributes are what stands between braces: {.class #id key=value}.
type attributes struct {
	id      string
	classes []string
	pairs   []attribute
	// words are items that are none of these, such as the 3,5-7 of a code
	// block. "-" is Pandoc's short form of .unnumbered.
	words []string
}

// attribute is one key=value.
type attribute struct{ key, value string }

// readBraces reads attributes at the start of a line and returns their length,
// 0 if there are none: they must close on the line.
func readBraces(line []byte) (a attributes, size int) {
	if len(line) < 3 || line[0] != '{' {
		return attributes{}, 0
	}
	line = line[:min(len(line), maxBraces)]

	i := 1
	if line[i] == ':' { // kramdown's form
		i++
	}

	for i < len(line) {
		switch line[i] {
		case '}':
			return a, i + 1
		case ' ', '\t', ',':
			i++
		case '\n', '{':
			return attributes{}, 0
		default:
			n, ok := a.readItem(line[i:])
			if !ok {
				return attributes{}, 0
			}
			i += n
		}
	}

	return attributes{}, 0
}

// readItem reads one item and returns its length.
func (a *attributes) readItem(text []byte) (size int, ok bool) {
	end := bytes.IndexAny(text, " \t\n=\"'{}")
	if end < 0 {
		return 0, false
	}

	word := string(text[:end])
	if text[end] != '=' {
		switch {
		case end == 0 || bytes.IndexByte([]byte(" \t\n}"), text[end]) < 0:
			return 0, false
		case word[0] == '#' && len(word) > 1:
			a.id = word[1:]
		case word[0] == '.' && len(word) > 1:
			a.classes = append(a.classes, strings.FieldsFunc(word, func(r rune) bool { return r == '.' })...)
		default:
			a.words = append(a.words, word)
		}

		return end, true
	}

	value, n, ok := readValue(text[end+1:])
	if !ok || word == "" {
		return 0, false
	}

	switch key := strings.ToLower(word); key {
	case "id":
		a.id = value
	case "class":
		a.classes = append(a.classes, strings.Fields(value)...)
	default:
		a.pairs = append(a.pairs, attribute{key, value})
	}

	return end + 1 + n, true
}

// readValue reads a value: in quotes, in brackets, or up to the next space.
func readValue(text []byte) (value string, size int, ok bool) {
	if len(text) == 0 {
		return "", 0, false
	}

	if shut := map[byte]byte{'"': '"', '\'': '\'', '[': ']'}[text[0]]; shut != 0 {
		end := bytes.IndexByte(text[1:], shut)
		if end < 0 || bytes.IndexByte(text[1:end+1], '\n') >= 0 {
			return "", 0, false
		}

		return string(text[1 : end+1]), end + 2, true
	}

	end := bytes.IndexAny(text, " \t\n}{\"'")
	if end <= 0 || text[end] == '{' || text[end] == '"' || text[end] == '\'' {
		return "", 0, false
	}

	return string(text[:end]), end, true
}

// meant reports whether these are attributes rather than some text in braces:
// whether one of them would have an effect.
func (a attributes) meant() bool {
	return a.id != "" || len(a.classes) > 0 || a.uncounted() ||
		slices.ContainsFunc(a.pairs, func(p attribute) bool { _, ok := cleanPair(p); return ok })
}

// uncounted reports whether a heading has no number: - of Pandoc, numbered="false" of
// kramdown-rfc.
func (a attributes) uncounted() bool {
	numbered, _ := a.get("numbered")
	return slices.Contains(a.words, "-") || numbered == "false" || numbered == "no"
}

// get returns the value of the first of the keys that is there.
func (a attributes) get(keys ...string) (string, bool) {
	for _, p := range a.pairs {
		if slices.Contains(keys, p.key) {
			return p.value, true
		}
	}

	return "", false
}

// isID and isClass report whether a name may be given to an element. (Counted
// repetitions of large classes make large regular expressions, which each
// process would compile at its start.)
func isID(s string) bool    { return isName(s, true, ":.-") }
func isClass(s string) bool { return isName(s, false, "-") }

// isName reports whether s is 1 to 100 letters, digits, underscores, and, but for
// the first of them, marks and signs; a digit may be first or not.
func isName(s string, digitFirst bool, signs string) bool {
	n := 0

	for _, r := range s {
		switch {
		case r == '_' || unicode.Is(unicode.L, r):
		case unicode.Is(unicode.N, r) && (n > 0 || digitFirst):
		case n > 0 && (unicode.Is(unicode.M, r) || strings.ContainsRune(signs, r)):
		default:
			return false
		}
		n++
	}

	return n > 0 && n <= 100
}

var (
	langForm = regexp.MustCompile(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}$`)
	sizeForm = regexp.MustCompile(`^([0-9]{1,5}(?:\.[0-9]{1,3})?)(%|px|pt|mm|cm|in|)$`)
)

// cleanID returns an id that may stand in the document, else "". Those of
// footnotes and of the contents are the renderer's own.
func cleanID(id string) string {
	if !isID(id) || strings.HasPrefix(id, "fn:") || strings.HasPrefix(id, "fnref:") || strings.HasPrefix(id, "toc-") {
		return ""
	}

	return id
}

// reservedFamilies are the first words of the class names that mean something
// to the print sheet. A document cannot use them, neither in braces nor in raw
// HTML, so that its "cover" is not laid out as the title page.
func reservedFamilies() []string {
	return []string{
		"alert",
		"chapter",
		"chroma",
		"code",
		"cover",
		"csl",
		"diagram",
		"footnote",
		"footnotes",
		"image",
		"line",
		"math",
		"toc",
		"xref",
	}
}

func reservedClass(name string) bool {
	family, _, _ := strings.Cut(strings.ToLower(name), "-")
	return slices.Contains(reservedFamilies(), family)
}

// cleanPair returns an attribute that elements may carry, its value in HTML's
// terms: lengths become pixels, at 96 to the inch.
func cleanPair(p attribute) (attribute, bool) {
	switch p.key {
	case "width", "height":
		m := sizeForm.FindStringSubmatch(p.value)
		if m == nil {
			return attribute{}, false
		}

		if m[2] == "%" {
			return p, true
		}
		n, _ := strconv.ParseFloat(m[1], 64) // the form allows nothing else
		n *= map[string]float64{"": 1, "px": 1, "pt": 96 / 72., "mm": 96 / 25.4, "cm": 96 / 2.54, "in": 96}[m[2]]

		return attribute{p.key, strconv.Itoa(min(int(n+.5), 99999))}, true
	case "lang":
		return p, langForm.MatchString(p.value)
	case "dir":
		return p, p.value == "ltr" || p.value == "rtl" || p.value == "auto"
	}

	return attribute{}, false
}

// setOn gives a node the attributes that are allowed.
func (a attributes) setOn(n ast.Node) {
	if id := cleanID(a.id); id != "" {
		n.SetAttributeString("id", []byte(id))
	}

	for _, c := range a.classes {
		if isClass(c) && !reservedClass(c) && len(attributeText(n, "class"))+len(c) <= maxClasses {
			addClass(n, c)
		}
	}

	if a.uncounted() {
		addClass(n, unnumbered)
	}

	for _, p := range a.pairs {
		if clean, ok := cleanPair(p); ok {
			n.SetAttributeString(clean.key, []byte(clean.value))
		}
	}
}

// setOnBlock gives a block the attributes that are allowed, and its caption: the title.
func (a attributes) setOnBlock(n ast.Node) {
	a.setOn(n)

	title, ok := a.get("title", "caption")
	if !ok {
		return
	}

	switch n := n.(type) {
	case *ast.FencedCodeBlock:
		n.SetAttributeString(attrTitle, []byte(title))
	case *east.Table:
		if _, ok := n.FirstChild().(*caption); ok {
			return
		}
		c, text := &caption{}, ast.NewString([]byte(html.EscapeString(title)))
		text.SetRaw(true)
		c.AppendChild(c, text)
		n.InsertBefore(n, n.FirstChild(), c)
	case *ast.Paragraph:
		if img, ok := n.FirstChild().(*ast.Image); ok && img.NextSibling() == nil && img.Title == nil {
			img.Title = []byte(title)
		}
	}
}

func addClass(n ast.Node, class string) {
	if had := attributeText(n, "class"); had != "" {
		class = had + " " + class
	}
	n.SetAttributeString("class", []byte(class))
}

func hasClass(n ast.Node, class string) bool {
	return slices.Contains(strings.Fields(attributeText(n, "class")), class)
}

// attributeText returns a node's attribute, "" if it has none.
func attributeText(n ast.Node, name string) string {
	v, _ := n.AttributeString(name)
	text, _ := v.([]byte)

	return string(text)
}

// withoutReservedClasses takes the reserved class names out of raw HTML. It reads
// tags as the sanitiser will, so that no way of writing one hides a name.
func withoutReservedClasses(raw []byte) []byte {
	if !bytes.Contains(bytes.ToLower(raw), []byte("class")) {
		return raw
	}
	var out bytes.Buffer

	for z := html.NewTokenizer(bytes.NewReader(raw)); ; {
		kind := z.Next()
		piece := bytes.Clone(z.Raw()) // the tokenizer writes into its own

		switch kind {
		case html.StartTagToken, html.SelfClosingTagToken:
			piece, _ = freeTag(piece)
		case html.ErrorToken: // the end, perhaps amid a tag, which what follows would complete
			for _, end := range []string{">", "\">", "'>"} {
				if clean, changed := freeTag(append(bytes.Clone(piece), end...)); changed {
					piece = clean
					break
				}
			}
			out.Write(piece)

			return out.Bytes()
		}
		out.Write(piece)
	}
}

// freeTag takes the reserved class names out of one tag.
func freeTag(raw []byte) (tag []byte, changed bool) {
	z := html.NewTokenizer(bytes.NewReader(raw))
	if kind := z.Next(); kind != html.StartTagToken && kind != html.SelfClosingTagToken {
		return raw, false
	}

	raw, token := bytes.Clone(raw), z.Token()
	for i, a := range token.Attr {
		names := strings.Fields(a.Val)
		if kept := slices.DeleteFunc(slices.Clone(names), reservedClass); a.Key == "class" && len(kept) < len(names) {
			token.Attr[i].Val, changed = strings.Join(kept, " "), true
		}
	}

	if !changed {
		return raw, false
	}

	return []byte(token.String()), true
}
