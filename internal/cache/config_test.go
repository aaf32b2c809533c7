package cache_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"presswork/internal/cache"
)

func TestLoadMergesFlagsEnvironmentAndFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "cache.json")
	write := func(text string) {
		t.Helper()

		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	// env returns a getenv function. pairs are names and values in turn.
	env := func(pairs ...string) func(string) string {
		return func(name string) string {
			for i := 0; i < len(pairs); i += 2 {
				if pairs[i] == name {
					return pairs[i+1]
				}
			}

			return ""
		}
	}
	write(`{"backend_type":"file","base_path":"/json","ttl":{"analysis":60}}`)

	c, from, err := cache.Load(
		cache.Config{Path: "/flag"},
		env("PRESSWORK_CACHE_CONFIG", file, "PRESSWORK_CACHE_BACKEND", "memory", "PRESSWORK_CACHE_MAX_SIZE", "64MB"),
	)
	if err != nil {
		t.Fatal(err)
	}

	if c.Backend != "memory" || c.Path != "/flag" || c.TTL[cache.Analysis] != time.Minute ||
		c.TTL[cache.Theme] != cache.DefaultTTL(cache.Theme) ||
		c.MaxSize != "64MB" {
		t.Errorf("got %+v, want the backend of the environment, the path of the flag and the TTL of the file", c)
	}

	for setting, want := range map[string]string{"backend": "PRESSWORK_CACHE_BACKEND", "path": "flag", "ttl.analysis": file, "ttl.theme": "default"} {
		if from[setting] != want {
			t.Errorf("%s comes from %q, want %q", setting, from[setting], want)
		}
	}

	for _, bad := range []struct {
		env  []string
		json string
		want string
	}{
		{env: []string{"PRESSWORK_CACHE_BACKEND", "sqlit"}, want: `did you mean "sqlite"`},
		{env: []string{"PRESSWORK_CACHE_TTL", "1h"}, want: "number of seconds"},
		{env: []string{"PRESSWORK_CACHE_TTL", "-1"}, want: "number of seconds"},
		{env: []string{"PRESSWORK_CACHE_TTL", "NaN"}, want: "number of seconds"},
		{env: []string{"PRESSWORK_CACHE_MAX_SIZE", "many"}, want: "64MB"},
		{env: []string{"PRESSWORK_CACHE_MAX_SIZE", "0"}, want: "64MB"},
		{env: []string{"PRESSWORK_CACHE_MAX_SIZE", "NaNMB"}, want: "64MB"},
		{env: []string{"PRESSWORK_CACHE_MAX_SIZE", "0.0001KB"}, want: "64MB"},
		{env: []string{"PRESSWORK_CACHE_CONFIG", "/nowhere.json"}, want: "no such file"},
		{json: `{"backend":"file"}`, want: "backend_type"},
		{json: `{"ttl":{"themes":1}}`, want: "ttl.theme"},
		{json: `{"ttl":{"theme":-1}}`, want: "number of seconds"},
		{json: `[`, want: "JSON"},
	} {
		t.Run(strings.Join(bad.env, "=")+bad.json, func(t *testing.T) {
			if bad.json != "" {
				write(bad.json)
				bad.env = []string{"PRESSWORK_CACHE_CONFIG", file}
			}

			_, _, err := cache.Load(cache.Config{}, env(bad.env...))
			if err == nil || !strings.Contains(err.Error(), bad.want) {
				t.Errorf("%v %s: got %v, want %q", bad.env, bad.json, err, bad.want)
			}
		})
	}
}
