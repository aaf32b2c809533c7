package api

import (
	"context"
	"errors"
	"io"
	"time"

	"presswork/internal/fault"
	"presswork/storage"
)

// put counts a source and stores it, in this order: what is counted and never
// stored, or stored for nothing, the next sweeps find.
func (s *Server) put(ctx context.Context, key string, r io.Reader, size int64, contentType string) error {
	_, err := s.putCounted(ctx, key, r, size, size, contentType)
	return err
}

// putCounted is put for a source whose size may be unknown, -1: it is counted with
// another.
func (s *Server) putCounted(
	ctx context.Context,
	key string,
	r io.Reader,
	size, counted int64,
	contentType string,
) (storage.Info, error) {
	if s.Keeper != nil {
		if err := s.Keeper.Record(ctx, key, counted); err != nil {
			return storage.Info{}, fault.Errorf(
				fault.QueueUnavailable,
				"the queue is not available; try again shortly",
			).
				WithCause(err)
		}
	}

	info, err := s.Store.Put(ctx, key, r, size, storage.Attrs{ContentType: contentType})
	if err != nil {
		return storage.Info{}, storeError(err)
	}

	return info, nil
}

// remove deletes an object and uncounts it.
func (s *Server) remove(ctx context.Context, key string) error {
	if s.Keeper != nil {
		return s.Keeper.Delete(ctx, key)
	}

	return s.Store.Delete(ctx, key)
}

// now is the time, the same on all nodes.
func (s *Server) now() time.Time {
	if s.Keeper != nil {
		return s.Keeper.Now()
	}

	return time.Now()
}

// storeError is the public form of an error of the store.
func storeError(err error) error {
	if fault.CodeOf(err) != fault.Internal {
		return err
	}

	if errors.Is(err, storage.ErrFull) {
		return fault.Errorf(fault.StoreFull, "the object store is full; try again later").WithCause(err)
	}

	return fault.Errorf(fault.StoreUnavailable, "the object store did not answer").WithCause(err)
}
