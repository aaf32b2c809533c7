package app

import (
	"errors"
	"slices"

	"presswork/internal/config"
	"presswork/tasks"
)

// Roles are the parts of the system that one process plays.
type Roles struct{ API, Worker bool }

// both reports whether one process is the whole system, as in `presswork serve`.
func (r Roles) both() bool { return r.API && r.Worker }

// name returns the sub-command that plays the roles.
func (r Roles) name() string {
	switch {
	case r.both():
		return "serve"
	case r.API:
		return "api"
	default:
		return "worker"
	}
}

// check rejects a fleet role on services that only this machine has.
func (r Roles) check(cfg config.Config) error {
	if r.both() {
		return nil
	}

	if cfg.InferenceEngine != "" {
		return errors.New("INFERENCE_ENGINE is for `presswork serve`; a fleet names its engines in models.yaml")
	}

	if cfg.RedisURL == "" {
		return errors.New("REDIS_URL is not set: all nodes of a fleet need the same Redis; " +
			"only `presswork serve` starts a private one")
	}

	if cfg.S3Endpoint == "" && !completionsOnly(cfg) {
		return errors.New("S3_ENDPOINT is not set: all nodes of a fleet need the same S3 store " +
			"(unless every node has WORKER_QUEUES=infer,tools, or one of them); " +
			"only `presswork serve` stores files in PDF_OUTPUT_DIR")
	}

	return nil
}

// completionsOnly reports whether the fleet of this node serves completions only, and so stores nothing.
func completionsOnly(cfg config.Config) bool {
	other := func(name string) bool { return name != string(tasks.Infer) && name != string(tasks.Tools) }
	return len(cfg.WorkerQueues) > 0 && !slices.ContainsFunc(cfg.WorkerQueues, other)
}

// servesQueue reports whether a worker with these settings takes tasks of a queue.
func servesQueue(cfg config.Config, q tasks.Queue) bool {
	taken := queues(cfg)
	return len(taken) == 0 || slices.Contains(taken, q)
}

// needsBrowser reports whether a worker with these settings takes tasks that need a browser.
func needsBrowser(cfg config.Config) bool {
	return servesQueue(cfg, tasks.Render) || servesQueue(cfg, tasks.Export) || servesQueue(cfg, tasks.Bulk)
}
