package main

import (
	"cmp"
	"errors"
	"fmt"

	"presswork/internal/config"
	"presswork/worker"
)

// checkSettings refuses the settings that only the packages they are for can judge.
// It starts nothing and reaches nobody: what it accepts, the roles can start on.
func checkSettings(cfg config.Config) error {
	if (cfg.InferenceEngine == "") != (cfg.InferenceEngineModel == "") {
		return usageError{errors.New("INFERENCE_ENGINE and INFERENCE_ENGINE_MODEL go together: the program, and the file of its model")}
	}
	if n := len(cfg.TokenSecret); n > 0 && n < shortestSecret {
		return usageError{fmt.Errorf("TOKEN_SECRET: it has %d bytes; allowed: %d or more", n, shortestSecret)}
	}
	// The private Redis listens on a socket, too.
	own, err := ownAddresses(cfg, cmp.Or(cfg.RedisURL, "unix:///redis.sock"))
	if err != nil {
		return usageError{err}
	}
	outbound, _, err := newPolicies(cfg, own)
	if err != nil {
		return err
	}
	if cfg.WebhookSecret != "" {
		if _, err := worker.NewWebhooks(worker.WebhookOptions{Policy: outbound, Secret: cfg.WebhookSecret}); err != nil {
			return usageError{fmt.Errorf("WEBHOOK_SECRET: %w", err)}
		}
	}
	_, err = newWeb(cfg, webOptions{policy: outbound})
	return err
}
