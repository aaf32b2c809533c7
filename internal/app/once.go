package app

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"presswork/internal/chromium"
	"presswork/internal/config"
	"presswork/internal/guard"
	"presswork/internal/inference/sandbox"
)

// NoBrowser reports whether err means that this machine has no Chromium.
func NoBrowser(err error) bool { return errors.Is(err, chromium.ErrNotFound) }

// NewFetcher makes the fetcher of remote images for documents of a command. A wrong setting is a UsageError.
func NewFetcher(cfg config.Config, version string) (*guard.Fetcher, error) {
	policy, err := guard.New(guard.Options{Allow: cfg.OutboundAllowPrivate, Setting: "OUTBOUND_ALLOW_PRIVATE"})
	if err != nil {
		return nil, UsageError{fmt.Errorf("OUTBOUND_ALLOW_PRIVATE: %w", err)}
	}

	return guard.NewFetcher(policy, guard.FetchOptions{UserAgent: agent(version)}), nil
}

// ExportPolicy makes the policy of a page that a command exports. allow is the value of --allow-private; the settings
// apply if it is empty. A wrong value is a UsageError.
func ExportPolicy(cfg config.Config, allow string) (*guard.Policy, error) {
	setting := "--allow-private"
	if allow == "" {
		allow, setting = cfg.ExportAllowPrivate, "EXPORT_ALLOW_PRIVATE"
	}

	policy, err := guard.New(guard.Options{
		Allow: allow, Setting: setting, AllowHosts: cfg.ExportAllowHosts, DenyHosts: cfg.ExportDenyHosts,
	})
	if err != nil {
		return nil, UsageError{fmt.Errorf("%s: %w", setting, err)}
	}

	return policy, nil
}

// PythonFiles reads files that Python finds in /data, each under its base name. Errors: a file cannot be read.
func PythonFiles(paths []string) ([]sandbox.File, error) {
	var files []sandbox.File

	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		files = append(files, sandbox.File{Name: filepath.Base(path), Data: content})
	}

	return files, nil
}
