// Package openapitest compares the API's responses with openapi.yaml. A response that a generated client could not read
// fails the test that received it.
package openapitest

import (
	"bytes"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// address is the base address of the schemas. Nothing is fetched from it.
const address = "https://presswork.test/openapi.json"

// Description is an OpenAPI 3.1 document. It is safe for concurrent use.
type Description struct {
	paths map[string]any
	doc   map[string]any

	mu       sync.Mutex // guards compiled
	compiler *jsonschema.Compiler
	compiled map[string]*jsonschema.Schema // by JSON pointer
}

// Open reads the description in a file.
func Open(file string) (*Description, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}

	b, err := yaml.YAMLToJSON(text)
	if err != nil {
		return nil, err
	}

	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	d := &Description{compiler: jsonschema.NewCompiler(), compiled: map[string]*jsonschema.Schema{}}
	d.doc, _ = v.(map[string]any)
	d.paths, _ = d.doc["paths"].(map[string]any)

	return d, d.compiler.AddResource(address, v)
}

// Check returns an error if the description does not allow the status, the media type or the JSON of a response. target
// is the path with the query, and body is the whole body. A method and path without a description are not an error.
func (d *Description) Check(method, target string, answer *http.Response, body []byte) error {
	path, _, _ := strings.Cut(target, "?")
	template, item := d.find(path)

	operation, at, known := d.operation(item, template, method)
	if !known {
		// Tests also request paths that do not exist.
		return nil
	}
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%s %s, status %d, differs from the description at %s: %s", method, path, answer.StatusCode,
			at, fmt.Sprintf(format, args...))
	}

	response, at, known := d.response(operation, at, answer.StatusCode)
	if !known {
		return fail("the status is not described; %.200s", body)
	}
	content, _ := response["content"].(map[string]any)
	kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type"))

	switch {
	case len(body) == 0:
		return nil
	case content == nil:
		return fail("a body of %d bytes is not described", len(body))
	}

	media, found := content[kind]
	for _, wide := range []string{kind[:strings.IndexByte(kind+"/", '/')] + "/*", "*/*"} {
		if !found {
			if media, found = content[wide]; found {
				kind = wide
			}
		}
	}

	if !found {
		return fail("the media type %q is not described", kind)
	}

	if fields, _ := media.(map[string]any); kind != "application/json" || fields["schema"] == nil {
		return nil
	}

	schema, err := d.schema(at + "/content/" + escape(kind) + "/schema")
	if err != nil {
		return err
	}

	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fail("%v", err)
	}

	if err := schema.Validate(v); err != nil {
		return fail("%v\n%.500s", err, body)
	}

	return nil
}

// find returns the template of a path and its item. If several match, it takes the one with the most literal segments.
func (d *Description) find(path string) (template string, item map[string]any) {
	// The description lists these routes once, below /v1.
	path = strings.Replace(path, "/openai/v1/", "/v1/", 1)

	segments, best := strings.Split(path, "/"), -1
	for t, v := range d.paths {
		parts, literal := strings.Split(t, "/"), 0

		fits := len(parts) == len(segments)
		for i := 0; fits && i < len(parts); i++ {
			switch parts[i] {
			case segments[i]:
				literal++
			default:
				fits = strings.HasPrefix(parts[i], "{") && segments[i] != ""
			}
		}

		if fits && literal > best {
			template, best = t, literal
			item, _ = v.(map[string]any)
		}
	}

	return template, item
}

// operation returns the operation of a method, and its JSON pointer.
func (d *Description) operation(
	item map[string]any,
	template, method string,
) (operation map[string]any, at string, known bool) {
	name := strings.ToLower(method)
	if method == http.MethodHead {
		name = "get"
	}
	operation, known = item[name].(map[string]any)

	return operation, "/paths/" + escape(template) + "/" + name, known
}

// response returns the description of a status, and its JSON pointer.
func (d *Description) response(
	operation map[string]any,
	at string,
	status int,
) (response map[string]any, place string, known bool) {
	responses, _ := operation["responses"].(map[string]any)
	for _, name := range []string{strconv.Itoa(status), strconv.Itoa(status/100) + "XX", "default"} {
		response, known = responses[name].(map[string]any)
		if !known {
			continue
		}

		if ref, shared := response["$ref"].(string); shared {
			return d.at(strings.TrimPrefix(ref, "#")), strings.TrimPrefix(ref, "#"), true
		}

		return response, at + "/responses/" + name, true
	}

	return nil, at, false
}

// at returns the object at a JSON pointer.
func (d *Description) at(pointer string) map[string]any {
	v := d.doc
	for name := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		v, _ = v[name].(map[string]any)
	}

	return v
}

// schema returns the compiled schema at a JSON pointer.
func (d *Description) schema(pointer string) (*jsonschema.Schema, error) {
	d.mu.Lock()
	defer d.mu.Unlock()

	s := d.compiled[pointer]
	if s == nil {
		var err error
		if s, err = d.compiler.Compile(address + "#" + url.PathEscape(pointer)); err != nil {
			return nil, err
		}
		d.compiled[pointer] = s
	}

	return s, nil
}

// escape escapes a name for a JSON pointer.
func escape(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }
