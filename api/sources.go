package api

import (
	"context"
	"io"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"

	"presswork/api/exchange"
	"presswork/api/upload"
	"presswork/internal/fault"
	"presswork/storage"
	"presswork/tasks"
)

// storeSources stores long content and all assets in a folder of the job. It returns the payload that refers to them,
// and the keys that it has written, also after an error.
func (s *Server) storeSources(r upload.Conversion, jobID, folder, theme string) (tasks.Convert, []string, error) {
	payload := tasks.Convert{
		Theme:    theme,
		Output:   r.Output,
		Options:  r.Options,
		Filename: r.Filename,
		Path:     r.Path,
		Parts:    r.Parts,
	}
	if len(r.Content) <= tasks.InlineLimit {
		payload.Content = r.Content
	}

	if payload.Content != "" && len(r.Assets) == 0 {
		return payload, nil, nil
	}

	ctx, cancel := context.WithTimeoutCause(context.Background(), uploadTimeout,
		fault.Errorf(fault.StoreUnavailable, "the object store took longer than %s", uploadTimeout))
	defer cancel()
	var stored []string
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(uploadsAtOnce)

	if payload.Content == "" {
		payload.ContentKey = storage.SourceKey(jobID, folder)
		stored = append(stored, payload.ContentKey)
		group.Go(func() error {
			return s.putSource(
				ctx,
				payload.ContentKey,
				strings.NewReader(r.Content),
				int64(len(r.Content)),
				"text/markdown",
			)
		})
	}

	for i, a := range r.Assets {
		key := storage.AssetKey(jobID, folder, strconv.Itoa(i))
		payload.Assets = append(payload.Assets, tasks.Asset{Name: a.Name, Key: key, Size: a.Size, SHA256: a.SHA256})
		stored = append(stored, key)
		group.Go(func() error { return s.putSource(ctx, key, a.Open(), a.Size, "application/octet-stream") })
	}

	return payload, stored, group.Wait()
}

// removeSources deletes sources that no job uses. why is the error of storing them, if any. After a time-out the
// store may still complete a write later, so the key stays in the index for the sweeper.
func (s *Server) removeSources(keys []string, why error) {
	ctx, cancel := context.WithTimeout(context.Background(), uploadTimeout)
	defer cancel()

	remove := s.removeObject
	if fault.CodeOf(why) == fault.StoreUnavailable {
		remove = s.Store.Delete
	}

	for _, key := range keys {
		if err := remove(ctx, key); err != nil {
			s.Log.Warn("could not delete sources without a job; the next sweep deletes them", "key", key, "error", err)
			return // the other deletions would fail as well
		}
	}
}

// putSource records a source in the index of stored objects, and only then stores it. If the process dies in between,
// the sweeper still finds the source and deletes it.
func (s *Server) putSource(ctx context.Context, key string, r io.Reader, size int64, contentType string) error {
	_, err := s.putSourceSized(ctx, key, r, size, size, contentType)
	return err
}

// putSourceSized stores a source of size bytes, -1 when the size is unknown. counted is the size in the index.
// Errors: StoreFull, StoreUnavailable, QueueUnavailable.
func (s *Server) putSourceSized(
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
			).WithCause(err)
		}
	}

	info, err := s.Store.Put(ctx, key, r, size, storage.Attrs{ContentType: contentType})
	if err != nil {
		return storage.Info{}, exchange.StoreError(err)
	}

	return info, nil
}

// removeObject deletes an object and subtracts its size from the used storage.
func (s *Server) removeObject(ctx context.Context, key string) error {
	if s.Keeper != nil {
		return s.Keeper.Delete(ctx, key)
	}

	return s.Store.Delete(ctx, key)
}
