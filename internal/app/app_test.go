package app

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"presswork/internal/config"
	"presswork/internal/test/redistest"
	"presswork/internal/test/wait"
)

// options returns options for both roles in a temporary folder, with a private Redis and without a browser.
func options(t *testing.T, more map[string]string) Options {
	t.Helper()
	dir := t.TempDir()
	settings := map[string]string{
		"API_PORT":       "0",
		"WORKER_QUEUES":  "text",
		"WORKERS":        "1",
		"DATA_DIR":       filepath.Join(dir, "data"),
		"CACHE_DIR":      filepath.Join(dir, "cache"),
		"PDF_OUTPUT_DIR": filepath.Join(dir, "out"),
		"THEMES_DIR":     dir,
	}
	maps.Copy(settings, more)

	cfg, err := config.Load(func(name string) string { return settings[name] })
	if err != nil {
		t.Fatal(err)
	}

	return Options{
		Config: cfg, Roles: Roles{API: true, Worker: true}, Version: "test", Log: slog.New(slog.DiscardHandler),
	}
}

// readyz returns nil if the process at this address is ready.
func readyz(address string) error {
	res, err := http.Get("http://" + address + "/readyz")
	if err != nil {
		return err
	}
	res.Body.Close()

	if res.StatusCode != http.StatusOK {
		return errors.New(res.Status)
	}

	return nil
}

func TestAnAppIsReadyAfterStartAndUnreachableAfterStop(t *testing.T) {
	t.Parallel()

	for _, roles := range []Roles{{API: true, Worker: true}, {API: true}, {Worker: true}} {
		t.Run(roles.name(), func(t *testing.T) {
			t.Parallel()

			more := map[string]string{}
			if !roles.both() {
				more = map[string]string{
					"REDIS_URL":     redistest.Start(t),
					"WORKER_QUEUES": "infer",
					"WORKER_ADDR":   "127.0.0.1:0",
				}
			}
			o := options(t, more)
			o.Roles = roles

			a, err := New(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}

			if err := a.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			address := a.Address()
			wait.Until(t, "the process is ready", func() bool { return readyz(address) == nil })

			if err := drain(t.Context(), a.Stop); err != nil {
				t.Error(err)
			}

			if err := readyz(address); err == nil {
				t.Error("readyz after Stop: got nil, want an error")
			}
		})
	}
}

// A private Redis locks its folder, so the second New times out if the first one left its Redis running.
func TestAFailedNewStopsWhatItStarted(t *testing.T) {
	t.Parallel()
	o := options(t, nil)
	validPath := o.Config.KeysConfig
	o.Config.KeysConfig = filepath.Join(t.TempDir(), "none.yaml")

	_, err := New(t.Context(), o)
	if _, ok := errors.AsType[UsageError](err); !ok {
		t.Fatalf("New without the file of keys: got %v, want a UsageError", err)
	}

	o.Config.KeysConfig = validPath

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()

	a, err := New(ctx, o)
	if err != nil {
		t.Fatal(err)
	}

	if err := drain(t.Context(), a.Stop); err != nil {
		t.Error(err)
	}
}
