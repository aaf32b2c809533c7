// Package storage is the contract of the artifact store and the layout of its
// keys. Objects are immutable: they are created, read, listed and deleted,
// never changed. Implementations are Disk (here) and storage/minio; both pass
// storagetest.Run.
package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"
	"time"
)

// The failures a Store names; every other error means the store could not be
// asked (an outage).
var (
	// ErrNotFound: no object has that key.
	ErrNotFound = errors.New("object not found")
	// ErrExists: a Put or Copy found an object under its key and left it alone.
	ErrExists = errors.New("object exists")
	// ErrInvalidKey: the key is empty, too long or not of the allowed form.
	ErrInvalidKey = errors.New("invalid object key")
	// ErrNotSupported: this store cannot do it (a disk store cannot presign).
	ErrNotSupported = errors.New("not supported by this store")
	// ErrRange: the range starts at or after the object's end.
	ErrRange = errors.New("range not satisfiable")
	// ErrFull: the store has no space left.
	ErrFull = errors.New("the object store is full")
	// ErrSize: the reader of a Put yielded more or fewer bytes than Put was given as its size.
	ErrSize = errors.New("size mismatch")
	// ErrCorrupt: what was read is not what was put.
	ErrCorrupt = errors.New("the object is damaged")
	// ErrInvalidAttrs: the attributes are not of the allowed form.
	ErrInvalidAttrs = errors.New("invalid object attributes")
)

// Store keeps immutable objects under slash-separated keys. All methods are
// safe for concurrent use, also by several processes.
type Store interface {
	// Put creates an object, whole or not at all. Size is the exact number of
	// bytes r yields, or -1. It fails with ErrExists if the key is taken.
	// Errors: ErrExists, ErrSize, ErrInvalidKey, ErrInvalidAttrs, and what r
	// failed with.
	Put(ctx context.Context, key string, r io.Reader, size int64, attrs Attrs) (Info, error)
	// Get opens an object for reading; the caller closes it. Reading a whole object
	// ends with ErrCorrupt, before its last byte, when its digest is wrong.
	// Errors: ErrNotFound, ErrRange.
	Get(ctx context.Context, key string, rng Range) (io.ReadCloser, Info, error)
	// Stat describes an object. Errors: ErrNotFound.
	Stat(ctx context.Context, key string) (Info, error)
	// Copy creates dst with the bytes and attributes of src without moving
	// them through the caller. Errors: ErrNotFound (src), ErrExists (dst).
	Copy(ctx context.Context, src, dst string) (Info, error)
	// Delete removes an object; a missing one is no error.
	Delete(ctx context.Context, key string) error
	// List yields every object whose key starts with prefix, in key order. On S3 it
	// also yields objects of others, whose keys CheckKey may refuse. An error with a
	// key concerns that object or folder alone; one without a key ends the listing.
	List(ctx context.Context, prefix string) iter.Seq2[Info, error]
	// Presign returns a URL that downloads the object without a key for ttl,
	// under the given file name. Errors: ErrNotSupported.
	Presign(ctx context.Context, key, filename string, ttl time.Duration) (string, error)
	// Health returns nil when the store answers.
	Health(ctx context.Context) error
}

// Attrs travel with an object.
type Attrs struct {
	// ContentType is a media type, at most 255 bytes of printable ASCII.
	ContentType string
	// Meta holds a few short ASCII values ("pages": "3"); keys are lower-case
	// letters, digits and dashes. At most 1 KiB in all.
	Meta map[string]string
}

// Check holds the attributes to what every store can carry, which is what fits
// an HTTP header. Errors: ErrInvalidAttrs.
func (a Attrs) Check() error {
	if len(a.ContentType) > maxContentType || !printable(a.ContentType) {
		return fmt.Errorf(
			"%w: content type %.40q is not printable ASCII of at most %d bytes",
			ErrInvalidAttrs,
			a.ContentType,
			maxContentType,
		)
	}

	total := 0
	for k, v := range a.Meta {
		total += len(k) + len(v)
		if k == "" || strings.Trim(k, "abcdefghijklmnopqrstuvwxyz0123456789-") != "" {
			return fmt.Errorf("%w: meta key %.40q; allowed are a-z, 0-9 and dashes", ErrInvalidAttrs, k)
		}

		if !printable(v) || strings.TrimSpace(v) != v {
			return fmt.Errorf("%w: meta value %.40q of %s is not printable ASCII", ErrInvalidAttrs, v, k)
		}
	}

	if total > maxMeta {
		return fmt.Errorf("%w: meta of %d bytes; at most %d", ErrInvalidAttrs, total, maxMeta)
	}

	return nil
}

const (
	maxContentType = 255
	maxMeta        = 1 << 10
)

func printable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}

// Info describes an object.
type Info struct {
	// Key is the one it was stored under, see CheckKey.
	Key string
	// Size is in bytes.
	Size int64
	// SHA256 is the hex digest of the bytes. List may leave it empty, and a store may
	// for objects under Passing, which are read once.
	SHA256 string
	// Modified is when the object was created.
	Modified time.Time
	Attrs
}

// Range selects bytes of an object; the zero value is all of them.
type Range struct {
	// Offset is the first byte, Length how many follow; 0 means to the end.
	Offset, Length int64
}

// Within cuts r to an object of this size: n bytes from off. Errors: ErrRange.
func (r Range) Within(size int64) (off, n int64, err error) {
	if r == (Range{}) {
		return 0, size, nil
	}

	if r.Offset < 0 || r.Length < 0 || r.Offset >= size {
		return 0, 0, fmt.Errorf("%w: %d bytes from %d of %d", ErrRange, r.Length, r.Offset, size)
	}

	n = size - r.Offset
	if r.Length > 0 {
		n = min(n, r.Length)
	}

	return r.Offset, n, nil
}
