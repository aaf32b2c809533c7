package api_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"presswork"
	"presswork/api"
)

func TestTheDescriptionAndTheRoutesAreTheSame(t *testing.T) {
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

func TestTheDescriptionNamesEveryCodeAndOption(t *testing.T) {
	t.Parallel()
	doc := string(serve(t).get("/openapi.yaml").body)
	for _, code := range api.Codes() {
		// Codes of 422 and 504 beside these stand in failed jobs only.
		if code == presswork.RenderFailed || code == presswork.StrictFindings || code == presswork.RenderTimeout {
			continue
		}
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

func optionNames() (names []string) {
	for f := range reflect.TypeFor[presswork.Options]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		names = append(names, name)
	}
	return names
}
