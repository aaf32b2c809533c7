// Package storage defines the artifact store and the layout of its keys. Objects are immutable: they are created, read,
// listed and deleted, but never changed. Several processes may use one store without a lock, because the first Put of a
// key wins.
//
//   - Store is the contract. Disk implements it in a directory, package storage/minio on S3, and None is no store.
//     storagetest.Run tests an implementation.
//   - ArtifactKeyOf, SourceKey, RenderKey and others make the keys; CheckKey limits them to safe paths.
//   - CopyTo and Prune keep a backup of a store.
//   - Bounded and Verified help to implement Store.
//
// Package storage/retention deletes objects by age and size.
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

// Errors of a Store. Any other error means that the store does not work (an outage).
var (
	// ErrNotFound is returned when no object has the key.
	ErrNotFound = errors.New("object not found")
	// ErrExists is returned by Put and Copy when the key has an object, which stays unchanged.
	ErrExists = errors.New("object exists")
	// ErrInvalidKey is returned for a key that CheckKey rejects.
	ErrInvalidKey = errors.New("invalid object key")
	// ErrNotSupported is returned when the store lacks the function (Disk cannot presign).
	ErrNotSupported = errors.New("not supported by this store")
	// ErrRange is returned for a range that starts at or after the end of the object.
	ErrRange = errors.New("range not satisfiable")
	// ErrFull is returned when the store has no space left.
	ErrFull = errors.New("the object store is full")
	// ErrSize is returned when the reader of a Put yields another number of bytes than size.
	ErrSize = errors.New("size mismatch")
	// ErrCorrupt is returned when the stored bytes differ from those of the Put.
	ErrCorrupt = errors.New("the object is damaged")
	// ErrInvalidAttrs is returned for attributes that Attrs.Check rejects.
	ErrInvalidAttrs = errors.New("invalid object attributes")
)

// Store keeps immutable objects under slash-separated keys. All methods are safe for concurrent use, also by
// several processes. The key of every call is checked by CheckKey.
type Store interface {
	// Put creates an object completely or not at all. size is the exact number of bytes
	// that r yields, or -1. An existing object stays as it is.
	// Errors: ErrExists, ErrSize, ErrInvalidKey, ErrInvalidAttrs, ErrFull, and errors of r.
	Put(ctx context.Context, key string, r io.Reader, size int64, attrs Attrs) (Info, error)
	// Get opens an object for reading; the caller closes it. When the digest of a whole
	// object is wrong, a Read returns ErrCorrupt before the last byte.
	// Errors: ErrNotFound, ErrRange, ErrInvalidKey.
	Get(ctx context.Context, key string, rng Range) (io.ReadCloser, Info, error)
	// Stat describes an object. Errors: ErrNotFound, ErrInvalidKey.
	Stat(ctx context.Context, key string) (Info, error)
	// Copy creates dst with the bytes and attributes of src. The caller does not read
	// the bytes. Errors: ErrNotFound (src), ErrExists (dst), ErrInvalidKey, ErrFull.
	Copy(ctx context.Context, src, dst string) (Info, error)
	// Delete removes an object. It returns nil if the object does not exist.
	Delete(ctx context.Context, key string) error
	// List yields every object whose key starts with prefix, in key order. On S3 it also yields objects of other
	// programs, whose keys CheckKey may refuse. An error with a key concerns that object or folder only, and the
	// listing continues. An error without a key ends the listing.
	List(ctx context.Context, prefix string) iter.Seq2[Info, error]
	// Presign returns a URL that downloads the object without credentials for ttl. The
	// browser saves it under filename. Errors: ErrNotSupported, ErrInvalidKey.
	Presign(ctx context.Context, key, filename string, ttl time.Duration) (string, error)
	// Health writes and deletes a small object, and returns nil when that works.
	Health(ctx context.Context) error
}

// Attrs are stored with an object.
type Attrs struct {
	// ContentType is a media type, at most 255 bytes of printable ASCII.
	ContentType string
	// Meta holds a few short ASCII values ("pages": "3"); keys are lower-case
	// letters, digits and dashes. At most 1 KiB in all.
	Meta map[string]string
}

// Check returns an error unless every store can keep the attributes: they must fit into
// HTTP headers. Errors: ErrInvalidAttrs.
func (a Attrs) Check() error {
	if len(a.ContentType) > maxContentType || !printable(a.ContentType) {
		return fmt.Errorf("%w: content type %.40q is not printable ASCII of at most %d bytes", ErrInvalidAttrs,
			a.ContentType, maxContentType)
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

// The limits of Attrs, in bytes.
const (
	maxContentType = 255
	maxMeta        = 1 << 10
)

// printable reports whether s has only printable ASCII characters and spaces.
func printable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}

// Info describes an object.
type Info struct {
	// Key is the key of the Put or Copy that created the object.
	Key string
	// Size is in bytes.
	Size int64
	// SHA256 is the digest of the bytes in hexadecimal. It may be empty in a List, and
	// for objects under Passing, which are read once.
	SHA256 string
	// Modified is when the object was created.
	Modified time.Time
	Attrs
}

// Range selects bytes of an object; the zero value selects all.
type Range struct {
	// Offset is the first byte. Length is the number of bytes; 0 means to the end.
	Offset, Length int64
}

// Within returns the part of an object of this size that r selects: n bytes from off.
// Errors: ErrRange.
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
