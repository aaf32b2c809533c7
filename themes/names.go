package themes

import (
	"maps"
	"strings"

	"golang.org/x/net/html"
)

// Names is the set of elements, classes, attributes and languages in a page that selectors can refer to. It may have
// more names than the page, but never fewer: a missing name removes rules. All values are true.
type Names map[string]bool

// rightToLeft is the name of text that is read from right to left, or may be.
const rightToLeft = ":dir(rtl)"

// The prefix of a name distinguishes the kinds.
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

		if string(tag) == "bdi" {
			names.add(rightToLeft)
		}

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
				if !strings.EqualFold(string(value), "ltr") { // "auto" may be from right to left
					names.add(rightToLeft)
				}
			}
			names.add(attributeName(string(key)))
		}
	}

	return names
}

// add adds a name.
func (n Names) add(name string) { n[name] = true }

// Union adds the names of another set to n and returns n.
func (n Names) Union(others Names) Names {
	maps.Copy(n, others)
	return n
}

// HasClasses reports whether the set has any class.
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
