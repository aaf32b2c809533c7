package layout

import (
	"fmt"
	"strings"

	"presswork/internal/document/markup"
	"presswork/internal/document/sheet"
	"presswork/internal/fault"
	"presswork/internal/markdown/frontmatter"
)

// Input is the data from which a layout makes its parts.
type Input struct {
	// Fields are those of the front matter.
	Fields []frontmatter.Field
	// Title, Author and Date are printed as they are, "" for none. Title is that of the document. Only an untitled
	// layout prints it.
	Title, Author, Date string
	// Lang is the language of the document.
	Lang string
	// Sheet is the paper.
	Sheet sheet.Sheet
}

// Parts are the parts of a document that a layout makes.
type Parts struct {
	// Head is HTML below the title or above the text, Foot HTML below the text.
	Head, Foot string
	// PageCSS are @page rules of the layout.
	PageCSS string
	// Beside is the share of the page's width that a column of the head takes next to the text, 0 for none.
	Beside float64
	// Warnings are about fields of a wrong type.
	Warnings []fault.Warning
}

// builder makes the parts. Each layout has a function that reads fields and writes to head and foot.
type builder struct {
	Input

	head, foot markup.Writer
	fields     map[string]frontmatter.Field // the front matter by plainKey
	parts      Parts
}

// Parts makes the parts of a document. A field that is missing is left out, as is one of a wrong type, with a
// warning.
func (l Layout) Parts(in Input) Parts {
	if l.build == nil {
		return Parts{}
	}

	b := builder{Input: in, fields: byKey(in.Fields)}
	l.build(&b)
	b.parts.Head, b.parts.Foot = b.head.String(), b.foot.String()

	return b.parts
}

// Title returns the title that a layout reads from its own fields, "" for none.
func (l Layout) Title(fields []frontmatter.Field) string {
	b := builder{fields: byKey(fields)}
	return b.text(l.title...)
}

// byKey returns fields by their plainKey. Of several fields with one key, the first counts.
func byKey(fields []frontmatter.Field) map[string]frontmatter.Field {
	found := map[string]frontmatter.Field{}

	for _, f := range fields {
		if key := plainKey(f.Key); found[key].Key == "" {
			found[key] = f
		}
	}

	return found
}

// plainKey returns a key in lower case without "-" and "_", so that prepTime, prep_time and prep-time are the same.
func plainKey(key string) string {
	return strings.NewReplacer("-", "", "_", "").Replace(strings.ToLower(key))
}

// value returns the value of the first of some fields that is set.
func (b *builder) value(keys []string) (any, frontmatter.Field) {
	for _, key := range keys {
		f, set := b.fields[plainKey(key)]
		if !set {
			continue
		}

		if v, err := f.Text(); err == nil && v != nil {
			return v, f
		}
	}

	return nil, frontmatter.Field{}
}

// text returns the text of the first of some fields that is set. It warns of a value that is neither a text nor a
// number.
func (b *builder) text(keys ...string) string {
	v, f := b.value(keys)

	text, ok := v.(string)
	if v != nil && !ok {
		b.warn(f, "allowed is a text or a number")
	}

	return strings.TrimSpace(text)
}

// entries returns the entries of the first of some fields that is set. It warns of a value without entries.
func (b *builder) entries(keys ...string) []entry {
	v, f := b.value(keys)
	list := entriesOf(v)

	if v != nil && len(list) == 0 {
		b.warn(f, "allowed is a text, a map, or a list of these")
	}

	return list
}

// warn adds the warning that a field is ignored.
func (b *builder) warn(f frontmatter.Field, allowed string) {
	b.parts.Warnings = append(b.parts.Warnings, fault.Warning{
		Code: fault.FrontMatterIgnored, Line: f.Line,
		Message: fmt.Sprintf("front matter: %s is ignored: %s", f.Key, allowed),
	})
}

// entry is a text, or a map of values by plain keys. raw is the map as it was written, with its own keys.
type entry struct {
	text      string
	more, raw map[string]any
}

// entriesOf returns the lines of a text, a map, or the entries of a list.
func entriesOf(v any) (list []entry) {
	switch v := v.(type) {
	case string:
		for line := range strings.Lines(v) {
			if line = strings.TrimSpace(line); line != "" {
				list = append(list, entry{text: line})
			}
		}
	case map[string]any:
		e := entry{more: map[string]any{}, raw: v}
		for key, value := range v {
			e.more[plainKey(key)] = value
		}
		list = append(list, e)
	case []any:
		for _, item := range v {
			if text, ok := item.(string); ok {
				list = append(list, entry{text: strings.Join(strings.Fields(text), " ")})
			} else {
				list = append(list, entriesOf(item)...)
			}
		}
	}

	return list
}

// get returns the text of the first of some keys that has one.
func (e entry) get(keys ...string) string {
	for _, key := range keys {
		if text, ok := e.more[plainKey(key)].(string); ok && strings.TrimSpace(text) != "" {
			return strings.TrimSpace(text)
		}
	}

	return ""
}

// list returns the entries of the first of some keys that has any.
func (e entry) list(keys ...string) []entry {
	for _, key := range keys {
		if list := entriesOf(e.more[plainKey(key)]); len(list) > 0 {
			return list
		}
	}

	return nil
}

// name returns the text of an entry, or the first of some keys.
func (e entry) name(keys ...string) string {
	if e.text != "" {
		return e.text
	}

	return e.get(keys...)
}

// names returns the texts of entries, each by its first key that has one. Those without a text are left out.
func names(list []entry, keys ...string) (out []string) {
	for _, e := range list {
		if name := e.name(keys...); name != "" {
			out = append(out, name)
		}
	}

	return out
}

// joined returns the texts that are not empty, with a separator between them.
func joined(separator string, texts ...string) string {
	var set []string

	for _, text := range texts {
		if text != "" {
			set = append(set, text)
		}
	}

	return strings.Join(set, separator)
}
