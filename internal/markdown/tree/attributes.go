package tree

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"golang.org/x/net/html"

	"presswork/internal/lazyregexp"
)

const (
	// MaxBraces is the longest text of {attributes}, in bytes.
	MaxBraces = 1000
	// maxClasses bounds the class names of one element together, in bytes. An element may have any number of braces.
	// The sanitiser drops a class attribute of more than 200 characters.
	maxClasses = 140
)

// Attributes are the content of braces: {.class #id key=value}. They are not checked yet: SetOn does that.
type Attributes struct {
	// ID is the last #id, "" for none.
	ID      string
	Classes []string
	// Pairs are the key=value items except id and class, in order.
	Pairs []Attribute
	// Words are all other items, such as the 3,5-7 of a code block. "-" is Pandoc's short
	// form of .unnumbered.
	Words []string
}

// Attribute is one key=value. ReadItem converts the key to lower case.
type Attribute struct{ Key, Value string }

// ReadAttributes reads attributes in braces at the start of a line. It returns their length in bytes, 0 if there are
// none or the line has no closing brace within MaxBraces.
func ReadAttributes(line []byte) (a Attributes, size int) {
	if len(line) < 3 || line[0] != '{' {
		return Attributes{}, 0
	}
	line = line[:min(len(line), MaxBraces)]

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
			return Attributes{}, 0
		default:
			n, ok := a.ReadItem(line[i:])
			if !ok {
				return Attributes{}, 0
			}
			i += n
		}
	}

	return Attributes{}, 0
}

// ReadItem reads the item at the start of text, such as .class or key="value", and adds it. It returns the item's
// length. ok is false if text begins with no item.
func (a *Attributes) ReadItem(text []byte) (size int, ok bool) {
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
			a.ID = word[1:]
		case word[0] == '.' && len(word) > 1:
			a.Classes = append(a.Classes, strings.FieldsFunc(word, func(r rune) bool { return r == '.' })...)
		default:
			a.Words = append(a.Words, word)
		}

		return end, true
	}

	value, n, ok := ReadValue(text[end+1:])
	if !ok || word == "" {
		return 0, false
	}

	switch key := strings.ToLower(word); key {
	case "id":
		a.ID = value
	case "class":
		a.Classes = append(a.Classes, strings.Fields(value)...)
	default:
		a.Pairs = append(a.Pairs, Attribute{key, value})
	}

	return end + 1 + n, true
}

