// Package storagetest is the conformance suite for implementations of storage.Store. It
// also starts the MinIO server for the tests of storage/minio.
package storagetest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"presswork/storage"
)

// Run tests a store. It calls open once per test; open returns an empty store.
func Run(t *testing.T, open func(t *testing.T) storage.Store) {
	for name, behaviour := range map[string]func(*testing.T, storage.Store){
		"a stored object is returned with size, digest and attributes": roundTrip,
		"an empty object is an object":                                 emptyObject,
		"an existing object is not replaced":                           createIfAbsent,
		"one of 50 parallel writers wins":                              parallelWriters,
		"a failing reader leaves nothing":                              failingReader,
		"a wrong size leaves nothing":                                  wrongSize,
		"an unknown size is counted":                                   unknownSize,
		"no reader sees a part of an object":                           atomicity,
		"ranges":                                                       ranges,
		"a listing is in key order and keeps to the prefix":            listing,
		"the caller can stop a listing early":                          listingStops,
		"a deleted object is gone and its key free":                    deletion,
		"a copy is an object of its own":                               copying,
		"a copy needs a source and a free key":                         copyRefused,
		"hostile keys are refused everywhere":                          hostileKeys,
		"attributes that HTTP cannot carry are refused":                hostileAttrs,
		"an ended context ends the call":                               cancelled,
		"64 MiB pass through bounded memory":                           large,
		"a store that answers is healthy":                              healthy,
	} {
		t.Run(name, func(t *testing.T) {
			// The large object measures the process's memory, so it runs alone.
			if name != "64 MiB pass through bounded memory" {
				t.Parallel()
			}
			behaviour(t, open(t))
		})
	}
}

// roundTrip checks that an object is read as it was stored, with its attributes.
func roundTrip(t *testing.T, s storage.Store) {
	attrs := storage.Attrs{
		ContentType: "application/pdf",
		Meta:        map[string]string{"pages": "3", "made-by": "a b; c=\"d\""},
	}
	body := []byte("%PDF-1.7 not really")
	before := time.Now().Add(-time.Minute)

	put, err := s.Put(t.Context(), "artifacts/01J.pdf", bytes.NewReader(body), int64(len(body)), attrs)
	if err != nil {
		t.Fatal(err)
	}
	want := storage.Info{Key: "artifacts/01J.pdf", Size: int64(len(body)), SHA256: digest(body), Attrs: attrs}
	got, info := get(t, s, "artifacts/01J.pdf", storage.Range{})

	stat, err := s.Stat(t.Context(), "artifacts/01J.pdf")
	if err != nil {
		t.Fatal(err)
	}

	if !bytes.Equal(got, body) {
		t.Errorf("got %q, want %q", got, body)
	}

	for call, i := range map[string]storage.Info{"Put": put, "Get": info, "Stat": stat} {
		if i.Modified.Before(before) || i.Modified.After(time.Now().Add(time.Minute)) {
			t.Errorf("%s: Modified is %s, want about now", call, i.Modified)
		}

		i.Modified = time.Time{}
		if d := cmp.Diff(want, i); d != "" {
			t.Errorf("%s (-want +got):\n%s", call, d)
		}
	}
}

// emptyObject checks that an object without bytes has a size and a digest.
func emptyObject(t *testing.T, s storage.Store) {
	put(t, s, "a", nil)

	if got, info := get(t, s, "a", storage.Range{}); len(got) != 0 || info.Size != 0 || info.SHA256 != digest(nil) {
		t.Errorf("got %q, %+v; want an empty object", got, info)
	}
}

// createIfAbsent checks that a second Put of a key fails and changes nothing.
func createIfAbsent(t *testing.T, s storage.Store) {
	put(t, s, "a/b", []byte("first"))

	for _, size := range []int64{6, -1} {
		_, err := s.Put(t.Context(), "a/b", strings.NewReader("second"), size, storage.Attrs{})
		if !errors.Is(err, storage.ErrExists) {
			t.Errorf("size %d: got %v, want ErrExists", size, err)
		}
	}

	if got, _ := get(t, s, "a/b", storage.Range{}); string(got) != "first" {
		t.Errorf("the object is now %q, want first", got)
	}
}

