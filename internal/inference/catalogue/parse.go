// Package catalogue reads models.yaml and keeps the catalogue of models up to date. Without a file, the models are
// those of the model servers on this machine.
//
// A [Source] holds the current catalogue. Its Run checks the file for changes and calls [Parse]; a file with an error
// changes nothing.
package catalogue

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"presswork/internal/inference"
)

// Parse reads the text of models.yaml. It takes the values of ${NAME} and ${NAME:-default} from getenv. An error is one
// line with path, line and field. It never quotes a secret.
func Parse(path string, data []byte, getenv func(string) string) (*inference.Catalogue, error) {
	tree, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, yamlError(path, err)
	}

	var file struct {
		Models []inference.Model `yaml:"models"`
		// Servers are MCP servers by name. ServerURLs permits requests to name others by their address.
		Servers    map[string]inference.NamedServer `yaml:"mcp_servers"`
		ServerURLs *bool                            `yaml:"mcp_server_urls"`
	}

	err = yaml.NewDecoder(bytes.NewReader(data), yaml.Strict()).Decode(&file)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, yamlError(path, err)
	}
	fail := func(i int, field string, err error) error {
		return fmt.Errorf("%s, line %d: models[%d].%s: %w", path, lineOf(tree, i, field), i, field, err)
	}
	taken := map[string]bool{}

	for i := range file.Models {
		m := &file.Models[i]

		field, err := completeModel(m, getenv)
		if err == nil {
			field, err = reserveNames(taken, m)
		}

		if err != nil {
			return nil, fail(i, field, err)
		}
	}

	for name, server := range file.Servers {
		field, err := completeServer(name, &server, getenv)
		if err != nil {
			at := fmt.Sprintf("mcp_servers.%s%s", name, field)
			return nil, fmt.Errorf("%s, line %d: %s: %w", path, lineAt(tree, "$."+at), at, err)
		}
		file.Servers[name] = server
	}
	c := inference.NewCatalogue(file.Models)
	c.SetServers(file.Servers, file.ServerURLs != nil && !*file.ServerURLs)

	for i, m := range c.Models() {
		field, err := checkTogether(m)
		if err == nil {
			field, err = resolveFallbacks(c, m)
		}

		if err != nil {
			return nil, fail(i, field, err)
		}
	}

	return c, nil
}

// resolveFallbacks replaces aliases in the fallbacks of a model by ids. With an error it returns the invalid field.
func resolveFallbacks(c *inference.Catalogue, m *inference.Model) (string, error) {
	if len(m.Fallbacks) > inference.MaxFallbacks {
		return "fallbacks", fmt.Errorf("there are %d; at most %d are allowed", len(m.Fallbacks), inference.MaxFallbacks)
	}

	for i, name := range m.Fallbacks {
		other, err := c.Find(name)

		switch {
		case err != nil:
			return fmt.Sprintf("fallbacks[%d]", i), fmt.Errorf("%q is not the name of a model in this file", name)
		case other == m:
			return fmt.Sprintf("fallbacks[%d]", i), errors.New("a model cannot replace itself")
		}
		m.Fallbacks[i] = other.ID
	}

	return "", nil
}

// reserveNames adds the names of a model to taken. If another model has one of them, it returns an error and the
// field with that name.
func reserveNames(taken map[string]bool, m *inference.Model) (string, error) {
	if taken[m.ID] {
		return "id", fmt.Errorf(
			"%q is already the name of a model; several servers of one model are upstreams of one entry", m.ID)
	}

	for i, alias := range m.Aliases {
		if taken[alias] || alias == m.ID || slices.Contains(m.Aliases[:i], alias) {
			return fmt.Sprintf("aliases[%d]", i), fmt.Errorf("%q is already the name of a model", alias)
		}
	}

	taken[m.ID] = true
	for _, alias := range m.Aliases {
		taken[alias] = true
	}

	return "", nil
}

// yamlError keeps only the message and the line of a YAML error. The library's own text quotes the source, which may
// hold API keys.
func yamlError(path string, err error) error {
	if e, ok := errors.AsType[yaml.Error](err); ok && e.GetToken() != nil {
		return fmt.Errorf("%s, line %d: %s", path, e.GetToken().Position.Line, e.GetMessage())
	}

	return fmt.Errorf("%s is not valid YAML", path)
}

// lineOf returns the line of a field of model n. If the file does not have the field, it returns the line of the value
// that should hold it.
func lineOf(tree *ast.File, n int, field string) int {
	return lineAt(tree, fmt.Sprintf("$.models[%d].%s", n, field))
}

// lineAt returns the line of the value at a YAML path such as "$.models[0].id", or of the nearest value above it.
func lineAt(tree *ast.File, at string) int {
	for {
		if path, err := yaml.PathString(at); err == nil {
			if node, err := path.FilterFile(tree); err == nil && node.GetToken() != nil {
				return node.GetToken().Position.Line
			}
		}

		i := strings.LastIndexAny(at, ".[")
		if i <= len("$") {
			return 1
		}
		at = at[:i]
	}
}
