package inference

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"presswork/internal/fault"
	"presswork/internal/input"
)

// Catalogue is an immutable set of models, from one read of models.yaml or from the model servers of this machine. It
// is safe for concurrent use.
type Catalogue struct {
	models []*Model
	byName map[string]*Model
	// servers are the MCP servers of models.yaml by their labels.
	servers map[string]NamedServer
	// namedOnly rejects servers whose address is in a request.
	namedOnly bool
}

// NewCatalogue returns a catalogue of copies of the models, with their defaults set. Of several models with the same
// name it keeps the first.
func NewCatalogue(models []Model) *Catalogue {
	c := &Catalogue{byName: map[string]*Model{}}

	for i := range models {
		m := models[i]
		m.setDefaults()

		if c.byName[m.ID] != nil {
			continue
		}
		m.Aliases = slices.DeleteFunc(
			slices.Clone(m.Aliases),
			func(alias string) bool { return c.byName[alias] != nil },
		)
		c.addModel(&m)
	}

	return c
}

// addModel adds a model under its id and aliases, which must be free.
func (c *Catalogue) addModel(m *Model) {
	c.models = append(c.models, m)
	for _, name := range append([]string{m.ID}, m.Aliases...) {
		c.byName[name] = m
	}
}

// Models lists the models in the order of the file. The caller must not change them.
func (c *Catalogue) Models() []*Model { return slices.Clone(c.models) }

// Find returns the model with an id or alias. The error is a 404 *Error, which may suggest a similar name.
func (c *Catalogue) Find(name string) (*Model, error) {
	if m := c.byName[name]; m != nil {
		return m, nil
	}

	message := fmt.Sprintf("The model `%s` does not exist or you do not have access to it.", input.Cut(name, 120))
	if len(c.models) == 0 {
		message += " No model is set up here: name one in models.yaml (INFERENCE_CONFIG), or start Ollama or " +
			"llama-server on this machine."
	} else if near := input.Nearest(name, c.names()); near != "" {
		message += fmt.Sprintf(" Did you mean `%s`?", near)
	}

	return nil, Errorf(http.StatusNotFound, ModelNotFound, "%s", message).WithParam("model")
}

// Require returns the model of an id or alias that has a capability. Errors are *Error: 404 for an unknown model,
// 400 for one without the capability.
func (c *Catalogue) Require(name, capability string) (*Model, error) {
	m, err := c.Find(name)
	if err != nil {
		return nil, err
	}

	if !m.Can(capability) {
		return nil, Invalidf("model", "the model `%s` does not support %s", m.ID, capability)
	}

	return m, nil
}

// names returns all ids and aliases in alphabetical order.
func (c *Catalogue) names() []string {
	names := make([]string, 0, len(c.byName))
	for name := range c.byName {
		names = append(names, name)
	}
	slices.Sort(names)

	return names
}

// SetServers sets the named servers. namedOnly rejects servers whose address is in a request. It must be called before
// the catalogue is used, because it takes no lock.
func (c *Catalogue) SetServers(servers map[string]NamedServer, namedOnly bool) {
	c.servers, c.namedOnly = servers, namedOnly
}

// Server returns s with the settings of a named server. Errors are *Error: 400 for an unknown name, 403 for an address
// that the operator does not permit.
func (c *Catalogue) Server(s *ToolServer) (*ToolServer, error) {
	names := slices.Sorted(maps.Keys(c.servers))

	switch named, ok := c.servers[s.Label]; {
	case s.URL != "" && c.namedOnly:
		return nil, Errorf(http.StatusForbidden, fault.AddressNotAllowed,
			"the operator permits only MCP servers of models.yaml: leave 'server_url' out and use one of [%s]",
			strings.Join(names, ", ")).WithParam("tools")
	case s.URL != "":
		return s, nil
	case !ok:
		return nil, Invalidf("tools", "the MCP server %q has no address and is not one of models.yaml%s: "+
			"set 'server_url', or use one of [%s]", s.Label, input.DidYouMean(s.Label, names), strings.Join(names, ", "))
	default:
		resolved := *s
		resolved.URL, resolved.Headers, resolved.limits = named.URL, named.Headers, &named
		resolved.Description = cmp.Or(s.Description, named.Description)

		return &resolved, nil
	}
}
