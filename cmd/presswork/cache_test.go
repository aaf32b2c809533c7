package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// cacheReport is the part of `cache stats --json` that the tests check.
type cacheReport struct {
	Backend, Path string
	Kinds         map[string]map[string]int
	HitRate       float64 `json:"hit_rate"`
}

func cacheStats(t *testing.T, env map[string]string) (r cacheReport) {
	t.Helper()
	runWithEnv(t, env, "cache", "stats", "--json").decodeJSON(t, &r)

	return r
}

func TestCacheCommandsShowTheEntriesOfConversions(t *testing.T) {
	t.Parallel()

	for _, backend := range []string{"sqlite", "file"} {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			env := envWithHome(t, map[string]string{"PRESSWORK_CACHE_BACKEND": backend})
			dir := writeFiles(t, map[string]string{"a.md": meetingNotes})

			for range 2 { // a miss and a hit
				runWithEnv(t, env, "analyze", filepath.Join(dir, "a.md")).checkQuiet(t)
			}

			s := cacheStats(t, env)
			if s.Backend != backend || s.HitRate != 0.5 || s.Kinds["analysis"]["entries"] != 1 ||
				s.Kinds["theme"]["hits"] != 1 ||
				!strings.HasPrefix(s.Path, env["HOME"]) {
				t.Errorf("got %+v; want one analysis, a hit rate of 0.5 and a path in HOME", s)
			}

			runWithEnv(t, env, "cache", "stats").checkPrints(t, "hit rate 50 %")

			if got := runWithEnv(t, env, "cache", "clean"); got.stdout != "0 entries removed\n" {
				t.Errorf("got %v; want no entries removed", got)
			}

			got := runWithEnv(t, env, "cache", "clean", "--cache-ttl", "0")
			if got.stdout != "2 entries removed\n" {
				t.Errorf("got %v; want 2 entries removed", got)
			}

			runWithEnv(t, env, "cache", "clear").checkQuiet(t)

			if s := cacheStats(t, env); s.Kinds["analysis"]["entries"] != 0 || s.HitRate != 0 {
				t.Errorf("after clear: got %+v; want no entries and a hit rate of 0", s)
			}
		})
	}
}

func TestCacheConfigNamesTheSourceOfEachValue(t *testing.T) {
	t.Parallel()
	env := envWithHome(t, map[string]string{"PRESSWORK_CACHE_TTL": "60", "PRESSWORK_CACHE_PATH": "/somewhere"})

	runWithEnv(t, env, "cache", "config", "--show", "--cache-max-size", "64MB").
		checkPrints(t, "sqlite", "default", "/somewhere", "PRESSWORK_CACHE_PATH", "60 s (1m0s)", "64MB", "flag")
}

func TestAnUnusableCacheDoesNotFailAConversion(t *testing.T) {
	t.Parallel()

	dir := writeFiles(t, map[string]string{
		"a.md":             meetingNotes,
		"file":             "",
		"damaged/cache.db": strings.Repeat("not a database ", 1000),
	})
	for name, c := range map[string]struct{ path, wantStderr string }{
		"a file":  {"file", "cannot use the cache"},
		"damaged": {"damaged", "set aside"},
	} {
		t.Run(name, func(t *testing.T) {
			env := envWithHome(t, map[string]string{"PRESSWORK_CACHE_PATH": filepath.Join(dir, c.path)})

			got := runWithEnv(t, env, "md2pdf", "--html", filepath.Join(dir, "a.md"), "--ai-theme")
			got.check(t, exitOK, c.wantStderr)
		})
	}

	env := envWithHome(t, map[string]string{"PRESSWORK_CACHE_PATH": filepath.Join(dir, "file")})
	got := runWithEnv(t, env, "cache", "clear")
	got.check(t, exitFailed, "not a directory")
}

func TestWarmupAndPicturesUseTheBrowser(t *testing.T) {
	t.Parallel()
	needsChromium(t)
	env := envWithHome(t, nil)
	dir := writeFiles(t, map[string]string{"a.md": meetingNotes})
	path := func(name string) string { return filepath.Join(dir, name) }

	got := runWithEnv(t, env, "warmup", "all", path("a.md"), path("none.md"))
	got.check(t, exitFailed, "none.md: there is no such file")

	for _, want := range []string{"themes: 35", "fonts: ", "browser: version ", "a.md: "} {
		if !strings.Contains(got.stdout, want) {
			t.Errorf("stdout is %q, want %q in it", got.stdout, want)
		}
	}

	runWithEnv(t, env, "cache", "stats").checkPrints(t, "analysis  1")

	got = runWithEnv(t, env, "telemetry", "visualize", "-o", path("c.png"))
	if got.code != exitOK || !strings.HasPrefix(readFile(t, path("c.png")), "\x89PNG") {
		t.Errorf("got %v; want a PNG file", got)
	}

	got = runWithEnv(t, env, "theme-preview", "--mood=creative", "-o", path("g.html"))

	page := readFile(t, path("g.html"))
	if got.code != exitOK || !strings.Contains(got.stderr, "cmyk (") || strings.Count(page, `class="picture"`) != 12 ||
		!strings.Contains(page, ">chosen<") {
		t.Errorf("got %v; want a gallery of 12 pictures with the chosen theme", got)
	}
}
