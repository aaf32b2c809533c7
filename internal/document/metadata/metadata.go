// Package metadata reads the front matter of a document: its options, its theme, and the keys of other programs
// that have the same meaning.
//
// Read sets the FrontMatter from each key in turn. It decodes the value of an option as JSON into presswork.Options, so
// that front matter allows what the API allows. A value that is not allowed becomes a warning, never an error,
// because it may be meant for another program.
package metadata

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/input"
	"presswork/internal/markdown/frontmatter"
)

// FrontMatter is what a document's front matter holds.
type FrontMatter struct {
	// Theme is the theme that the front matter names, or "".
	Theme   string
	Options presswork.Options
	// Subtitle, Date and Abstract are as written. Abstract may be Markdown.
	Subtitle, Date, Abstract string
	// Authors are the authors in the front matter, in its order.
	Authors []Author
	// Fields are all keys, for layouts that have keys of their own.
	Fields []frontmatter.Field
	// Deck is the front matter of Marp, as written.
	Deck Deck
	// Substitutions are those of MyST.
	Substitutions map[string]string
	// Macros are definitions for formulas, in LaTeX. There may be other LaTeX between them.
	Macros string
	// Lines has the 1-based line of each of Options, and of "theme", that is set.
	Lines map[string]int
	// Warnings are about misspelt keys and about values that are not allowed.
	Warnings []fault.Warning
	// Body is the Markdown after the front matter.
	Body []byte
	// BodyLine is the 1-based line of the source on which Body begins.
	BodyLine int
}

// Deck is the front matter of a deck of slides for Marp.
type Deck struct {
	// Marp is "true" in such a deck. The others are as Marp defines them; "" if they are not set.
	Marp, Paginate, Class, Header, Footer, Size string
}

// Read reads the front matter of a document. Its keys are theme, those of presswork.Options and the names that other
// programs use for them; it ignores all other keys. A value that is not allowed is dropped with a warning. Errors:
// FrontMatterInvalid, with the line in its message, if the front matter is not valid YAML or TOML.
func Read(content []byte) (FrontMatter, error) {
	d, err := frontmatter.Read(content)
	if err != nil {
		return FrontMatter{}, err
	}

	m := FrontMatter{Fields: d.Fields, Body: d.Body, BodyLine: d.BodyLine}
	for _, f := range d.Fields {
		m.set(f)
	}
	m.resolveAffiliations(affiliationsIn(d.Fields))

	return m, nil
}

// Values returns all texts of fields. The key of a value in a map is that of the map, a dot and its own.
func Values(fields []frontmatter.Field) map[string]string {
	values := map[string]string{}

	for _, f := range fields {
		if v, err := f.Text(); err == nil {
			addValues(values, f.Key, v)
		}
	}

	return values
}

// addValues adds the texts of v under key, and those of nested maps under "key.name".
func addValues(values map[string]string, key string, v any) {
	switch v := v.(type) {
	case string:
		values[key] = v
	case map[string]any:
		for name, inner := range v {
			addValues(values, key+"."+name, inner)
		}
	}
}

// set takes one field. It warns of a key that looks like a misspelt option, and of a value that is not allowed.
func (m *FrontMatter) set(f frontmatter.Field) {
	fields := optionFields()

	if dst := m.Deck.field(f.Key); dst != nil {
		// Other programs have other values by these names, so a value of another type is no error.
		if v, err := f.Text(); err == nil {
			*dst, _ = v.(string)
		}

		return
	}

	option, foreign := f.Key, false // the option, and whether the key is that of another program
	switch f.Key {
	case "myst", "substitutions", "myst_substitutions":
		if v, err := f.Text(); err == nil {
			m.substitute(v)
		}

		return
	case "macros", "math", "katex", "mathjax", "header-includes", "include-in-header":
		// The keys math, katex and mathjax may also be switches; only a map defines macros.
		if v, err := f.Text(); err == nil && (f.Key != "math" && f.Key != "mathjax" && f.Key != "katex" || isMap(v)) {
			m.define(v)
		}

		return
	case "authors":
		option, foreign = "author", true
	case "tags", "taxonomies":
		option, foreign = "keywords", true
	case "language":
		option, foreign = "lang", true
	case "description":
		option, foreign = "subject", true
	default:
		if _, known := fields[f.Key]; !known && m.text(f.Key) == nil {
			m.warnOfTypo(f, fields)
			return
		}
	}

	value := f.Value
	if m.text(option) != nil || option == "keywords" || wantsText(fields[option].Type) {
		value = f.Text
	}

	v, err := value()
	// A value in the form of another program does not replace one in our own form, except keywords.
	if v == nil && err == nil || foreign && option != "keywords" && m.Lines[option] > 0 {
		return
	}

	if err == nil {
		err = m.take(f.Key, option, v)
	}

	if err != nil {
		m.warn(f.Line, f.Key+" is ignored: "+err.Error())
		return
	}

	if m.Lines == nil {
		m.Lines = map[string]int{}
	}
	m.Lines[option] = f.Line
}

// isMap reports whether a value of front matter is a map.
func isMap(v any) bool {
	_, ok := v.(map[string]any)
	return ok
}

