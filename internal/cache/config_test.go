package cache_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"presswork/internal/cache"
)

func TestConfiguration(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "cache.json")
	write := func(text string) {
		t.Helper()

		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
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
		t.Errorf("got %+v", c)
	}

	for setting, want := range map[string]string{"backend": "PRESSWORK_CACHE_BACKEND", "path": "flag", "ttl.analysis": file, "ttl.theme": "default"} {
		if from[setting] != want {
			t.Errorf("%s comes from %q, want %q", setting, from[setting], want)
		}
	}

	for i, bad := range []struct {
		env  []string
		json string
		says string
	}{
		{env: []string{"PRESSWORK_CACHE_BACKEND", "sqlit"}, says: `did you mean "sqlite"`},
		{env: []string{"PRESSWORK_CACHE_TTL", "1h"}, says: "number of seconds"},
		{env: []string{"PRESSWORK_CACHE_TTL", "-1"}, says: "number of seconds"},
		{env: []string{"PRESSWORK_CACHE_TTL", "NaN"}, says: "number of seconds"},
		{env: []string{"PRESSWORK_CACHE_MAX_SIZE", "many"}, says: "64MB"},
		{env: []string{"PRESSWORK_CACHE_MAX_SIZE", "0"}, says: "64MB"},
		{env: []string{"PRESSWORK_CACHE_MAX_SIZE", "NaNMB"}, says: "64MB"},
		{env: []string{"PRESSWORK_CACHE_MAX_SIZE", "0.0001KB"}, says: "64MB"},
		{env: []string{"PRESSWORK_CACHE_CONFIG", "/nowhere.json"}, says: "no such file"},
		{json: `{"backend":"file"}`, says: "backend_type"},
		{json: `{"ttl":{"themes":1}}`, says: "ttl.theme"},
		{json: `{"ttl":{"theme":-1}}`, says: "number of seconds"},
		{json: `[`, says: "JSON"},
	} {
		t.Run(fmt.Sprintf("row %d", i), func(t *testing.T) {
			if bad.json != "" {
				write(bad.json)
				bad.env = []string{"PRESSWORK_CACHE_CONFIG", file}
			}

			if _, _, err := cache.Load(
				cache.Config{},
				env(bad.env...),
			); err == nil ||
				!strings.Contains(err.Error(), bad.says) {
				t.Errorf("%v %s: got %v, want %q", bad.env, bad.json, err, bad.says)
			}
		})
	}
}
