package storagetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/test/wait"
	"presswork/storage"
)

// parallelWriters checks that exactly one of many simultaneous Puts of a key succeeds.
func parallelWriters(t *testing.T, s storage.Store) {
	const writers = 50
	var wg sync.WaitGroup

	won := make(chan string, writers)
	for n := range writers {
		wg.Go(func() {
			body := strings.Repeat(fmt.Sprintf("%02d", n), 1000)
			switch _, err := s.Put(t.Context(), "race/x", strings.NewReader(body), int64(len(body)), storage.Attrs{}); {
			case err == nil:
				won <- body
			case !errors.Is(err, storage.ErrExists):
				t.Error(err)
			}
		})
	}
	wg.Wait()

	if len(won) != 1 {
		t.Fatalf("%d writers succeeded, want one", len(won))
	}

	got, info := get(t, s, "race/x", storage.Range{})
	if want := <-won; string(got) != want || info.SHA256 != digest([]byte(want)) {
		t.Errorf("got %.8q… with %+v, want %.8q…", got, info, want)
	}
}

// atomicity reads an object while it is created and deleted again and again. The bytes
// must always match the digest.
func atomicity(t *testing.T, s storage.Store) {
	ctx, cancel := context.WithCancel(t.Context())

	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	seen := make(chan struct{}, 1)

	for range 4 {
		wg.Go(func() {
			for ctx.Err() == nil {
				r, info, err := s.Get(ctx, "renders/a", storage.Range{})
				if err != nil {
					if !errors.Is(err, storage.ErrNotFound) && ctx.Err() == nil {
						t.Error(err)
					}
					continue
				}
				b, err := io.ReadAll(r)
				r.Close()

				if err != nil && ctx.Err() == nil {
					t.Error(err)
				}

				if err == nil && (digest(b) != info.SHA256 || info.Meta["first"] != string(b[:1])) {
					t.Errorf("got %d bytes %.3q…, which do not match %+v", len(b), b, info)
				}

				select {
				case seen <- struct{}{}:
				default:
				}
			}
		})
	}

	for n := range 300 {
		letter := string(rune('a' + n%26))
		attrs := storage.Attrs{Meta: map[string]string{"first": letter}}

		body := strings.Repeat(letter, 20_000)
		if _, err := s.Put(t.Context(), "renders/a", stream(body), int64(len(body)), attrs); err != nil {
			t.Fatal(err)
		}
		wait.Receive(t, "a read", seen)

		if err := s.Delete(t.Context(), "renders/a"); err != nil {
			t.Fatal(err)
		}
	}
}

// copying checks that Copy keeps the bytes and the attributes.
func copying(t *testing.T, s storage.Store) {
	attrs := storage.Attrs{ContentType: "application/pdf", Meta: map[string]string{"pages": "1"}}

	made, err := s.Put(t.Context(), "renders/h.pdf", strings.NewReader("bytes"), 5, attrs)
	if err != nil {
		t.Fatal(err)
	}

	copied, err := s.Copy(t.Context(), "renders/h.pdf", "artifacts/1/x.pdf")
	if err != nil {
		t.Fatal(err)
	}

	if err := s.Delete(t.Context(), "renders/h.pdf"); err != nil {
		t.Fatal(err)
	}

	got, info := get(t, s, "artifacts/1/x.pdf", storage.Range{})
	if string(got) != "bytes" {
		t.Errorf("got %q, want bytes", got)
	}

	if copied.Modified.Before(made.Modified) {
		t.Errorf("the original is from %s and the copy from %s: the copy of an old object would expire at once",
			made.Modified, copied.Modified)
	}
	want := made

	want.Key, want.Modified, info.Modified, copied.Modified = "artifacts/1/x.pdf", time.Time{}, time.Time{}, time.Time{}
	if d := cmp.Diff([]storage.Info{want, want}, []storage.Info{copied, info}); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// copyRefused checks that Copy needs a source and replaces nothing.
func copyRefused(t *testing.T, s storage.Store) {
	if _, err := s.Copy(t.Context(), "none", "a"); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("copy of nothing: got %v, want ErrNotFound", err)
	}
	wantAbsent(t, s, "a")
	put(t, s, "a", []byte("1"))
	put(t, s, "b", []byte("2"))

	if _, err := s.Copy(t.Context(), "a", "b"); !errors.Is(err, storage.ErrExists) {
		t.Errorf("copy over an object: got %v, want ErrExists", err)
	}

	if got, _ := get(t, s, "b", storage.Range{}); string(got) != "2" {
		t.Errorf("the object is now %q, want 2", got)
	}
}

// hostileKeys checks that the store rejects keys that could escape its folder or be misread.
func hostileKeys(t *testing.T, s storage.Store) {
	put(t, s, "ok", nil)

	for _, key := range []string{
		"", "/", "/etc/passwd", "a/", "a//b", ".", "..", "../x", "a/../b", "a/..", "./a", "a/.hidden", ".tmp/x", ".lock",
		"a\x00b", "a b", "a\nb", "a\\b", "a:b", "a%2fb", "a?b", "a#b", "å", "a*b", "C:\\x", "~/x",
		strings.Repeat("a", 201), strings.Repeat("a/", 256) + "b",
	} {
		_, err := s.Put(t.Context(), key, strings.NewReader("x"), 1, storage.Attrs{})
		if !errors.Is(err, storage.ErrInvalidKey) {
			t.Errorf("Put %q: got %v, want ErrInvalidKey", key, err)
		}

		if _, _, err := s.Get(t.Context(), key, storage.Range{}); !errors.Is(err, storage.ErrInvalidKey) {
			t.Errorf("Get %q: got %v, want ErrInvalidKey", key, err)
		}

		if _, err := s.Stat(t.Context(), key); !errors.Is(err, storage.ErrInvalidKey) {
			t.Errorf("Stat %q: got %v, want ErrInvalidKey", key, err)
		}

		if err := s.Delete(t.Context(), key); !errors.Is(err, storage.ErrInvalidKey) {
			t.Errorf("Delete %q: got %v, want ErrInvalidKey", key, err)
		}

		if _, err := s.Copy(t.Context(), "ok", key); !errors.Is(err, storage.ErrInvalidKey) {
			t.Errorf("Copy to %q: got %v, want ErrInvalidKey", key, err)
		}

		if _, err := s.Copy(t.Context(), key, "new"); !errors.Is(err, storage.ErrInvalidKey) {
			t.Errorf("Copy of %q: got %v, want ErrInvalidKey", key, err)
		}

		if key == "" || key == "a/" {
			continue // valid as prefixes
		}

		for _, err := range s.List(t.Context(), key) {
			if !errors.Is(err, storage.ErrInvalidKey) {
				t.Errorf("List %q: got %v, want ErrInvalidKey", key, err)
			}
		}
	}
}

// hostileAttrs checks that the store rejects attributes that could break an HTTP header.
func hostileAttrs(t *testing.T, s storage.Store) {
	for _, attrs := range []storage.Attrs{
		{ContentType: "text/plain\r\nX-Evil: 1"},
		{ContentType: strings.Repeat("x", 256)},
		{Meta: map[string]string{"Pages": "1"}},
		{Meta: map[string]string{"": "1"}},
		{Meta: map[string]string{"a b": "1"}},
		{Meta: map[string]string{"a": "1\r\nX-Evil: 1"}},
		{Meta: map[string]string{"a": "é"}},
		{Meta: map[string]string{"a": " padded"}},
		{Meta: map[string]string{"a": strings.Repeat("x", 1025)}},
	} {
		_, err := s.Put(t.Context(), "a", strings.NewReader("x"), 1, attrs)
		if !errors.Is(err, storage.ErrInvalidAttrs) {
			t.Errorf("%+.80v: got %v, want ErrInvalidAttrs", attrs, err)
		}
	}
	wantAbsent(t, s, "a")
}

// cancelled checks that Put and Get end with their context.
func cancelled(t *testing.T, s storage.Store) {
	cause := errors.New("the job was cancelled")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)

	ended := func(err error) bool { return errors.Is(err, cause) || errors.Is(err, context.Canceled) }
	if _, err := s.Put(ctx, "a", strings.NewReader("x"), 1, storage.Attrs{}); !ended(err) {
		t.Errorf("Put: got %v, want %v", err, cause)
	}
	wantAbsent(t, s, "a")
	put(t, s, "b", nil)

	if _, _, err := s.Get(ctx, "b", storage.Range{}); !ended(err) {
		t.Errorf("Get: got %v, want %v", err, cause)
	}

	ctx, cancel = context.WithCancelCause(t.Context())

	r := io.MultiReader(strings.NewReader(strings.Repeat("x", 50_000)), callReader(func() { cancel(cause) }),
		strings.NewReader("rest"))
	if _, err := s.Put(ctx, "a", r, -1, storage.Attrs{}); !ended(err) {
		t.Errorf("Put with a context that ends during it: got %v, want %v", err, cause)
	}
	wantAbsent(t, s, "a")
}

// callReader is an empty reader that calls a function.
type callReader func()

func (c callReader) Read([]byte) (int, error) {
	c()
	return 0, io.EOF
}

// large checks that an object is not held in memory.
func large(t *testing.T, s storage.Store) {
	const size = 64 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)

	put, err := s.Put(t.Context(), "large", io.LimitReader(&noise{}, size), size, storage.Attrs{})
	if err != nil {
		t.Fatal(err)
	}

	r, info, err := s.Get(t.Context(), "large", storage.Range{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	same, err := sameBytes(r, io.LimitReader(&noise{}, size))
	runtime.ReadMemStats(&after)

	if err != nil || !same || put.Size != size || info.Size != size || put.SHA256 != info.SHA256 {
		t.Errorf("the bytes are equal: %t (%v), Put = %+v, Get = %+v; want %d equal bytes", same, err, put, info, size)
	}

	if grown := after.TotalAlloc - before.TotalAlloc; grown > size/2 {
		t.Errorf("moving %[2]d MiB allocated %[1]d MiB, want at most half of it", grown>>20, size>>20)
	}
}

// noise is a reader of pseudo-random bytes that are the same in each run.
type noise struct{ n uint64 }

// Read returns bytes that do not compress.
func (r *noise) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(r.n * 0x9E3779B97F4A7C15 >> 56)
		r.n++
	}

	return len(p), nil
}

// sameBytes reports whether two readers return the same bytes.
func sameBytes(a, b io.Reader) (bool, error) {
	left, right := make([]byte, 64<<10), make([]byte, 64<<10)
	for {
		n, errA := io.ReadFull(a, left)

		m, errB := io.ReadFull(b, right)
		if n != m || !bytes.Equal(left[:n], right[:m]) {
			return false, nil
		}

		switch end := errors.Is(errA, io.EOF) || errors.Is(errA, io.ErrUnexpectedEOF); {
		case end:
			return errors.Is(errB, io.EOF) || errors.Is(errB, io.ErrUnexpectedEOF), nil
		case errA != nil:
			return false, errA
		}
	}
}
