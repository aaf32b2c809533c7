package api

import (
	"fmt"
	"time"

	"presswork/api/exchange"
	"presswork/api/openai"
	"presswork/internal/inference"
	"presswork/internal/inference/seal"
)

// Inference configures the routes under /v1.
type Inference struct {
	// Calls queues completions and reads their answers.
	Calls openai.Calls
	// Models returns the current models.
	Models func() *inference.Catalogue
	// Vendor names the member x_<vendor> of answers.
	Vendor string
	// Lax ignores parameters that cannot be combined, instead of rejecting the request.
	Lax bool
	// Patience is how long the server withholds the status of a stream while it waits for the first chunk. An error
	// before the chunk can then set the status. It is also the time between two comments while no chunk arrives.
	// Default 10 s.
	Patience time.Duration
	// QueueTimeout is how long a request waits for a worker. Default: as long as its client waits.
	QueueTimeout time.Duration
}

// newV1 returns the service behind the routes under /v1; nil without Inference. secret is Options.TokenSecret.
func newV1(o *Inference, secret []byte) (*openai.Service, error) {
	if o == nil {
		return nil, nil
	}

	sealer, err := seal.New(secret)
	if err != nil {
		return nil, fmt.Errorf("api: %w", err)
	}

	return openai.New(openai.Options{
		Calls:        o.Calls,
		Models:       o.Models,
		Vendor:       o.Vendor,
		Lax:          o.Lax,
		Patience:     o.Patience,
		QueueTimeout: o.QueueTimeout,
		Sealer:       sealer,
		PublicError:  exchange.InferenceError,
	}), nil
}
