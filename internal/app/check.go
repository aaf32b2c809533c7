package app

import (
	"cmp"
	"errors"
	"fmt"

	"presswork/internal/config"
	"presswork/worker"
)

// CheckSettings rejects settings that config cannot judge, with a UsageError. It starts nothing and dials nothing,
// so that a command can check the settings of a server elsewhere.
func CheckSettings(cfg config.Config) error {
	if (cfg.InferenceEngine == "") != (cfg.InferenceEngineModel == "") {
		return UsageError{errors.New("INFERENCE_ENGINE and INFERENCE_ENGINE_MODEL go together: " +
			"the program, and the file of its model")}
	}

	if n := len(cfg.TokenSecret); n > 0 && n < shortestSecret {
		return UsageError{fmt.Errorf("TOKEN_SECRET: it has %d bytes; allowed: %d or more", n, shortestSecret)}
	}
	// Without REDIS_URL, Presswork starts its own Redis, which listens on a socket.
	own, err := ownAddresses(cfg, cmp.Or(cfg.RedisURL, "unix:///redis.sock"))
	if err != nil {
		return UsageError{err}
	}

	outbound, _, err := newPolicies(cfg, own, nil)
	if err != nil {
		return err
	}

	if cfg.WebhookSecret != "" {
		o := worker.WebhookOptions{Policy: outbound, Secret: cfg.WebhookSecret}
		if _, err := worker.NewWebhooks(o); err != nil {
			return UsageError{fmt.Errorf("WEBHOOK_SECRET: %w", err)}
		}
	}
	_, err = newWeb(cfg, webOptions{policy: outbound})

	return err
}
