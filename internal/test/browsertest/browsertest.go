// Package browsertest runs real browsers for tests: [Start] the browser that prints, [NewVisitor] an ordinary one that
// visits pages as a user does.
package browsertest

import (
	"context"
	"log/slog"
	"testing"

	"presswork/internal/chromium"
	"presswork/internal/test/public"
	"presswork/internal/test/wait"
)

// Start runs a browser until the test ends. Without a Dir it creates one, and without a Log it uses the log of the
// test.
func Start(t testing.TB, o chromium.Options) *chromium.Browser {
	t.Helper()

	if testing.Short() {
		t.Skip("needs Chromium; `make test` runs this test")
	}

	if o.Dir == "" {
		o.Dir = public.Dir(t)
	}

	if o.Log == nil {
		o.Log = slog.New(slog.NewTextHandler(t.Output(), nil))
	}

	b := chromium.New(o)
	if err := b.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), wait.Patience)
		defer cancel()

		if err := b.Stop(ctx); err != nil {
			t.Errorf("Stop: %v", err)
		}
	})

	return b
}
