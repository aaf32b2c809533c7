package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"

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
		"`WHERE` analyses and theme choices are remembered: memory, file or sqlite (default PRESSWORK_CACHE_BACKEND, sqlite)",
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

// notices writes warnings for a person: the message and its details in one
// line.
type notices struct {
	mu *sync.Mutex
	w  io.Writer
}

// newNotices logs warnings and errors to w.
func newNotices(w io.Writer) *slog.Logger { return slog.New(notices{&sync.Mutex{}, w}) }

// Enabled implements slog.Handler.
func (notices) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelWarn }

// Handle implements slog.Handler.
func (n notices) Handle(_ context.Context, r slog.Record) error {
	var details []string
	r.Attrs(func(a slog.Attr) bool {
		switch text := a.Value.String(); {
		case text == "" || text == "<nil>":
		case a.Key == "error" || a.Key == "reason":
			details = append(details, text)
		default:
			details = append(details, a.Key+" "+text)
		}

		return true
	})

	line := "presswork: " + r.Message
	if len(details) > 0 {
		line += " (" + strings.Join(details, ", ") + ")"
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	_, err := fmt.Fprintln(n.w, printable(line))

	return err
}

// WithAttrs implements slog.Handler; nobody here adds any.
func (n notices) WithAttrs([]slog.Attr) slog.Handler { return n }

// WithGroup implements slog.Handler; nobody here groups.
func (n notices) WithGroup(string) slog.Handler { return n }
