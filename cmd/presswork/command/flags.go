package command

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"presswork/internal/cache"
	"presswork/internal/client"
	"presswork/internal/config"
	"presswork/internal/local"
)

// ServerFlags select the running Presswork that a command talks to.
type ServerFlags struct{ address, key string }

// Add registers the flags.
func (s *ServerFlags) Add(f *pflag.FlagSet) {
	f.StringVar(&s.address, "server", "http://127.0.0.1:8000", "`ADDRESS` of the server")
	f.StringVar(&s.key, "key", "", "API `KEY` (default PRESSWORK_API_KEY)")
}

// Open returns a client of the server. It sends no request. An invalid address is an error of usage.
func (s *ServerFlags) Open(getenv func(string) string) (*client.Server, error) {
	server, err := client.New(s.address, cmp.Or(s.key, getenv("PRESSWORK_API_KEY")))
	if err != nil {
		return nil, Usage(fmt.Errorf("--server: %w", err))
	}

	return server, nil
}

// CacheFlags select the cache of analyses and theme choices. A flag overrides the environment and the JSON file.
type CacheFlags struct{ backend, path, ttl, maxSize string }

// Add registers the flags.
func (c *CacheFlags) Add(f *pflag.FlagSet) {
	f.StringVar(
		&c.backend,
		"cache-backend",
		"",
		"`BACKEND` of the cache of analyses and theme choices: memory, file or sqlite (default "+
			"PRESSWORK_CACHE_BACKEND, sqlite)",
	)
	f.StringVar(&c.path, "cache-path", "",
		"`DIR` of the cache (default PRESSWORK_CACHE_PATH, presswork in the user's cache directory)")
	f.StringVar(&c.ttl, "cache-ttl", "",
		"keep entries for `SECONDS` (default PRESSWORK_CACHE_TTL; 7 days for analyses, 30 days for themes)")
	f.StringVar(&c.maxSize, "cache-max-size", "",
		"largest `SIZE` of the cache: 10000 (entries) or 64MB (default PRESSWORK_CACHE_MAX_SIZE, 10000)")
}

// Load merges flags, environment and JSON file into the cache's configuration. Every error is one of usage.
func (c *CacheFlags) Load(getenv func(string) string) (cache.Config, cache.Origin, error) {
	ttl, err := cache.ParseTTL("--cache-ttl", c.ttl)
	if err != nil {
		return cache.Config{}, nil, errors.New(local.Message(err))
	}

	cfg, from, err := cache.Load(cache.Config{Backend: c.backend, Path: c.path, MaxSize: c.maxSize, TTL: ttl}, getenv)
	if err != nil {
		err = errors.New(local.Message(err))
	}

	return cfg, from, err
}

// ThemesFolder returns the folder of custom themes: the value of --themes-dir if set, else the setting. It returns
// an error if the value is not a folder.
func ThemesFolder(flag string, cfg config.Config) (string, error) {
	if flag == "" {
		return cfg.ThemesDir, nil
	}

	if _, err := os.ReadDir(flag); err != nil {
		return "", Usage(fmt.Errorf("--themes-dir: %w", err))
	}

	return flag, nil
}

// PasswordIn returns the first line of the file that a flag names. The error, for an empty line as well, names the
// flag.
func PasswordIn(flag, path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("--%s: %w", flag, err)
	}
	line, _, _ := strings.Cut(string(text), "\n")

	password := strings.TrimSuffix(line, "\r")
	if password == "" {
		return "", fmt.Errorf("--%s: the first line of %s is empty", flag, path)
	}

	return password, nil
}