// substitute takes the substitutions of MyST: a map of texts by name, or a map that has it as "substitutions".
func (m *FrontMatter) substitute(v any) {
	object, _ := v.(map[string]any)
	if inner, ok := object["substitutions"].(map[string]any); ok {
		object = inner
	}

	for name, text := range object {
		if text, ok := text.(string); ok {
			if m.Substitutions == nil {
				m.Substitutions = map[string]string{}
			}
			m.Substitutions[name] = text
		}
	}
}

// field returns the field for one of Marp's keys, or nil for another key.
func (d *Deck) field(key string) *string {
	switch key {
	case "marp":
		return &d.Marp
	case "paginate":
		return &d.Paginate
	case "class":
		return &d.Class
	case "header":
		return &d.Header
	case "footer":
		return &d.Footer
	case "size":
		return &d.Size
	}

	return nil
}

// warnOfTypo warns of a key that looks like a misspelt option.
func (m *FrontMatter) warnOfTypo(f frontmatter.Field, fields map[string]reflect.StructField) {
	names := []string{"theme"}
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)

	if meant := input.Typo(f.Key, names); meant != "" {
		m.warn(f.Line, fmt.Sprintf("unknown key %q; did you mean %q?", input.Short(f.Key), meant))
	}
}

// Drop unsets an option, or "theme", that is not allowed, and adds a warning that says why.
func (m *FrontMatter) Drop(name, why string) {
	m.warn(m.Lines[name], name+" is ignored: "+why)
	delete(m.Lines, name)

	if dst := m.text(name); dst != nil {
		*dst = ""
		return
	}
	unset(&m.Options, name)
}

// warn adds a warning about a line of the front matter.
func (m *FrontMatter) warn(line int, why string) {
	w := fault.Warning{Code: fault.FrontMatterIgnored, Line: line, Message: "front matter: " + why}
	m.Warnings = append(m.Warnings, w)
}

// text returns the field for the text of a key that is not one of presswork.Options, or nil for another key.
func (m *FrontMatter) text(key string) *string {
	switch key {
	case "theme":
		return &m.Theme
	case "subtitle":
		return &m.Subtitle
	case "date":
		return &m.Date
	case "abstract":
		return &m.Abstract
	}

	return nil
}

// take sets an option from the value of a key. The error says what is wrong with the value.
func (m *FrontMatter) take(key, option string, v any) error {
	text, isText := v.(string)

	text = strings.TrimSpace(text)
	switch dst := m.text(option); {
	case dst != nil && !isText:
		return fmt.Errorf("%s must be a string", key)
	case dst != nil:
		*dst = text
		return nil
	case key == "taxonomies": // of Zola
		groups, _ := v.(map[string]any)
		v = words(groups["tags"])
	case option == "author":
		people := words(v)
		if len(people) == 0 {
			return errors.New("it must be a name, or a list of names or of maps with a name")
		}
		m.takeAuthors(v)
		v, _ = withoutNote(strings.Join(people, ", "))
	case option == "keywords" && !isText:
		v = words(v)
	case key == "css" && isText && !strings.Contains(text, "{"):
		return errors.New("it must be a stylesheet's text, not the name of one")
	}

	object, err := json.Marshal(map[string]any{option: v})
	if err != nil { // JSON has no such numbers
		return errors.New("it must not contain nan or inf")
	}
	given, before := m.Options, m.Options.Keywords
	unset(&given, option) // decoding would change the value that m.Options shares with given

	if err := input.DecodeJSON(object, &given, ""); err != nil {
		return errors.New(fault.AsError(err).Message)
	}

	if option == "keywords" {
		given.Keywords = joined(before, given.Keywords)
	}
	m.Options = given

	return nil
}

// words returns the texts of a value that is a text, a map with a name, or a list of these. Programs use all three
// for people and tags.
func words(v any) (out []string) {
	switch v := v.(type) {
	case string:
		if v = strings.TrimSpace(v); v != "" {
			out = append(out, v)
		}
	case []any:
		for _, item := range v {
			out = append(out, words(item)...)
		}
	case map[string]any:
		for _, key := range []string{"name", "literal", "label", "title"} {
			if name := words(v[key]); len(name) > 0 {
				return name
			}
		}
		given, family := cmp.Or(word(v["given"]), word(v["first"])), cmp.Or(word(v["family"]), word(v["last"]))

		return words(given + " " + family)
	}

	return out
}

// word returns the texts of a value on one line.
func word(v any) string { return strings.Join(words(v), " ") }

// joined returns a new list with the keywords of two lists, each once.
func joined(a, b presswork.Keywords) (out presswork.Keywords) {
	for _, word := range slices.Concat(a, b) {
		if !slices.Contains(out, word) {
			out = append(out, word)
		}
	}

	return out
}

// unset sets the option with this JSON name to its zero value.
func unset(o *presswork.Options, name string) {
	if f, ok := optionFields()[name]; ok {
		reflect.ValueOf(o).Elem().FieldByIndex(f.Index).SetZero()
	}
}

// wantsText reports whether an option of this type is a text.
func wantsText(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}

	return t.Kind() == reflect.String && t != reflect.TypeFor[presswork.PDFALevel]()
}

// optionFields returns the fields of presswork.Options by their JSON names.
func optionFields() map[string]reflect.StructField {
	fields := map[string]reflect.StructField{}

	for _, f := range reflect.VisibleFields(reflect.TypeFor[presswork.Options]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields[name] = f
	}

	return fields
}
