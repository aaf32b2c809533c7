package storage

import (
	"context"
	"io"
	"iter"
	"time"

	"presswork/internal/fault"
)

// None is the store of a deployment that serves only completions and needs none. Every
// call returns an error with the code StoreUnavailable.
type None struct{}

var _ Store = None{}

// unavailable returns the error of every call.
func (None) unavailable() error {
	return fault.Errorf(fault.StoreUnavailable, "this server has no object store: it serves completions only")
}

// Put implements Store.
func (n None) Put(context.Context, string, io.Reader, int64, Attrs) (Info, error) {
	return Info{}, n.unavailable()
}

// Get implements Store.
func (n None) Get(context.Context, string, Range) (io.ReadCloser, Info, error) {
	return nil, Info{}, n.unavailable()
}

// Stat implements Store.
func (n None) Stat(context.Context, string) (Info, error) { return Info{}, n.unavailable() }

// Copy implements Store.
func (n None) Copy(context.Context, string, string) (Info, error) { return Info{}, n.unavailable() }

// Delete implements Store.
func (n None) Delete(context.Context, string) error { return n.unavailable() }

// List implements Store.
func (n None) List(context.Context, string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) { yield(Info{}, n.unavailable()) }
}

// Presign implements Store.
func (n None) Presign(context.Context, string, string, time.Duration) (string, error) {
	return "", n.unavailable()
}

// Health implements Store.
func (n None) Health(context.Context) error { return n.unavailable() }