// ReadValue reads the value at the start of text: in quotes, in brackets, or up to the next space. It returns the
// value without its quotes, and its length with them. A value does not extend beyond its line.
func ReadValue(text []byte) (value string, size int, ok bool) {
	if len(text) == 0 {
		return "", 0, false
	}

	if closing := map[byte]byte{'"': '"', '\'': '\'', '[': ']'}[text[0]]; closing != 0 {
		end := bytes.IndexByte(text[1:], closing)
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

// Effective reports whether one of the attributes has an effect. If none has, the braces stay text.
func (a Attributes) Effective() bool {
	return a.ID != "" || len(a.Classes) > 0 || a.unnumbered() ||
		slices.ContainsFunc(a.Pairs, func(p Attribute) bool { _, ok := CleanPair(p); return ok })
}

// unnumbered reports whether the attributes turn off the number of a heading: "-" in Pandoc, numbered="false" in
// kramdown-rfc.
func (a Attributes) unnumbered() bool {
	numbered, _ := a.Get("numbered")
	return slices.Contains(a.Words, "-") || numbered == "false" || numbered == "no"
}

// Get returns the value of the first pair whose key is one of keys.
func (a Attributes) Get(keys ...string) (string, bool) {
	for _, p := range a.Pairs {
		if slices.Contains(keys, p.Key) {
			return p.Value, true
		}
	}

	return "", false
}

// IsID reports whether s may be the id of an element. It uses no regular expression, because counted repetitions of
// large classes are slow to compile.
func IsID(s string) bool { return IsName(s, true, ":.-") }

// isClass reports whether s may be a class of an element.
func isClass(s string) bool { return IsName(s, false, "-") }

// IsName reports whether s consists of 1 to 100 letters, digits and underscores. After the first character, combining
// marks and the characters of signs are also allowed. Only with digitFirst set may the first character be a digit.
func IsName(s string, digitFirst bool, signs string) bool {
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
	// langForm matches a language tag, sizeForm a length or a percentage.
	langForm = lazyregexp.New(`^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}$`)
	sizeForm = lazyregexp.New(`^([0-9]{1,5}(?:\.[0-9]{1,3})?)(%|px|pt|mm|cm|in|)$`)
)

// CleanID returns id if the document may use it, else "". The ids of footnotes and of
// the table of contents are reserved.
func CleanID(id string) string {
	if !IsID(id) || strings.HasPrefix(id, "fn:") || strings.HasPrefix(id, "fnref:") || strings.HasPrefix(id, "toc-") {
		return ""
	}

	return id
}

// reservedFamilies returns the first words of the class names that the print style sheet uses. A document cannot use
// such classes, neither in braces nor in raw HTML, so that its "cover" is not laid out as the title page.
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

// isReserved reports whether documents cannot use a class.
func isReserved(name string) bool {
	family, _, _ := strings.Cut(strings.ToLower(name), "-")
	return slices.Contains(reservedFamilies(), family)
}

// CleanPair returns p as an HTML attribute. Lengths become whole CSS pixels, 96 to the inch. It returns false for an
// attribute or value that is not allowed.
func CleanPair(p Attribute) (Attribute, bool) {
	switch p.Key {
	case "width", "height":
		m := sizeForm().FindStringSubmatch(p.Value)
		if m == nil {
			return Attribute{}, false
		}

		if m[2] == "%" {
			return p, true
		}
		n, _ := strconv.ParseFloat(m[1], 64) // sizeForm matches valid numbers only
		n *= map[string]float64{"": 1, "px": 1, "pt": 96 / 72., "mm": 96 / 25.4, "cm": 96 / 2.54, "in": 96}[m[2]]

		return Attribute{p.Key, strconv.Itoa(min(int(n+.5), 99999))}, true
	case "lang":
		return p, langForm().MatchString(p.Value)
	case "dir":
		return p, p.Value == "ltr" || p.Value == "rtl" || p.Value == "auto"
	}

	return Attribute{}, false
}

// WhenFormat and UnlessFormat are the attributes of Quarto's conditional content. SetOn sets them for
// quarto.DropHidden; the sanitiser removes them.
const (
	WhenFormat   = "when-format"
	UnlessFormat = "unless-format"
)

// SetOn sets the allowed attributes on a node. Reserved ids and classes, and unknown attributes, are ignored.
func (a Attributes) SetOn(n ast.Node) {
	if id := CleanID(a.ID); id != "" {
		n.SetAttributeString("id", []byte(id))
	}

	for _, c := range a.Classes {
		if isClass(c) && !isReserved(c) && len(AttributeText(n, "class"))+len(c) <= maxClasses {
			AddClass(n, c)
		}
	}

	if a.unnumbered() {
		AddClass(n, Unnumbered)
	}

	for _, p := range a.Pairs {
		if p.Key == WhenFormat || p.Key == UnlessFormat {
			n.SetAttributeString(p.Key, []byte(p.Value))
		}

		if clean, ok := CleanPair(p); ok {
			n.SetAttributeString(clean.Key, []byte(clean.Value))
		}
	}
}

// SetOnBlock sets the allowed attributes on a block. It also makes the attribute title or caption the caption of a code
// block, a table or an image.
func (a Attributes) SetOnBlock(n ast.Node) {
	a.SetOn(n)

	title, ok := a.Get("title", "caption")
	if !ok {
		return
	}

	switch n := n.(type) {
	case *ast.FencedCodeBlock:
		n.SetAttributeString(TitleAttribute, []byte(title))
	case *east.Table:
		if _, ok := n.FirstChild().(*Caption); ok {
			return
		}
		c, text := &Caption{}, ast.NewString([]byte(html.EscapeString(title)))
		text.SetRaw(true)
		c.AppendChild(c, text)
		n.InsertBefore(n, n.FirstChild(), c)
	case *ast.Paragraph:
		if img, ok := n.FirstChild().(*ast.Image); ok && img.NextSibling() == nil && img.Title == nil {
			img.Title = []byte(title)
		}
	}
}

// AddClass adds a class to a node, which may be several names with spaces between them.
func AddClass(n ast.Node, class string) {
	if had := AttributeText(n, "class"); had != "" {
		class = had + " " + class
	}
	n.SetAttributeString("class", []byte(class))
}

// HasClass reports whether a node has a class.
func HasClass(n ast.Node, class string) bool {
	return slices.Contains(strings.Fields(AttributeText(n, "class")), class)
}

// AttributeText returns an attribute of a node, "" without one.
func AttributeText(n ast.Node, name string) string {
	v, _ := n.AttributeString(name)
	text, _ := v.([]byte)

	return string(text)
}

// StripReservedClasses returns raw HTML without the reserved class names. It reads tags with the tokenizer of the
// sanitiser, so that no spelling hides a name. It may return raw itself.
func StripReservedClasses(raw []byte) []byte {
	if !bytes.Contains(bytes.ToLower(raw), []byte("class")) {
		return raw
	}
	var out bytes.Buffer

	for z := html.NewTokenizer(bytes.NewReader(raw)); ; {
		kind := z.Next()
		piece := bytes.Clone(z.Raw()) // the tokenizer reuses the array of Raw

		switch kind {
		case html.StartTagToken, html.SelfClosingTagToken:
			piece, _ = stripTag(piece)
		// The end, perhaps within a tag. Text after the raw HTML could complete that tag, with or without an open quote.
		case html.ErrorToken:
			for _, end := range []string{">", "\">", "'>"} {
				if clean, changed := stripTag(append(bytes.Clone(piece), end...)); changed {
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

// stripTag returns one tag without the reserved class names, and whether it had any.
func stripTag(raw []byte) (tag []byte, changed bool) {
	z := html.NewTokenizer(bytes.NewReader(raw))
	if kind := z.Next(); kind != html.StartTagToken && kind != html.SelfClosingTagToken {
		return raw, false
	}

	raw, token := bytes.Clone(raw), z.Token()
	for i, a := range token.Attr {
		names := strings.Fields(a.Val)
		if kept := slices.DeleteFunc(slices.Clone(names), isReserved); a.Key == "class" && len(kept) < len(names) {
			token.Attr[i].Val, changed = strings.Join(kept, " "), true
		}
	}

	if !changed {
		return raw, false
	}

	return []byte(token.String()), true
}

// Unnumbered is the class of a heading without a number.
const Unnumbered = "unnumbered"

// TitleAttribute is the attribute of a code block that holds the title from its braces.
const TitleAttribute = "code-title"
