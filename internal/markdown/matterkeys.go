package markdown

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
)

// maxMatterDepth is how deep a value may nest that we read.
const maxMatterDepth = 6

// set takes one pair of the top level. Value gives what stands behind the key,
// in terms of JSON: scalars as they are written where text is wanted.
func (m *Matter) set(key string, line int, value func(text bool) (any, error)) {
	fields := optionFields()

	if dst := m.Deck.field(key); dst != nil {
		// Other programs have other things by these names.
		if v, err := value(true); err == nil {
			*dst, _ = v.(string)
		}

		return
	}

	option, foreign := key, false
	switch key {
	case "myst", "substitutions", "myst_substitutions":
		if v, err := value(true); err == nil {
			m.substitute(v)
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
		if _, known := fields[key]; !known && m.text(key) == nil {
			m.doubt(key, line, fields)
			return
		}
	}

	v, err := value(m.text(option) != nil || option == "keywords" || wantsText(fields[option].Type))
	if v == nil && err == nil || foreign && option != "keywords" && m.Lines[option] > 0 {
		return
	}

	if err == nil {
		err = m.take(key, option, v)
	}

	if err != nil {
		m.warn(line, key+" is ignored: "+err.Error())
		return
	}

	if m.Lines == nil {
		m.Lines = map[string]int{}
	}
	m.Lines[option] = line
}

// substitute takes the substitutions of MyST, or of what is within its key.
func (m *Matter) substitute(v any) {
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

// field is where the value of a key of Marp's is kept.
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

// doubt warns of a key that is no option but looks like a misspelt one.
func (m *Matter) doubt(key string, line int, fields map[string]reflect.StructField) {
	names := []string{"theme"}
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)

	if meant := input.Typo(key, names); meant != "" {
		m.warn(line, fmt.Sprintf("unknown key %q; did you mean %q?", clip(key), meant))
	}
}

// Drop takes back an option, or "theme", that turned out not to be allowed.
func (m *Matter) Drop(name, why string) {
	m.warn(m.Lines[name], name+" is ignored: "+why)
	delete(m.Lines, name)

	if dst := m.text(name); dst != nil {
		*dst = ""
		return
	}
	unset(&m.Options, name)
}

func (m *Matter) warn(line int, why string) {
	m.Warnings = append(
		m.Warnings,
		fault.Warning{Code: fault.FrontMatterIgnored, Line: line, Message: "front matter: " + why},
	)
}

// text is where the value of a key is kept that is none of presswork.Options.
func (m *Matter) text(key string) *string {
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

// take sets what a key stands for.
func (m *Matter) take(key, option string, v any) error {
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
		v = strings.Join(people, ", ")
	case option == "keywords" && !isText:
		v = words(v)
	case key == "css" && isText && !strings.Contains(text, "{"):
		return errors.New("it must be a stylesheet's text, not the name of one")
	}

	object, err := json.Marshal(map[string]any{option: v})
	if err != nil {
		return errors.New("its value cannot be read")
	}
	given, before := m.Options, m.Options.Keywords
	unset(&given, option) // decoding would write into what is there

	if err := input.DecodeJSON(object, &given, ""); err != nil {
		return errors.New(fault.AsError(err).Message)
	}

	if option == "keywords" {
		given.Keywords = joined(before, given.Keywords)
	}
	m.Options = given

	return nil
}

// words are the texts of a value in any form that programs give people and tags:
// a text, a map that has a name, a list of such.
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

func word(v any) string { return strings.Join(words(v), " ") }

// joined is two lists without repeats, in a list of its own.
func joined(a, b presswork.Keywords) (out presswork.Keywords) {
	for _, word := range slices.Concat(a, b) {
		if !slices.Contains(out, word) {
			out = append(out, word)
		}
	}

	return out
}

func unset(o *presswork.Options, name string) {
	if f, ok := optionFields()[name]; ok {
		reflect.ValueOf(o).Elem().FieldByIndex(f.Index).SetZero()
	}
}

func wantsText(t reflect.Type) bool {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}

	return t.Kind() == reflect.String && t != reflect.TypeFor[presswork.PDFALevel]()
}

func optionFields() map[string]reflect.StructField {
	fields := map[string]reflect.StructField{}

	for _, f := range reflect.VisibleFields(reflect.TypeFor[presswork.Options]()) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		fields[name] = f
	}

	return fields
}
