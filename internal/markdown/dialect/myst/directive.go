package myst

import (
	"slices"
	"strings"
)

// maxOption is the size of an option in bytes after which further lines are dropped. Each line copies the option, so a
// longer one would take quadratic time.
const maxOption = 16 << 10

// directive is a block of MyST (https://mystmd.org/spec/directives):
//
//	```{name} argument
//	:option: value
//
//	Content.
//	```
type directive struct {
	sourceLine // the first line
	// before is the text before the fence: indentation, and the markers of quotes and list items.
	before, fence, name, argument string
	options                       map[string]string // by name
	body                          []sourceLine      // the lines between the options and the closing fence
}

// sourceLine is a line of the document without its line end, and its number from 0.
type sourceLine struct {
	text   string
	number int
}

// newDirective returns a directive. line is its first line, head the submatches of directiveHead in that line, and body
// the lines within its fence. label is its label unless its options set one.
func newDirective(line sourceLine, head []string, body []sourceLine, label string) *directive {
	n := &directive{
		sourceLine: line,
		before:     head[1],
		fence:      head[2],
		name:       head[3],
		argument:   strings.TrimSpace(head[4]),
		body:       body,
	}
	n.readOptions()

	if n.label() == "" {
		n.options["name"] = label
	}

	return n
}

// readOptions moves the options from the start of the body to the map. They are lines of :key: value, or YAML between
// two lines of ---.
func (n *directive) readOptions() {
	n.options = map[string]string{}
	yaml := len(n.body) > 0 && strings.TrimSpace(n.body[0].text) == "---"

	form, i, last := directiveOption(), 0, "" // last is the name of the option that a line may continue
	if yaml {
		form, i = directiveYAML(), 1
	}

	for ; i < len(n.body); i++ {
		text := strings.TrimLeft(n.body[i].text, " \t>")
		if yaml && strings.TrimSpace(text) == "---" {
			i++
			break
		}

		m := form.FindStringSubmatch(text)
		switch {
		case m != nil:
			last = m[1]
			n.options[last] = unquoted(strings.TrimSpace(m[2]))
		// The value of an option continues: in YAML on every line, otherwise on indented lines.
		case yaml || last != "" && text != "" &&
			strings.HasPrefix(strings.TrimPrefix(n.body[i].text, blanked(n.before)), " "):
			if len(n.options[last]) > maxOption {
				continue
			}
			item := strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(text), "- "))
			n.options[last] = strings.TrimLeft(strings.TrimSpace(n.options[last]+" "+item), "|> ")
		default:
			n.body = n.body[i:]
			return
		}
	}
	n.body = n.body[i:]
}

// unquoted returns a value without the quotation marks around it.
func unquoted(s string) string {
	if n := len(s); n > 1 && s[0] == s[n-1] && (s[0] == '"' || s[0] == '\'') && strings.Count(s, s[:1]) == 2 {
		return s[1 : n-1]
	}

	return s
}

// option returns the first of the options that has a value, "" for none.
func (n *directive) option(names ...string) string {
	for _, name := range names {
		if value := n.options[name]; value != "" {
			return value
		}
	}

	return ""
}

// label returns the label of a directive, "" for none.
func (n *directive) label() string { return n.option("name", "label") }

// isEmpty reports whether the body has no text.
func (n *directive) isEmpty() bool {
	return !slices.ContainsFunc(n.body, func(l sourceLine) bool { return strings.Trim(l.text, " \t>") != "" })
}

// blanked returns the indentation of the lines after the first one, for the text before a fence. It has spaces in place
// of the markers of list items, and keeps those of quotes.
func blanked(before string) string {
	return strings.Map(func(c rune) rune {
		if c == '\t' || c == '>' {
			return c
		}

		return ' '
	}, before)
}

// closes reports whether a line closes a fence.
func closes(line, fence string) bool {
	rest, ok := strings.CutPrefix(strings.TrimLeft(line, " \t>"), fence)
	return ok && strings.Trim(rest, fence[:1]+" \t") == ""
}

// directiveEnd returns the index of the line that ends the directive of line at. That is its closing fence, or the
// first line outside of its list item or quote. It returns len(lines) if the directive has no end.
func directiveEnd(lines []sourceLine, at int, before, fence string) int {
	depth := 0 // the number of open directives within it whose fence has the same number of colons

	for i := at + 1; i < len(lines); i++ {
		text := lines[i].text

		inner := strings.TrimLeft(text, " \t>")
		switch {
		case inner == "":
		case len(text)-len(inner) < len(before) && strings.TrimSpace(before) != "":
			return i
		case inner[0] != fence[0]:
		case closes(text, fence):
			if depth == 0 {
				return i
			}
			depth--
		case fence[0] == ':' && strings.HasPrefix(inner, fence) &&
			strings.HasPrefix(strings.TrimLeft(inner, ": \t"), "{"):
			depth++
		}
	}

	return len(lines)
}
