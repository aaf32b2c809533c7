package cache_test

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"presswork/internal/cache"
	"presswork/internal/test/wait"
)

func TestFileCacheRestoresALostCount(t *testing.T) {
	t.Parallel()

	for name, lose := range map[string]func(path string) error{
		"missing": os.Remove,
		"damaged": func(path string) error { return os.WriteFile(path, []byte(`{"totals":`), 0o600) },
		"negative": func(path string) error {
			return os.WriteFile(path, []byte(`{"version":1,"totals":{"entries":-99,"bytes":-99}}`), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			put := func(from int) {
				t.Helper()

				c, err := cache.OpenFile(dir, cache.Options{MaxEntries: 10})
				if err != nil {
					t.Fatal(err)
				}

				for i := range 10 {
					err := c.Put(t.Context(), cache.Theme, fmt.Sprint("k", from+i), json.RawMessage("1"))
					if err != nil {
						t.Fatal(err)
					}
				}

				if err := c.Close(); err != nil {
					t.Fatal(err)
				}
			}
			put(0)

			if err := lose(filepath.Join(dir, "counters.json")); err != nil {
				t.Fatal(err)
			}
			put(10)

			entries, err := filepath.Glob(filepath.Join(dir, "theme", "*", "*.json"))
			if len(entries) > 10 || err != nil {
				t.Errorf("got %d entries (%v), want at most the cap of 10", len(entries), err)
			}
		})
	}
}

func TestClearRemovesOnlyFilesOfTheCache(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	foreign := []string{
		filepath.Join(dir, "damaged", "photo.jpg"),
		filepath.Join(dir, "notes.txt"),
		filepath.Join(dir, ".new-young"),
		filepath.Join(dir, "theme", "ab", ".new-young"),
		filepath.Join(dir, "theme", "colors.json"),
		filepath.Join(dir, "theme", "dark", "colors.json"),
		filepath.Join(dir, "analysis", "co", "deep", "colors.json"),
	}

	ownFiles := []string{
		filepath.Join(dir, "damaged", "abc.json-1"),
		filepath.Join(dir, ".new-old"),
		filepath.Join(dir, "theme", "ab", ".new-old"),
		filepath.Join(dir, "cache.db.damaged-1"),
	}
	for _, path := range append(foreign, ownFiles...) {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}

	long := time.Now().Add(-2 * time.Hour)
	for _, path := range ownFiles[1:3] {
		if err := os.Chtimes(path, long, long); err != nil {
			t.Fatal(err)
		}
	}

	for _, backend := range []string{"file", "sqlite"} {
		c, err := cache.Open(t.Context(), cache.Config{Backend: backend, Path: dir, MaxSize: "10"}, cache.Options{})
		if err != nil {
			t.Fatal(err)
		}

		err = errors.Join(c.Put(t.Context(), cache.Theme, "abc", json.RawMessage("1")), c.Clear(t.Context()), c.Close())
		if err != nil {
			t.Fatal(err)
		}
	}

	for _, path := range foreign {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("a file of another program: %v", err)
		}
	}

	for _, path := range ownFiles {
		if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: got %v, want it removed", path, err)
		}
	}
}

func TestOpenWaitsForAnotherProgramsTransaction(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()

	other, err := sql.Open("sqlite", filepath.Join(dir, "cache.db")+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()

	transaction, err := other.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	opened := make(chan error, 1)

	go func() {
		c, err := cache.OpenSQLite(t.Context(), dir, cache.Options{})
		if err == nil {
			err = c.Close()
		}
		opened <- err
	}()

	select {
	case err := <-opened:
		t.Fatalf("OpenSQLite did not wait: %v", err)
	case <-time.After(100 * time.Millisecond):
	}

	if err := transaction.Rollback(); err != nil {
		t.Fatal(err)
	}

	if err := wait.Receive(t, "the database", opened); err != nil {
		t.Error(err)
	}
}

func TestTheErrorOfALockedDatabaseNamesIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()

	c, err := cache.OpenSQLite(t.Context(), dir, cache.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()

	locking, err := sql.Open("sqlite", filepath.Join(dir, "cache.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer locking.Close()

	if _, err := locking.ExecContext(t.Context(), "BEGIN EXCLUSIVE"); err != nil {
		t.Fatal(err)
	}

	err = c.Clear(t.Context())
	if err == nil || !strings.Contains(err.Error(), "another program holds the cache "+dir) {
		t.Errorf("got %v, want that another program holds the cache", err)
	}
}
