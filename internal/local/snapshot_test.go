package local_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"presswork"
	"presswork/internal/local"
)

func TestAwaitReturnsWhenFilesHaveSettled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		dir := writeFiles(t, map[string]string{"a.md": "a", "b.md": "b"})
		a, b, later := filepath.Join(dir, "a.md"), filepath.Join(dir, "b.md"), filepath.Join(dir, "later.png")
		snapshot := local.Take(a, b, later)
		// write writes a file with a new modification time. The file system does not use the clock of the bubble.
		stamp := time.Unix(1_000_000_000, 0)
		write := func(path, text string) {
			stamp = stamp.Add(time.Second)
			if err := errors.Join(os.WriteFile(path, []byte(text), 0o644), os.Chtimes(path, stamp, stamp)); err != nil {
				t.Error(err)
			}
		}
		await := func() (done chan error) {
			done = make(chan error, 1)
			go func() { done <- local.Await(t.Context(), snapshot) }()

			return done
		}
		// mustWait fails the test if Await returns within d.
		mustWait := func(done chan error, d time.Duration) {
			t.Helper()

			select {
			case err := <-done:
				t.Fatalf("Await returned %v too early", err)
			case <-time.After(d):
			}
		}
		// mustReturn fails the test unless Await returns in time.
		mustReturn := func(done chan error, within time.Duration) {
			t.Helper()

			select {
			case err := <-done:
				if err != nil {
					t.Fatal(err)
				}
			case <-time.After(within):
				t.Fatalf("Await did not return within %s", within)
			}
		}

		done := await()
		mustWait(done, time.Hour)

		for range 20 { // Await waits while a file keeps changing
			write(a, "more")
			mustWait(done, 90*time.Millisecond)
		}
		mustReturn(done, 400*time.Millisecond)

		snapshot = local.Take(a, b, later)
		done = await()

		if err := os.Remove(b); err != nil {
			t.Fatal(err)
		}
		mustWait(done, 500*time.Millisecond) // an editor may create it again
		write(b, "new")
		mustReturn(done, 400*time.Millisecond)

		snapshot = local.Take(a, b, later)
		done = await()

		if err := os.Remove(b); err != nil {
			t.Fatal(err)
		}
		mustReturn(done, 3*time.Second) // the file is not created again

		snapshot = local.Take(a, b, later)
		done = await()
		write(later, "it appears")
		mustReturn(done, 400*time.Millisecond)
	})
}

func TestAwaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	if err := local.Await(ctx, local.Take(filepath.Join(t.TempDir(), "x"))); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
}

func TestSourcesIncludeMissingFiles(t *testing.T) {
	t.Parallel()
	c := startConverter(t, local.Options{Output: presswork.HTML})
	dir := writeFiles(t, map[string]string{"a.md": "![a](img/a.png)"})
	source, image := filepath.Join(dir, "a.md"), filepath.Join(dir, "img", "a.png")

	out, err := c.Convert(t.Context(), local.Input{Path: source, Output: filepath.Join(dir, "a.html")})
	if err != nil {
		t.Fatal(err)
	}

	if out.Sources.Changed() {
		t.Error("Changed = true before any change")
	}
	// The image was missing. Its creation is a change.
	if err := errors.Join(os.Mkdir(filepath.Dir(image), 0o755), os.WriteFile(image, []byte("x"), 0o644)); err != nil {
		t.Fatal(err)
	}

	if !out.Sources.Changed() {
		t.Errorf("Changed = false after the image was created: %v", out.Sources)
	}
}
