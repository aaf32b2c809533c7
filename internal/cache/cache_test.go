package cache_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"presswork/internal/cache"
	"presswork/internal/cache/cachetest"
	"presswork/internal/test/redistest"
)

func TestMemoryConforms(t *testing.T) {
	t.Parallel()
	cachetest.Run(t, func(_ *testing.T, o cache.Options) cache.Cache { return cache.NewMemory(o) }, nil)
}

func TestFileConforms(t *testing.T) {
	t.Parallel()
	var dir string
	reopen := func(t *testing.T, o cache.Options) cache.Cache { return must(cache.OpenFile(dir, o))(t) }
	cachetest.Run(t, func(t *testing.T, o cache.Options) cache.Cache {
		dir = t.TempDir()
		return reopen(t, o)
	}, reopen)
}

func TestSQLiteConforms(t *testing.T) {
	t.Parallel()
	var dir string
	reopen := func(t *testing.T, o cache.Options) cache.Cache { return must(cache.OpenSQLite(t.Context(), dir, o))(t) }
	cachetest.Run(t, func(t *testing.T, o cache.Options) cache.Cache {
		dir = t.TempDir()
		return reopen(t, o)
	}, reopen)
}

func TestRedisConforms(t *testing.T) {
	t.Parallel()

	opt, err := redis.ParseURL(redistest.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(opt)
	t.Cleanup(func() { client.Close() })
	reopen := func(_ *testing.T, o cache.Options) cache.Cache { return cache.NewRedis(client, o) }
	cachetest.Run(t, func(t *testing.T, o cache.Options) cache.Cache {
		client.FlushAll(t.Context())
		return reopen(t, o)
	}, reopen)
}

// must takes the results of an Open function. The function that it returns gives the cache, or fails the test on an
// error.
func must[C cache.Cache](c C, err error) func(*testing.T) cache.Cache {
	return func(t *testing.T) cache.Cache {
		t.Helper()

		if err != nil {
			t.Fatal(err)
		}

		return c
	}
}

// logBuffer collects the log as text.
type logBuffer struct{ strings.Builder }

func (b *logBuffer) logger() *slog.Logger { return slog.New(slog.NewTextHandler(b, nil)) }

func TestADamagedFileIsSetAside(t *testing.T) {
	t.Parallel()
	dir, log := t.TempDir(), &logBuffer{}

	c, err := cache.OpenFile(dir, cache.Options{Log: log.logger()})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()

	if err := c.Put(t.Context(), cache.Theme, "abc", json.RawMessage("1")); err != nil {
		t.Fatal(err)
	}

	path := filepath.Join(dir, "theme", "ab", "abc.json")

	for _, content := range []string{"", "{", `{"version":1}`, "\x00\xff", `{"version":1,"made":"2026-01-01T00:00:00Z","ttl":"x"}`} {
		t.Run(fmt.Sprintf("%q", content), func(t *testing.T) {
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}

			if v, found, err := c.Get(t.Context(), cache.Theme, "abc"); found || err != nil {
				t.Errorf("got %s, %v; want nothing", v, err)
			}

			if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("Stat of the damaged file: got no error, want it moved")
			}
		})
	}

	if !strings.Contains(log.String(), "set aside") {
		t.Errorf("got the log %s, want that the file was set aside", log)
	}

	if n, err := c.Clean(t.Context()); n != 5 || err != nil {
		t.Errorf("Clean removed %d, %v; want 5", n, err)
	}
	// An entry of a newer version stays.
	if err := os.WriteFile(path, []byte(`{"version":9,"made":"2026-01-01T00:00:00Z","ttl":1,"value":1}`),
		0o600); err != nil {
		t.Fatal(err)
	}

	if _, found, err := c.Get(t.Context(), cache.Theme, "abc"); found || err != nil {
		t.Errorf("an entry of a newer version: got found %v, %v; want nothing", found, err)
	}

	if _, err := os.Stat(path); err != nil {
		t.Error("an entry of a newer version was removed")
	}
}

func TestCacheFilesAreReadableByTheUserOnly(t *testing.T) {
	t.Parallel()

	for _, backend := range []string{"file", "sqlite"} {
		dir := t.TempDir() // with a mode that lets other users read it

		c, err := cache.Open(t.Context(), cache.Config{Backend: backend, Path: dir, MaxSize: "10"}, cache.Options{})
		if err != nil {
			t.Fatal(err)
		}
		put := c.Put(t.Context(), cache.Theme, "abc", json.RawMessage("1"))

		err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}

			info, err := d.Info()
			if err == nil && info.Mode().Perm()&0o077 != 0 {
				t.Errorf("%s has mode %s, want no rights for others", path, info.Mode())
			}

			return err
		})
		if err := errors.Join(put, err, c.Close()); err != nil {
			t.Error(err)
		}
	}
}

