// Package storage is the contract of the artifact store and the layout of its
// keys. Objects are immutable: they are created, read, listed and deleted,
// never changed. Implementations are Disk (here) and storage/minio; both pass
// storagetest.Run.
package storage

import (
	"context"
	"errors"
	"io"
	"iter"
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
)

// Store keeps immutable objects under slash-separated keys. All methods are
// safe for concurrent use, also by several processes.
type Store interface {
	// Put creates an object, whole or not at all. Size is the exact number of
	// bytes r yields, or -1. It fails with ErrExists if the key is taken.
	Put(ctx context.Context, key string, r io.Reader, size int64, attrs Attrs) (Info, error)
	// Get opens an object for reading; the caller closes it.
	// Errors: ErrNotFound, ErrRange.
	Get(ctx context.Context, key string, rng Range) (io.ReadCloser, Info, error)
	// Stat describes an object. Errors: ErrNotFound.
	Stat(ctx context.Context, key string) (Info, error)
	// Copy creates dst with the bytes and attributes of src without moving
	// them through the caller. Errors: ErrNotFound (src), ErrExists (dst).
	Copy(ctx context.Context, src, dst string) (Info, error)
	// Delete removes an object; a missing one is no error.
	Delete(ctx context.Context, key string) error
	// List yields every object whose key starts with prefix, in key order.
	List(ctx context.Context, prefix string) iter.Seq2[Info, error]
	// Presign returns a URL that downloads the object without a key for ttl,
	// under the given file name. Errors: ErrNotSupported.
	Presign(ctx context.Context, key, filename string, ttl time.Duration) (string, error)
	// Health returns nil when the store answers.
	Health(ctx context.Context) error
}

// Attrs travel with an object.
type Attrs struct {
	ContentType string
	// Meta holds a few short ASCII values ("pages": "3"); keys are lower-case
	// letters, digits and dashes.
	Meta map[string]string
}

// Info describes an object.
type Info struct {
	Key  string
	Size int64
	// SHA256 is the hex digest of the bytes. List may leave it empty.
	SHA256 string
	// Modified is when the object was created.
	Modified time.Time
	Attrs
}

// Range selects Length bytes from Offset; the zero value is the whole object,
// Length 0 means to the end.
type Range struct{ Offset, Length int64 }
