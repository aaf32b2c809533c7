package guide

import (
	"fmt"
	"slices"
	"strings"
)

// maxDepth bounds the fields within fields that a page shows.
const maxDepth = 4

// field is a parameter or a member of a body.
type field struct {
	Name, Type, Description string
	Required                bool
	// Allowed are the values of an enumeration, Default is the default; both as in JSON.
	Allowed []string
	Default string
	Fields  []field
}

// fields returns the members of an object, or of the objects in a list, down to depth levels.
func (d *description) fields(schema any, depth int) []field {
	s := d.resolve(schema)
	if s == nil || depth == 0 {
		return nil
	}

	var all []field

	for _, part := range s.list("allOf") {
		all = append(all, d.fields(part, depth)...)
	}
	required := s.list("required")

	for _, p := range s.object("properties") {
		f := d.field(fmt.Sprint(p.Key), p.Value, depth)
		f.Required = slices.Contains(required, any(f.Name))
		all = append(all, f)
	}

	if items := s.get("items"); items != nil && len(all) == 0 {
		return d.fields(items, depth)
	}

	return all
}

// field reads a schema as a field of that name, with its own fields down to depth levels.
func (d *description) field(name string, schema any, depth int) field {
	s := d.resolve(schema)
	f := field{
		Name:        name,
		Type:        d.typeName(schema),
		Description: s.text("description"),
		Fields:      d.fields(schema, depth-1),
	}

	for _, value := range s.list("enum") {
		f.Allowed = append(f.Allowed, fmt.Sprint(value))
	}

	if value := s.get("default"); value != nil {
		f.Default = fmt.Sprint(value)
	}

	return f
}

// typeName returns the type of a schema in words, such as "list of strings" or "integer, 1 to 100".
func (d *description) typeName(schema any) string {
	s := d.resolve(schema)

	for _, choice := range []string{"oneOf", "anyOf"} {
		if options := s.list(choice); options != nil {
			names := make([]string, 0, len(options))
			for _, option := range options {
				if name := d.typeName(option); !slices.Contains(names, name) {
					names = append(names, name)
				}
			}

			return strings.Join(names, " or ")
		}
	}

	if s.get("const") != nil {
		return fmt.Sprintf("%q", fmt.Sprint(s.get("const")))
	}

	if items := s.get("items"); items != nil {
		return "list of " + d.typeName(items)
	}
	name := s.text("type")

	for _, option := range s.list("type") {
		name = strings.TrimPrefix(name+" or "+fmt.Sprint(option), " or ")
	}

	switch {
	case name == "" && s.get("enum") != nil:
		return "string"
	case name == "" && (s.get("properties") != nil || s.get("allOf") != nil):
		return "object"
	case name == "":
		return "any value"
	case s.text("format") == "binary":
		return "file"
	case s.text("format") != "":
		return name + " (" + s.text("format") + ")"
	}

	return name + bounds(s)
}

// bounds returns the limits of a number or the length of a text, such as ", 1 to 100".
func bounds(s object) string {
	low, high := s.get("minimum"), s.get("maximum")

	switch {
	case low != nil && high != nil:
		return fmt.Sprintf(", %v to %v", low, high)
	case low != nil:
		return fmt.Sprintf(", at least %v", low)
	case high != nil:
		return fmt.Sprintf(", at most %v", high)
	case s.get("maxLength") != nil:
		return fmt.Sprintf(", at most %v characters", s.get("maxLength"))
	}

	return ""
}
