package inference

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"

	"presswork/internal/input"
)

// Catalogue is the set of models, as of one reading of models.yaml. It never
// changes.
type Catalogue struct {
	models []*Model
	byName map[string]*Model
}

// NewCatalogue makes a catalogue of models found, not written: it fills in the
// defaults. A name that is taken is left out.
func NewCatalogue(models []Model) *Catalogue {
	c := &Catalogue{byName: map[string]*Model{}}

	for i := range models {
		m := models[i]
		m.fill()

		if c.byName[m.ID] != nil {
			continue
		}
		m.Aliases = slices.DeleteFunc(
			slices.Clone(m.Aliases),
			func(alias string) bool { return c.byName[alias] != nil },
		)
		c.add(&m)
	}

	return c
}

func (c *Catalogue) add(m *Model) {
	c.models = append(c.models, m)
	for _, name := range append([]string{m.ID}, m.Aliases...) {
		c.byName[name] = m
	}
}

// Models lists the models in the order of the file.
func (c *Catalogue) Models() []*Model { return slices.Clone(c.models) }

// Find returns the model of an id or alias.
func (c *Catalogue) Find(name string) (*Model, error) {
	if m := c.byName[name]; m != nil {
		return m, nil
	}

	message := fmt.Sprintf("The model `%s` does not exist or you do not have access to it.", clip(name, 120))
	if len(c.models) == 0 {
		message += " No model is set up here: name one in models.yaml (INFERENCE_CONFIG), or start Ollama or " +
			"llama-server on this machine."
	} else if near := input.Nearest(name, c.names()); near != "" {
		message += fmt.Sprintf(" Did you mean `%s`?", near)
	}

	return nil, Errorf(http.StatusNotFound, ModelNotFound, "%s", message).WithParam("model")
}

func (c *Catalogue) names() []string {
	names := make([]string, 0, len(c.byName))
	for name := range c.byName {
		names = append(names, name)
	}
	slices.Sort(names)

	return names
}

// ParseCatalogue reads the text of models.yaml. Values of the form ${NAME} or
// ${NAME:-default} come from getenv. Errors name path, line and field, and
// never a secret.
func ParseCatalogue(path string, data []byte, getenv func(string) string) (*Catalogue, error) {
	tree, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, yamlError(path, err)
	}

	var file struct {
		Models []Model `yaml:"models"`
	}
	if err := yaml.NewDecoder(bytes.NewReader(data), yaml.Strict()).
		Decode(&file); err != nil &&
		!errors.Is(err, io.EOF) {
		return nil, yamlError(path, err)
	}
	c := &Catalogue{byName: map[string]*Model{}}

	for i := range file.Models {
		m := &file.Models[i]

		field, err := m.complete(getenv)
		if err == nil {
			field, err = c.taken(m)
		}

		if err != nil {
			return nil, fmt.Errorf("%s, line %d: models[%d].%s: %w", path, lineOf(tree, i, field), i, field, err)
		}
		c.add(m)
	}

	return c, nil
}

func (c *Catalogue) taken(m *Model) (string, error) {
	if c.byName[m.ID] != nil {
		return "id", fmt.Errorf(
			"%q is already the name of a model; several servers of one model are upstreams of one entry",
			m.ID,
		)
	}

	for i, alias := range m.Aliases {
		if c.byName[alias] != nil || alias == m.ID || slices.Contains(m.Aliases[:i], alias) {
			return fmt.Sprintf("aliases[%d]", i), fmt.Errorf("%q is already the name of a model", alias)
		}
	}

	return "", nil
}

// yamlError keeps the message and the line of a YAML error. The library's own
// text quotes the source around it, and there are keys in it.
func yamlError(path string, err error) error {
	if e, ok := errors.AsType[yaml.Error](err); ok && e.GetToken() != nil {
		return fmt.Errorf("%s, line %d: %s", path, e.GetToken().Position.Line, e.GetMessage())
	}

	return fmt.Errorf("%s is not valid YAML", path)
}

// lineOf finds the line of a field of model n, or of what holds it.
func lineOf(tree *ast.File, n int, field string) int {
	at := fmt.Sprintf("$.models[%d].%s", n, field)
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
