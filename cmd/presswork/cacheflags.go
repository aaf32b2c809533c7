package main

import (
	"errors"

	"github.com/spf13/pflag"

	"presswork/internal/cache"
	"presswork/internal/local"
)

// cacheFlags are the flags that choose the cache of analyses and themes; they
// win over the environment and the JSON file.
type cacheFlags struct{ backend, path, ttl, maxSize string }

func addCacheFlags(f *pflag.FlagSet, c *cacheFlags) {
	f.StringVar(
		&c.backend,
		"cache-backend",
		"",
		"`WHERE` analyses and theme choices are remembered: memory, file or sqlite (default PRESSWORK_CACHE_BACKEND, "+
			"sqlite)",
	)
	f.StringVar(&c.path, "cache-path", "",
		"`DIR` of that cache (default PRESSWORK_CACHE_PATH, presswork in the user's cache directory)")
	f.StringVar(&c.ttl, "cache-ttl", "",
		"how many `SECONDS` it remembers (default PRESSWORK_CACHE_TTL; 7 days for analyses, 30 for themes)")
	f.StringVar(&c.maxSize, "cache-max-size", "",
		"`SIZE`: 10000 entries or 64MB (default PRESSWORK_CACHE_MAX_SIZE, 10000)")
}

// load reads the cache's configuration. Each error is one of usage.
func (c cacheFlags) load(getenv func(string) string) (cache.Config, cache.Origin, error) {
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
