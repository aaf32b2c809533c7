package guide

import (
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
)

// object is a map of the OpenAPI description in the order of the file.
type object yaml.MapSlice

// asObject returns v as an object, nil if it is none. The methods of a nil object find nothing, so callers need
// no checks.
func asObject(v any) object {
	o, _ := v.(yaml.MapSlice)
	return object(o)
}

// get returns the value of a key, nil if it is absent.
func (o object) get(key string) any {
	for _, item := range o {
		if fmt.Sprint(item.Key) == key {
			return item.Value
		}
	}

	return nil
}

// object returns the object at a key, nil if there is none.
func (o object) object(key string) object { return asObject(o.get(key)) }

// list returns the list at a key, nil if there is none.
func (o object) list(key string) []any {
	l, _ := o.get(key).([]any)
	return l
}

// text returns the string at a key, "" if there is none.
func (o object) text(key string) string {
	s, _ := o.get(key).(string)
	return strings.TrimSpace(s)
}

// description is an OpenAPI description.
type description struct{ root object }

// parseDescription reads an OpenAPI description in YAML. The order of its keys is kept: pages show fields in that
// order.
func parseDescription(source []byte) (*description, error) {
	var root yaml.MapSlice
	if err := yaml.UnmarshalWithOptions(source, &root, yaml.UseOrderedMap()); err != nil {
		return nil, fmt.Errorf("guide: the OpenAPI description: %w", err)
	}

	return &description{object(root)}, nil
}

// resolve returns the object that v is or refers to with $ref. A reference that leads nowhere is a nil object.
func (d *description) resolve(v any) object {
	o := asObject(v)
	for ref := o.text("$ref"); ref != ""; ref = o.text("$ref") {
		o = d.root
		for key := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
			o = o.object(key)
		}
	}

	return o
}

// operation is a method of a path.
type operation struct {
	// Tag is the first tag, which names the page. Method is in upper case.
	ID, Tag, Method, Path string
	Summary, Description  string
	Parameters            []parameter
	Body                  []body
	Answers               []answer
	Samples               []sample
}

// parameter is a parameter of the path, the query or a header.
type parameter struct {
	// In is path, query or header.
	In      string
	Example string
	field
}

// body is a content type of a request.
type body struct {
	Type   string
	Fields []field
	// example is the example of the description, nil without one.
	example any
}

// answer is a status of a response with its content types, and the fields of a JSON body.
type answer struct {
	Status, Description string
	Types               []string
	Fields              []field
}

// operations returns all operations in the order of the file.
func (d *description) operations() []operation {
	var all []operation

	for _, path := range d.root.object("paths") {
		item := asObject(path.Value)
		for _, member := range item {
			if method := fmt.Sprint(member.Key); method != "parameters" {
				operation := d.operation(strings.ToUpper(method), fmt.Sprint(path.Key), item, asObject(member.Value))
				all = append(all, operation)
			}
		}
	}

	return all
}

// operation reads one operation. item is its path item, whose parameters apply as well.
func (d *description) operation(method, path string, item, op object) operation {
	read := operation{
		ID: op.text("operationId"), Method: method, Path: path,
		Summary: op.text("summary"), Description: op.text("description"),
	}
	if tags := op.list("tags"); len(tags) > 0 {
		read.Tag = fmt.Sprint(tags[0])
	}

	for _, p := range append(item.list("parameters"), op.list("parameters")...) {
		read.Parameters = append(read.Parameters, d.parameter(d.resolve(p)))
	}

	for _, content := range d.resolve(op.get("requestBody")).object("content") {
		media := asObject(content.Value)
		read.Body = append(read.Body, body{
			Type:    fmt.Sprint(content.Key),
			Fields:  d.fields(media.get("schema"), maxDepth),
			example: media.get("example"),
		})
	}

	for _, response := range op.object("responses") {
		if asObject(response.Value).text("$ref") != "" {
			continue // an error: all have the same form
		}
		r := d.resolve(response.Value)

		a := answer{Status: fmt.Sprint(response.Key), Description: r.text("description")}
		for _, content := range r.object("content") {
			a.Types = append(a.Types, fmt.Sprint(content.Key))
			if content.Key == "application/json" {
				a.Fields = d.fields(asObject(content.Value).get("schema"), maxDepth)
			}
		}
		read.Answers = append(read.Answers, a)
	}
	read.Samples = read.samples()

	return read
}

// parameter reads one parameter. Its own description takes precedence over that of its schema.
func (d *description) parameter(p object) parameter {
	f := d.field(p.text("name"), p.get("schema"), 1)

	f.Required = p.get("required") == true
	if text := p.text("description"); text != "" {
		f.Description = text
	}

	example := p.get("example")
	if example == nil {
		example = ""
	}

	return parameter{In: p.text("in"), Example: fmt.Sprint(example), field: f}
}
