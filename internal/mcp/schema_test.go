package mcp_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
)

// TestOptionsAreThoseOfTheAPI fails when options.json differs from the schema Options of the API's description.
func TestOptionsAreThoseOfTheAPI(t *testing.T) {
	t.Parallel()

	source, err := os.ReadFile("../../api/openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}

	var description struct {
		Components struct {
			Schemas map[string]map[string]any `yaml:"schemas"`
		} `yaml:"components"`
	}
	if err := yaml.Unmarshal(source, &description); err != nil {
		t.Fatal(err)
	}
	schema := description.Components.Schemas["Options"]
	properties := schema["properties"].(map[string]any)

	for _, p := range properties {
		// Clients expect a type at every value.
		if p := p.(map[string]any); p["enum"] != nil && p["type"] == nil {
			p["type"] = "string"
		}
	}

	var want bytes.Buffer
	enc := json.NewEncoder(&want)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")

	if err := enc.Encode(schema); err != nil {
		t.Fatal(err)
	}

	if os.Getenv("PRESSWORK_UPDATE") == "1" {
		if err := os.WriteFile("options.json", want.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}

	got, err := os.ReadFile("options.json")
	if err != nil {
		t.Fatal(err)
	}

	if !bytes.Equal(got, want.Bytes()) {
		t.Errorf("options.json (-want +got; PRESSWORK_UPDATE=1 writes it):\n%s", cmp.Diff(want.String(), string(got)))
	}
}
