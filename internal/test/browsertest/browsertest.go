// Package browsertest runs real browsers for tests.
package browsertest

import (
	"context"
	"log/slog"
	"os"
	"testing"
	"time"

	"presswork/internal/chromium"
)

// Start runs a browser until the test ends. Without a Dir it gets one, and
// without a Log it writes to that of the test.
func Start(t testing.TB, o chromium.Options) *chromium.Browser {
	t.Helper()
	if testing.Short() {
		t.Skip("needs Chromium; `make test` runs this test")
	}
	if o.Dir == "" {
		o.Dir = PublicDir(t)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
	}
	b := chromium.New(o)
	if err := b.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := b.Stop(ctx); err != nil {
			t.Errorf("Stop: %v", err)
		}
	})
	return b
}

// PublicDir is a directory that the browser's user can pass through, which
// t.TempDir of root is not.
func PublicDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pwchrome")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
