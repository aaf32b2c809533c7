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
		dir := files(t, map[string]string{"a.md": "a", "b.md": "b"})
		a, b, later := filepath.Join(dir, "a.md"), filepath.Join(dir, "b.md"), filepath.Join(dir, "later.png")
		snapshot := local.Take(a, b, later)
		// write gives each content a time of its own: the files' clock is not the
		// test's.
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
		waits := func(done chan error, d time.Duration) {
			t.Helper()

			select {
			case err := <-done:
				t.Fatalf("Await returned %v too early", err)
			case <-time.After(d):
			}
		}
		returns := func(done chan error, within time.Duration) {
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
		waits(done, time.Hour)

		for range 20 { // a file that keeps changing is not read yet
			write(a, "more")
			waits(done, 90*time.Millisecond)
		}
		returns(done, 400*time.Millisecond)

		snapshot = local.Take(a, b, later)
		done = await()

		if err := os.Remove(b); err != nil {
			t.Fatal(err)
		}
		waits(done, 500*time.Millisecond) // an editor puts it back
		write(b, "new")
		returns(done, 400*time.Millisecond)

		snapshot = local.Take(a, b, later)
		done = await()

		if err := os.Remove(b); err != nil {
			t.Fatal(err)
		}
		returns(done, 3*time.Second) // it stays away

		snapshot = local.Take(a, b, later)
		done = await()
		write(later, "it appears")
		returns(done, 400*time.Millisecond)
	})
}

func TestAwaitEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	if err := local.Await(ctx, local.Take(filepath.Join(t.TempDir(), "x"))); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestSourcesAreWhatAResultDependsOn(t *testing.T) {
	t.Parallel()
	c := start(t, local.Options{Output: presswork.HTML})
	dir := files(t, map[string]string{"a.md": "![a](img/a.png)"})
	source, image := filepath.Join(dir, "a.md"), filepath.Join(dir, "img", "a.png")

	out, err := c.Convert(t.Context(), local.Input{Path: source, Output: filepath.Join(dir, "a.html")})
	if err != nil {
		t.Fatal(err)
	}

	if out.Sources.Changed() {
		t.Error("changed without a change")
	}
	// The image was looked for and missing: its coming is a change.
	if err := errors.Join(os.Mkdir(filepath.Dir(image), 0o755), os.WriteFile(image, []byte("x"), 0o644)); err != nil {
		t.Fatal(err)
	}

	if !out.Sources.Changed() {
		t.Errorf("the image that came is not noticed: %v", out.Sources)
	}
}
