package component

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"presswork/internal/markdown/admonition"
	"presswork/internal/markdown/tree"
)

// mdxComponent is a tag of a component.
type mdxComponent struct {
	name       string
	attributes map[string]string
	// shuts reports whether the tag is a closing tag.
	shuts bool
	// empty reports whether the tag ends with "/>".
	empty bool
}

// readComponent reads a tag. The name is "" if it is not the tag of a component.
func readComponent(tag []byte) mdxComponent {
	c := mdxComponent{
		attributes: map[string]string{},
		shuts:      bytes.HasPrefix(tag, []byte("</")),
		empty:      bytes.HasSuffix(tag, []byte("/>")),
	}
	if m := componentTag().FindSubmatch(tag); m != nil {
		c.name = string(m[1])
	}
	z := html.NewTokenizer(bytes.NewReader(tag))
	z.Next()

	for _, a := range z.Token().Attr {
		c.attributes[a.Key] = strings.TrimSpace(a.Val)
	}

	return c
}

// look returns the look of a component that is an admonition, as tree.Alert has it, "" for any other.
func (c mdxComponent) look() string {
	name := strings.ToLower(c.name)
	switch name {
	case "callout", "admonition", "aside", "alert", "message", "hint", "banner":
		for _, key := range []string{"type", "variant", "kind", "severity", "intent", "status"} {
			if look := admonition.KindOf(strings.ToLower(c.attributes[key])); look != "" {
				return look
			}
		}

		return "note"
	case "details", "quote", "cite", "example", "question", "summary", "abstract": // not admonitions in MDX
		return ""
	}

	return admonition.KindOf(name)
}

// text returns the texts and the picture in the attributes of a component as HTML, "" if there are none. block reports
// whether the HTML may have blocks.
func (c mdxComponent) text(block bool) string {
	const most = 2000 // bytes of an attribute that is printed
	name := strings.ToLower(c.name)
	first := func(keys ...string) string {
		for _, key := range keys {
			if text := c.attributes[key]; text != "" && len(text) <= most {
				return html.EscapeString(text)
			}
		}

		return ""
	}

	if c.shuts || slices.Contains([]string{"a", "link", "abbr", "icon", "img", "iframe"}, name) {
		return ""
	}

	types := []string{".png", ".jpg", ".jpeg", ".gif", ".svg", ".webp", ".avif"}
	if source := c.attributes["src"]; slices.Contains(types, strings.ToLower(path.Ext(source))) {
		picture := `<img src="` + html.EscapeString(source) + `" alt="` + first("alt", "title", "caption") + `">`
		if caption := first("caption", "title"); caption != "" && block {
			return "<figure>" + picture + "<figcaption>" + caption + "</figcaption></figure>"
		}

		return picture
	}

	title := first("title", "label", "header", "heading", "summary", "caption", "question")
	switch {
	case title != "":
	case name == "tabitem":
		title = first("value")
	case strings.HasSuffix(name, "field"): // a parameter of an API, such as ParamField
		title = first("name", "path", "query", "body")
	}

	more := first("description", "subtitle", "text", "alt", "answer")
	switch {
	case title == "" && more == "":
		return ""
	case !block && title == "":
		return more
	case !block:
		return "<strong>" + title + "</strong> " + more
	case title == "":
		return "\n<p>" + more + "</p>"
	case more == "":
		return "\n<p><strong>" + title + "</strong></p>"
	}

	return "\n<p><strong>" + title + "</strong></p>\n<p>" + more + "</p>"
}

// alert returns the alert for a component that is an admonition, nil for any other.
func (c mdxComponent) alert() *tree.Alert {
	look := c.look()
	if look == "" || c.shuts || c.empty {
		return nil
	}
	title := c.attributes["title"]

	return &tree.Alert{Look: look, Name: strings.ToLower(c.name), Title: title, Titled: title != ""}
}
