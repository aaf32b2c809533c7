package themes

import (
	"strings"

	"golang.org/x/net/html"
)

// Names is the set of elements, classes, attributes and languages in a page that
// selectors can refer to. It may have more than the page, but never less.
type Names map[string]bool

// rightToLeft is the name of text that runs from right to left, or may do so.
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
	// The elements that a browser adds.
	names := Names{"html": true, "head": true, "body": true, "tbody": true, "colgroup": true}

	z := html.NewTokenizer(strings.NewReader(source))
	for kind := z.Next(); kind != html.ErrorToken; kind = z.Next() {
		if kind == html.TextToken || kind == html.CommentToken || kind == html.DoctypeToken {
			continue
		}
		tag, more := z.TagName()
		names.add(string(tag)) // also for an end tag: </p> alone creates an element
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

// Union returns the names of both sets.
func (n Names) Union(others Names) Names {
	for name, held := range others {
		if held { // false means that rightToLeft is only possible
			n.add(name)
		}
	}

	return n
}

// HasClasses reports whether the set has a class.
func (n Names) HasClasses() bool {
	for name := range n {
		if strings.HasPrefix(name, ".") {
			return true
		}
	}

	return false
}

// HasAttribute reports whether the set has this attribute.
func (n Names) HasAttribute(name string) bool { return n[attributeName(name)] }

// HasClass reports whether the set has this class.
func (n Names) HasClass(class string) bool { return n[className(class)] }