// failingReader checks that a Put whose reader fails stores nothing.
func failingReader(t *testing.T, s storage.Store) {
	failure := errors.New("the upload broke off")
	for _, size := range []int64{100_000, -1} {
		r := io.MultiReader(strings.NewReader(strings.Repeat("x", 50_000)), errReader{failure})
		if _, err := s.Put(t.Context(), "a/b", r, size, storage.Attrs{}); !errors.Is(err, failure) {
			t.Errorf("size %d: got %v, want the reader's error", size, err)
		}
		wantAbsent(t, s, "a/b")
	}
}

// errReader is a reader that fails.
type errReader struct{ err error }

func (r errReader) Read([]byte) (int, error) { return 0, r.err }

// wrongSize checks that a Put fails if the size differs from that of the reader.
func wrongSize(t *testing.T, s storage.Store) {
	for _, size := range []int64{0, 4, 6, 100_000} {
		_, err := s.Put(t.Context(), "a", strings.NewReader("12345"), size, storage.Attrs{})
		if !errors.Is(err, storage.ErrSize) {
			t.Errorf("seekable, size %d: got %v, want ErrSize", size, err)
		}

		if _, err := s.Put(t.Context(), "a", stream("12345"), size, storage.Attrs{}); !errors.Is(err, storage.ErrSize) {
			t.Errorf("stream, size %d: got %v, want ErrSize", size, err)
		}
	}
	wantAbsent(t, s, "a")
}

// unknownSize checks that the size may be -1.
func unknownSize(t *testing.T, s storage.Store) {
	info, err := s.Put(t.Context(), "a", stream("12345"), -1, storage.Attrs{})
	if err != nil {
		t.Fatal(err)
	}

	if got, _ := get(t, s, "a", storage.Range{}); info.Size != 5 || string(got) != "12345" {
		t.Errorf("got %q, %+v; want 12345 with its size", got, info)
	}
}

// ranges checks that Get returns exactly the requested bytes.
func ranges(t *testing.T, s storage.Store) {
	put(t, s, "a", []byte("0123456789"))

	for _, c := range []struct {
		rng  storage.Range
		want string
	}{
		{storage.Range{}, "0123456789"},
		{storage.Range{Length: 1}, "0"},
		{storage.Range{Offset: 9}, "9"},
		{storage.Range{Offset: 9, Length: 1}, "9"},
		{storage.Range{Offset: 3, Length: 4}, "3456"},
		{storage.Range{Offset: 3, Length: 100}, "3456789"},
		{storage.Range{Length: 10}, "0123456789"},
	} {
		got, info := get(t, s, "a", c.rng)
		if string(got) != c.want || info.Size != 10 || info.SHA256 != digest([]byte("0123456789")) {
			t.Errorf("%+v: got %q of %+v, want %q", c.rng, got, info, c.want)
		}
	}

	for _, rng := range []storage.Range{{Offset: 10}, {Offset: 11, Length: 1}, {Offset: -1}, {Length: -1}} {
		if r, _, err := s.Get(t.Context(), "a", rng); !errors.Is(err, storage.ErrRange) {
			if err == nil {
				r.Close()
			}
			t.Errorf("%+v: got %v, want ErrRange", rng, err)
		}
	}

	if _, _, err := s.Get(t.Context(), "b", storage.Range{Offset: 1}); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("a range of a missing object: got %v, want ErrNotFound", err)
	}
}

