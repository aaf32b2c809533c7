package api

import (
	"context"
	"errors"
	"io"

	"presswork"
	"presswork/storage"
)

// put stores a source and counts it.
func (s *Server) put(ctx context.Context, key string, r io.Reader, size int64, contentType string) error {
	info, err := s.Store.Put(ctx, key, r, size, storage.Attrs{ContentType: contentType})
	if err != nil {
		return storeError(err)
	}
	if s.Keeper == nil {
		return nil
	}
	if err := s.Keeper.Record(ctx, info.Key, info.Size); err != nil {
		s.Log.Warn("an object was stored but not counted; the next sweep finds it", "key", key, "error", err)
	}
	return nil
}

// remove deletes an object and uncounts it.
func (s *Server) remove(ctx context.Context, key string) error {
	err := s.Store.Delete(ctx, key)
	if s.Keeper != nil {
		err = errors.Join(err, s.Keeper.Forget(ctx, key))
	}
	return err
}

// storeError coins what the store says.
func storeError(err error) error {
	if presswork.CodeOf(err) != presswork.Internal {
		return err
	}
	return presswork.Errorf(presswork.StoreUnavailable, "the object store did not answer").WithCause(err)
}
