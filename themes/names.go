package themes

import (
	"strings"

	"golang.org/x/net/html"
)

// Names are what a page holds that a selector can ask for: elements, classes,
// attributes and languages. A page may hold less than its Names, never more.
type Names map[string]bool

// rightToLeft is the name of whatever runs from right to left, or may.
const rightToLeft = ":dir(rtl)"

func elementName(tag string) string         { return strings.ToLower(tag) }
func className(class string) string         { return "." + class }
func attributeName(attribute string) string { return "[" + strings.ToLower(attribute) }

// languageName returns the name of a language's primary subtag: :lang(zh) also matches zh-TW.
func languageName(tag string) string {
	primary, _, _ := strings.Cut(strings.ToLower(tag), "-")
	return ":lang(" + primary + ")"
}

// NamesIn reads the names of a piece of HTML.
func NamesIn(source string) Names {
	// Those that a browser adds of its own accord.
	names := Names{"html": true, "head": true, "body": true, "tbody": true, "colgroup": true}

	z := html.NewTokenizer(strings.NewReader(source))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		if kind == html.TextToken || kind == html.CommentToken || kind == html.DoctypeToken {
			continue
		}
		tag, more := z.TagName()
		names.add(string(tag)) // of an end tag as well: </p> alone makes an element
		names[rightToLeft] = names[rightToLeft] || string(tag) == "bdi"

		for more {
			var key, value []byte

			key, value, more = z.TagAttr()
			switch string(key) {
			case "class":
				for class := range strings.FieldsSeq(string(value)) {
					names.add(className(class))
				}
			case "lang", "xml:lang":
				names.add(languageName(string(value)))
			case "dir":
				names[rightToLeft] = names[rightToLeft] || !strings.EqualFold(string(value), "ltr")
			}
			names.add(attributeName(string(key)))
		}
	}

	return names
}

func (n Names) add(name string) {
	if !n[name] {
		n[name] = true
	}
}

// With are these names and others.
func (n Names) With(others Names) Names {
	for name, held := range others {
		if held { // false is what right to left may be
			n.add(name)
		}
	}

	return n
}

// AnyClass reports whether there is a class among them.
func (n Names) AnyClass() bool {
	for name := range n {
		if strings.HasPrefix(name, ".") {
			return true
		}
	}

	return false
}

// Attribute reports whether an attribute is among them.
func (n Names) Attribute(name string) bool { return n[attributeName(name)] }

// Class reports whether a class is among them.
func (n Names) Class(class string) bool { return n[className(class)] }