// listing checks that List returns the keys below a prefix.
func listing(t *testing.T, s storage.Store) {
	keys := []string{
		"artifacts/B.pdf",
		"artifacts/A.pdf",
		"artifacts/A/x",
		"artifacts/A-x",
		"sources/1/content.md",
		"sources/1/assets/0",
		"sources/10/content.md",
	}
	for _, key := range keys {
		put(t, s, key, []byte(key))
	}

	for prefix, want := range map[string][]string{
		"":             slices.Sorted(slices.Values(keys)),
		"artifacts/":   {"artifacts/A-x", "artifacts/A.pdf", "artifacts/A/x", "artifacts/B.pdf"},
		"artifacts/A":  {"artifacts/A-x", "artifacts/A.pdf", "artifacts/A/x"},
		"artifacts/A/": {"artifacts/A/x"},
		"sources/1":    {"sources/1/assets/0", "sources/1/content.md", "sources/10/content.md"},
		"sources/1/":   {"sources/1/assets/0", "sources/1/content.md"},
		"sour":         {"sources/1/assets/0", "sources/1/content.md", "sources/10/content.md"},
		"none/":        nil,
	} {
		var got []string

		for info, err := range s.List(t.Context(), prefix) {
			if err != nil {
				t.Fatal(err)
			}

			if info.Size != int64(len(info.Key)) || time.Since(info.Modified).Abs() > time.Minute {
				t.Errorf("got %+v, want a size of %d, modified now", info, len(info.Key))
			}
			got = append(got, info.Key)
		}

		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("prefix %q (-want +got):\n%s", prefix, d)
		}
	}
}

// listingStops checks that the loop over List may end early.
func listingStops(t *testing.T, s storage.Store) {
	for _, key := range []string{"a/1", "a/2", "b/1"} {
		put(t, s, key, nil)
	}

	n := 0
	for range s.List(t.Context(), "") {
		n++
		break
	}

	if n != 1 {
		t.Errorf("got %d objects, want one before the break", n)
	}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()

	var failed error
	for _, err := range s.List(ctx, "") {
		failed = err
		cancel()
	}

	if !errors.Is(failed, context.Canceled) {
		t.Errorf("a listing whose context ended: got %v, want %v", failed, context.Canceled)
	}
}

// deletion checks that Delete may be repeated and that List no longer returns the object.
func deletion(t *testing.T, s storage.Store) {
	put(t, s, "a/b/c", []byte("1"))

	for range 2 {
		if err := s.Delete(t.Context(), "a/b/c"); err != nil {
			t.Fatal(err)
		}
		wantAbsent(t, s, "a/b/c")
	}

	for info, err := range s.List(t.Context(), "") {
		t.Errorf("List returned %+v, %v; want nothing after Delete", info, err)
	}
	put(t, s, "a/b/c", []byte("2"))

	if got, _ := get(t, s, "a/b/c", storage.Range{}); string(got) != "2" {
		t.Errorf("got %q, want 2", got)
	}
}

// healthy checks that Health returns nil for a store that works.
func healthy(t *testing.T, s storage.Store) {
	if err := s.Health(t.Context()); err != nil {
		t.Error(err)
	}
}

// stream returns a reader that cannot seek.
func stream(s string) io.Reader { return io.LimitReader(strings.NewReader(s), 1<<40) }

// put stores an object, or fails the test.
func put(t *testing.T, s storage.Store, key string, body []byte) {
	t.Helper()

	if _, err := s.Put(t.Context(), key, bytes.NewReader(body), int64(len(body)), storage.Attrs{}); err != nil {
		t.Fatal(err)
	}
}

// get reads a range of an object, or fails the test.
func get(t *testing.T, s storage.Store, key string, rng storage.Range) ([]byte, storage.Info) {
	t.Helper()

	r, info, err := s.Get(t.Context(), key, rng)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()

	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}

	return b, info
}

// wantAbsent fails the test unless both Stat and Get return ErrNotFound.
func wantAbsent(t *testing.T, s storage.Store, key string) {
	t.Helper()

	if _, err := s.Stat(t.Context(), key); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("Stat of %s: got %v, want ErrNotFound", key, err)
	}

	if r, _, err := s.Get(t.Context(), key, storage.Range{}); !errors.Is(err, storage.ErrNotFound) {
		if err == nil {
			r.Close()
		}
		t.Errorf("Get of %s: got %v, want ErrNotFound", key, err)
	}
}

// digest returns the SHA-256 of b in hexadecimal.
func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