func TestADamagedDatabaseIsSetAside(t *testing.T) {
	t.Parallel()

	for name, damage := range map[string]func(b []byte) []byte{
		"another file":  func([]byte) []byte { return []byte(strings.Repeat("not a database ", 1000)) },
		"torn pages":    func(b []byte) []byte { copy(b[4096:], strings.Repeat("\xff", len(b)-4096)); return b },
		"half a file":   func(b []byte) []byte { return b[:len(b)/2] },
		"a torn header": func(b []byte) []byte { copy(b, "\x00\x00\x00\x00"); return b },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, log := t.TempDir(), &logBuffer{}
			fillDatabase(t, dir)
			path := filepath.Join(dir, "cache.db")

			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}

			if err := os.WriteFile(path, damage(b), 0o600); err != nil {
				t.Fatal(err)
			}

			c, err := cache.OpenSQLite(t.Context(), dir, cache.Options{Log: log.logger()})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()

			for i := range 200 {
				if _, _, err := c.Get(t.Context(), cache.Analysis, fmt.Sprint("k", i)); err != nil {
					t.Fatal(err)
				}
			}

			if err := c.Put(t.Context(), cache.Analysis, "after", json.RawMessage("1")); err != nil {
				t.Fatal(err)
			}

			if _, found, err := c.Get(t.Context(), cache.Analysis, "after"); !found || err != nil {
				t.Errorf("the new cache does not return a stored value: %v", err)
			}

			if !strings.Contains(log.String(), "set aside") {
				t.Errorf("got the log %s, want that the file was set aside", log)
			}
		})
	}
}

// fillDatabase stores 200 entries.
func fillDatabase(t *testing.T, dir string) {
	t.Helper()

	c, err := cache.OpenSQLite(t.Context(), dir, cache.Options{})
	if err != nil {
		t.Fatal(err)
	}

	for i := range 200 {
		err := c.Put(t.Context(), cache.Analysis, fmt.Sprint("k", i), json.RawMessage(`"`+strings.Repeat("x", 300)+`"`))
		if err != nil {
			t.Fatal(err)
		}
	}

	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestANewerDatabaseIsLeftAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	fillDatabase(t, dir)
	path := filepath.Join(dir, "cache.db")

	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	b[63] = 99 // the last byte of user_version, in the file's header
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}

	if _, err := cache.OpenSQLite(t.Context(), dir, cache.Options{}); !errors.Is(err, cache.ErrNewer) {
		t.Errorf("got %v, want %v", err, cache.ErrNewer)
	}
	log := &logBuffer{}

	c, err := cache.OpenOrMemory(t.Context(), cache.Config{Backend: "sqlite", Path: dir, MaxSize: "10"},
		cache.Options{Log: log.logger()})
	if _, memory := c.(*cache.Memory); err != nil || !memory || !strings.Contains(log.String(), "newer version") {
		t.Errorf("got %T, %v, log %s", c, err, log.String())
	}
}

func TestAnUnusableFolderDoesNotFailARun(t *testing.T) {
	t.Parallel()

	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}

	for _, backend := range []string{"file", "sqlite"} {
		log := &logBuffer{}

		c, err := cache.OpenOrMemory(t.Context(), cache.Config{Backend: backend, Path: file, MaxSize: "1MB"},
			cache.Options{Log: log.logger()})
		if _, memory := c.(*cache.Memory); err != nil || !memory || !strings.Contains(log.String(), "cannot be used") {
			t.Errorf("%s: got %T, %v, log %s", backend, c, err, log.String())
		}
	}
}

func BenchmarkHit(b *testing.B) {
	value := json.RawMessage(`"` + strings.Repeat("x", 900) + `"`)
	measure := func(name string, c cache.Cache, err error) {
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			for i := range 1000 {
				if err := c.Put(context.Background(), cache.Analysis, fmt.Sprint("key", i), value); err != nil {
					b.Fatal(err)
				}
			}

			for b.Loop() {
				if _, found, err := c.Get(context.Background(), cache.Analysis, "key500"); !found || err != nil {
					b.Fatal(found, err)
				}
			}
		})
	}
	measure("memory", cache.NewMemory(cache.Options{}), nil)
	f, err := cache.OpenFile(b.TempDir(), cache.Options{})
	measure("file", f, err)
	s, err := cache.OpenSQLite(b.Context(), b.TempDir(), cache.Options{})
	measure("sqlite", s, err)

	if testing.Short() {
		return
	}

	opt, err := redis.ParseURL(redistest.Start(b))
	if err != nil {
		b.Fatal(err)
	}

	client := redis.NewClient(opt)
	defer client.Close()
	measure("redis", cache.NewRedis(client, cache.Options{}), nil)
	b.Run("redis round trip", func(b *testing.B) {
		for b.Loop() {
			if err := client.Ping(b.Context()).Err(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func TestRedisLeavesEntriesOfANewerVersion(t *testing.T) {
	t.Parallel()

	opt, err := redis.ParseURL(redistest.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	client := redis.NewClient(opt)
	t.Cleanup(func() { client.Close() })

	if err := client.ZAdd(t.Context(), "presswork:{cache}:used", redis.Z{Member: "mood/abc"}).Err(); err != nil {
		t.Fatal(err)
	}
	c := cache.NewRedis(client, cache.Options{})

	if n, err := c.Clean(t.Context()); n != 0 || err != nil {
		t.Errorf("Clean removed %d entries (%v), want none", n, err)
	}

	if s, err := c.Stats(t.Context()); len(s.Kinds) != len(cache.Kinds()) || err != nil {
		t.Errorf("got the kinds %v (%v), want only known ones", s.Kinds, err)
	}
}
