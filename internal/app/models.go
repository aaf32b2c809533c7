package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"presswork/internal/config"
	"presswork/internal/inference"
	"presswork/internal/inference/gateway"
	"presswork/internal/inference/ollama"
	"presswork/internal/inference/openai/wire"
	"presswork/internal/terminal"
)

// Models reads the models once, as a server reads them at its start. Errors: UsageError for models.yaml.
func Models(ctx context.Context, cfg config.Config) (*inference.Catalogue, error) {
	source, err := newSource(ctx, modelSource(cfg, slog.New(slog.DiscardHandler)))
	if err != nil {
		return nil, err
	}

	return source.Current(), nil
}

// ModelsJSON returns the list of models as the API returns it.
func ModelsJSON(c *inference.Catalogue) []byte { return wire.AppendModels(nil, c.Models()) }

// CheckModels queries the upstreams of the named models, or of all models, for the models that they serve. A name
// that does not exist is a UsageError. An upstream that does not answer is no error: its status says so.
func CheckModels(ctx context.Context, cfg config.Config, names []string) ([]gateway.UpstreamStatus, error) {
	c, err := Models(ctx, cfg)
	if err != nil {
		return nil, err
	}

	models := c.Models()
	if len(names) > 0 {
		models = nil
	}

	for _, name := range names {
		m, err := findModel(c, name)
		if err != nil {
			return nil, err
		}
		models = append(models, m)
	}

	return modelGateway(c).Check(ctx, models), nil
}

// UpstreamState returns "ok" for an upstream that serves its model, or what is wrong.
func UpstreamState(s gateway.UpstreamStatus) string {
	switch {
	case !s.OK:
		return s.Error
	case !s.Served:
		return fmt.Sprintf("it does not have %s; it has %s", s.Name,
			terminal.Dash(strings.Join(s.Serves[:min(len(s.Serves), 5)], ", ")))
	}

	return "ok"
}

// ExplainModel returns a model and the upstreams that its requests may go to. A name that does not exist is a
// UsageError.
func ExplainModel(
	ctx context.Context, cfg config.Config, name string,
) (model *inference.Model, upstreams []gateway.UpstreamStatus, err error) {
	c, err := Models(ctx, cfg)
	if err != nil {
		return nil, nil, err
	}

	if model, err = findModel(c, name); err != nil {
		return nil, nil, err
	}

	return model, modelGateway(c).Explain(model), nil
}

// findModel returns the model with a name. The error is a UsageError.
func findModel(c *inference.Catalogue, name string) (*inference.Model, error) {
	m, err := c.Find(name)
	if err != nil {
		return nil, UsageError{errors.New(inference.AsError(err).Message)}
	}

	return m, nil
}

// modelGateway makes a gateway that checks and explains the upstreams of a catalogue.
func modelGateway(c *inference.Catalogue) *gateway.Gateway {
	return gateway.New(gateway.Options{
		Catalogue: func() *inference.Catalogue { return c }, Open: openEngine,
	})
}

// PullModel fetches a model through the Ollama of this machine. It calls step with the server's description of each
// step, the bytes fetched and the total bytes; total is 0 if it is not known. Errors: Ollama does not answer, or
// does not find the model.
func PullModel(ctx context.Context, name string, step func(status string, done, total int64)) error {
	return ollama.New("").Pull(ctx, name, func(p ollama.Progress) { step(p.Status, p.Completed, p.Total) })
}
