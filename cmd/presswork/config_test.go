package main

import (
	"strings"
	"testing"
)

// TestConfigRejectsTheSettingsThatServeRejects: `config` reports the same errors as a start would.
func TestConfigRejectsTheSettingsThatServeRejects(t *testing.T) {
	t.Parallel()

	for setting, value := range map[string]string{
		"REDIS_URL":              "http://x",
		"CACHE_REDIS_URL":        "redis://",
		"TOKEN_SECRET":           "short",
		"WEBHOOK_SECRET":         "no secret",
		"EXPORT_ALLOW_PRIVATE":   "10.0.0.0/99",
		"EXPORT_DENY_HOSTS":      "a b",
		"OUTBOUND_ALLOW_PRIVATE": "169.254.169.254",
		"SEARCH_URL":             "ftp://x",
		"SEARCH_HEADER":          "x",
		"INFERENCE_ENGINE":       "llama-server",
	} {
		t.Run(setting, func(t *testing.T) {
			env := map[string]string{setting: value, "LOG_FORMAT": "text"}
			if setting == "SEARCH_HEADER" {
				env["SEARCH_URL"] = "http://search.test/"
			}

			for _, command := range []string{"config", "serve"} {
				got := runWithEnv(t, env, command)
				got.check(t, exitUsage, setting)
				got.checkNoOutput(t)
			}
		})
	}

	good := map[string]string{
		"REDIS_URL":            "redis://127.0.0.1:1,127.0.0.1:2",
		"TOKEN_SECRET":         strings.Repeat("s", 16),
		"EXPORT_ALLOW_PRIVATE": "localhost:3000",
		"WEBHOOK_SECRET":       "whsec_" + strings.Repeat("c2VjcmV0", 4),
		"SEARCH_URL":           "http://127.0.0.1/?q={query}",
	}
	runWithEnv(t, good, "config").checkOK(t)
}
