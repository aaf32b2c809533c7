package api_test

import (
	"bytes"
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"presswork"
	"presswork/api"
	"presswork/api/exchange"
)

func TestOpenAPIDescribesEveryRoute(t *testing.T) {
	t.Parallel()

	var doc struct {
		Paths map[string]map[string]any `yaml:"paths"`
	}
	if err := yaml.Unmarshal(serve(t).get("/openapi.yaml").body, &doc); err != nil {
		t.Fatal(err)
	}
	var described []string

	for path, item := range doc.Paths {
		for method := range item {
			if method != "parameters" {
				described = append(described, strings.ToUpper(method)+" "+path)
			}
		}
	}
	slices.Sort(described)

	routes := api.Routes(t)
	for _, r := range routes {
		if !slices.Contains(described, r) {
			t.Errorf("openapi.yaml lacks %s", r)
		}
	}

	for _, d := range described {
		if !slices.Contains(routes, d) {
			t.Errorf("no route answers %s", d)
		}
	}
}

// TestOpenAPISuitsClientGenerators checks what client generators depend on. `make compat` runs the generators themselves.
func TestOpenAPISuitsClientGenerators(t *testing.T) {
	t.Parallel()

	b, err := yaml.YAMLToJSON(serve(t).get("/openapi.yaml").body)
	if err != nil {
		t.Fatal(err)
	}

	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	const address = "https://presswork.test/openapi.json"

	schemas := jsonschema.NewCompiler()
	if err := schemas.AddResource(address, doc); err != nil {
		t.Fatal(err)
	}
	// visit checks a node of the description and its descendants. at is its JSON pointer.
	var visit func(at string, v any)
	visit = func(at string, v any) {
		switch v := v.(type) {
		case map[string]any:
			for name, child := range v {
				below := at + "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)

				_, whole := child.(map[string]any)
				switch {
				case name == "headers" && whole && !strings.HasSuffix(at, "/properties"):
					for header, h := range child.(map[string]any) {
						if fields, ok := h.(map[string]any); !ok || fields["schema"] == nil {
							t.Errorf("%s/%s has no schema", below, header)
						}
					}
				case name == "schema" && whole:
					// Compiling validates the schema and resolves every $ref.
					if _, err := schemas.Compile(address + "#" + url.PathEscape(below)); err != nil {
						t.Error(err)
					}
				}
				visit(below, child)
			}

			example, there := v["example"]
			if schema, ok := v["schema"]; there && ok && schema != nil {
				if compiled, err := schemas.Compile(address + "#" + url.PathEscape(at+"/schema")); err == nil {
					if err := compiled.Validate(example); err != nil {
						t.Errorf("%s/example: %v", at, err)
					}
				}
			}
		case []any:
			for i, child := range v {
				visit(fmt.Sprintf("%s/%d", at, i), child)
			}
		}
	}
	visit("", doc)
}

func TestOpenAPINamesEveryCodeAndOption(t *testing.T) {
	t.Parallel()

	doc := string(serve(t).get("/openapi.yaml").body)
	for _, code := range slices.Sorted(maps.Keys(exchange.Statuses())) {
		if !strings.Contains(doc, " "+string(code)) {
			t.Errorf("openapi.yaml does not name %s", code)
		}
	}

	for _, name := range optionNames() {
		if !strings.Contains(doc, "        "+name+": ") && !strings.Contains(doc, "        "+name+":\n") {
			t.Errorf("openapi.yaml lacks the option %s", name)
		}
	}
}

// optionNames returns the JSON names of the document options.
func optionNames() (names []string) {
	for f := range reflect.TypeFor[presswork.Options]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}

	return names
}
