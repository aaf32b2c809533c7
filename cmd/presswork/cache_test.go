package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

func TestCacheCommandsShowTheEntriesOfConversions(t *testing.T) {
	t.Parallel()

	for _, backend := range []string{"sqlite", "file"} {
		env := home(t, map[string]string{"PRESSWORK_CACHE_BACKEND": backend})

		dir := folder(t, map[string]string{"a.md": minutes})
		for range 2 {
			if got := askIn(t, env, "analyze", filepath.Join(dir, "a.md")); got.code != 0 || got.stderr != "" {
				t.Fatalf("%+v", got)
			}
		}
		stats := func() (s struct {
			Backend, Path string
			Kinds         map[string]map[string]int
			HitRate       float64 `json:"hit_rate"`
		},
		) {
			t.Helper()

			got := askIn(t, env, "cache", "stats", "--json")
			if err := json.Unmarshal([]byte(got.stdout), &s); err != nil || got.code != 0 {
				t.Fatalf("%v: %+v", err, got)
			}

			return s
		}

		s := stats()
		if s.Backend != backend || s.HitRate != 0.5 || s.Kinds["analysis"]["entries"] != 1 ||
			s.Kinds["theme"]["hits"] != 1 || !strings.HasPrefix(s.Path, env["HOME"]) {
			t.Errorf("%+v", s)
		}

		if got := askIn(t, env, "cache", "stats"); !strings.Contains(got.stdout, "hit rate 50 %") {
			t.Errorf("%+v", got)
		}

		if got := askIn(t, env, "cache", "clean"); got.stdout != "0 entries removed\n" {
			t.Errorf("%+v", got)
		}

		if got := askIn(t, env, "cache", "clean", "--cache-ttl", "0"); got.stdout != "2 entries removed\n" {
			t.Errorf("%+v", got)
		}

		if got := askIn(t, env, "cache", "clear"); got.code != 0 || got.stderr != "" {
			t.Errorf("%+v", got)
		}

		if s := stats(); s.Kinds["analysis"]["entries"] != 0 || s.HitRate != 0 {
			t.Errorf("after clear: %+v", s)
		}
	}
	env := home(t, map[string]string{"PRESSWORK_CACHE_TTL": "60", "PRESSWORK_CACHE_PATH": "/somewhere"})

	got := askIn(t, env, "cache", "config", "--show", "--cache-max-size", "64MB")
	for _, want := range []string{"sqlite", "default", "/somewhere", "PRESSWORK_CACHE_PATH", "60 s (1m0s)", "64MB", "flag"} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("%s lacks %q", got.stdout, want)
		}
	}
}

func TestAnUnusableCacheDoesNotFailAConversion(t *testing.T) {
	t.Parallel()

	dir := folder(
		t,
		map[string]string{
			"a.md":             minutes,
			"file":             "",
			"damaged/cache.db": strings.Repeat("not a database ", 1000),
			"newer/cache.db":   "",
		},
	)
	for name, c := range map[string]struct{ path, says string }{
		"a file":  {"file", "the cache cannot be used"},
		"damaged": {"damaged", "set aside"},
	} {
		t.Run(name, func(t *testing.T) {
			env := home(t, map[string]string{"PRESSWORK_CACHE_PATH": filepath.Join(dir, c.path)})

			got := askIn(t, env, "md2pdf", "--html", filepath.Join(dir, "a.md"), "--ai-theme")
			if got.code != 0 || !strings.Contains(got.stderr, c.says) {
				t.Errorf("%s: %+v", name, got)
			}
		})
	}

	env := home(t, map[string]string{"PRESSWORK_CACHE_PATH": filepath.Join(dir, "file")})
	if got := askIn(t, env, "cache", "clear"); got.code != exitFailed ||
		!strings.Contains(got.stderr, "not a directory") {
		t.Errorf("%+v", got)
	}
}

func TestWarmupAndPicturesNeedABrowser(t *testing.T) {
	t.Parallel()
	needsChromium(t)
	env := home(t, nil)
	dir := folder(t, map[string]string{"a.md": minutes})
	in := func(name string) string { return filepath.Join(dir, name) }

	got := askIn(t, env, "warmup", "all", in("a.md"), in("none.md"))
	if got.code != exitFailed || !strings.Contains(got.stderr, "none.md: there is no such file") {
		t.Errorf("%+v", got)
	}

	for _, want := range []string{"themes: 35", "fonts: ", "browser: version ", "a.md: "} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("%q lacks %q", got.stdout, want)
		}
	}

	if got := askIn(t, env, "cache", "stats"); !strings.Contains(got.stdout, "analysis  1") {
		t.Errorf("%+v", got)
	}

	if got := askIn(t, env, "telemetry", "visualize", "-o", in("c.png")); got.code != 0 ||
		!strings.HasPrefix(content(t, in("c.png")), "\x89PNG") {
		t.Errorf("%+v", got)
	}

	got = askIn(t, env, "theme-preview", "--mood=creative", "-o", in("g.html"))
	if page := content(
		t,
		in("g.html"),
	); got.code != 0 || !strings.Contains(got.stderr, "cmyk (") || strings.Count(page, `class="picture"`) != 12 ||
		!strings.Contains(page, ">chosen<") {
		t.Errorf("%+v", got)
	}
}
