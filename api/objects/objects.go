// Package objects stores, opens and deletes the objects of requests: their sources, and what is sent to clients.
package objects

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"presswork/api/exchange"
	"presswork/api/upload"
	"presswork/internal/fault"
	"presswork/storage"
	"presswork/storage/retention"
	"presswork/tasks"
)

const (
	// uploadTimeout bounds storing the files of one request.
	uploadTimeout = 2 * time.Minute
	// uploadsAtOnce is how many files of one request are stored at a time.
	uploadsAtOnce = 8
	// openTimeout bounds opening an object. Reading it may take longer.
	openTimeout = 10 * time.Second
)

// Objects is the object store with the index of its objects.
type Objects struct {
	// Store has the objects. Mandatory.
	Store storage.Store
	// Keeper counts stored bytes. Nil: nothing is counted.
	Keeper *retention.Keeper
	// Log receives objects that could not be deleted or read. Mandatory.
	Log *slog.Logger
}

// PutSources stores long content and all assets in a folder of the job. It returns the payload that refers to them,
// and the keys that it has written, also after an error. Errors: as Put.
func (s Objects) PutSources(r upload.Conversion, jobID, folder, theme string) (tasks.Convert, []string, error) {
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

	u, cancel := newUploads()
	defer cancel()
	var stored []string

	if payload.Content == "" {
		payload.ContentKey = storage.SourceKey(jobID, folder)
		stored = append(stored, payload.ContentKey)
		content := strings.NewReader(r.Content)
		u.group.Go(func() error {
			return s.Put(u.ctx, payload.ContentKey, content, content.Size(), "text/markdown")
		})
	}
	assets, keys := s.putFiles(u, r.Assets, jobID, folder)
	payload.Assets = assets

	return payload, append(stored, keys...), u.group.Wait()
}

// PutFiles stores files in a folder of the job. It returns them as assets of a task, in the same order, and the keys
// that it has written, also after an error. Errors: as Put.
func (s Objects) PutFiles(files []*upload.Asset, jobID, folder string) ([]tasks.Asset, []string, error) {
	u, cancel := newUploads()
	defer cancel()
	assets, keys := s.putFiles(u, files, jobID, folder)

	return assets, keys, u.group.Wait()
}

// putFiles is PutFiles without the wait for the store.
func (s Objects) putFiles(u uploads, files []*upload.Asset, jobID, folder string) (list []tasks.Asset, keys []string) {
	for i, a := range files {
		key := storage.AssetKey(jobID, folder, strconv.Itoa(i))
		list = append(list, tasks.Asset{Name: a.Name, Key: key, Size: a.Size, SHA256: a.SHA256})
		keys = append(keys, key)
		u.group.Go(func() error { return s.Put(u.ctx, key, a.Open(), a.Size, "application/octet-stream") })
	}

	return list, keys
}

// uploads are the uploads of one request: at most uploadsAtOnce at a time. ctx ends at the first error.
type uploads struct {
	ctx   context.Context
	group *errgroup.Group
}

// newUploads returns uploads that may take uploadTimeout. They do not end when the client leaves: the job is reserved.
// The caller must call cancel after the last.
func newUploads() (u uploads, cancel context.CancelFunc) {
	ctx, cancel := context.WithTimeoutCause(context.Background(), uploadTimeout,
		fault.Errorf(fault.StoreUnavailable, "the object store took longer than %s", uploadTimeout))
	u.group, u.ctx = errgroup.WithContext(ctx)
	u.group.SetLimit(uploadsAtOnce)

	return u, cancel
}

// RemoveSources deletes sources that no job uses. why is the error of storing them, if any. After a time-out the
// store may still complete a write later, so the key stays in the index for the sweeper.
func (s Objects) RemoveSources(keys []string, why error) {
	ctx, cancel := context.WithTimeout(context.Background(), uploadTimeout)
	defer cancel()

	remove := s.Remove
	if fault.CodeOf(why) == fault.StoreUnavailable {
		remove = s.Store.Delete
	}

	for _, key := range keys {
		if err := remove(ctx, key); err != nil {
			s.Log.Warn("could not delete sources without a job; the next sweep deletes them", "key", key, "error", err)
			return // the store does not work, so the other deletions would fail as well
		}
	}
}

// Put records a source in the index of stored objects, and only then stores it. If the process dies in between, the
// sweeper still finds the source and deletes it. Errors: as PutSized.
func (s Objects) Put(ctx context.Context, key string, r io.Reader, size int64, contentType string) error {
	_, err := s.PutSized(ctx, key, r, size, size, contentType)
	return err
}

// PutSized stores a source of size bytes, -1 when the size is unknown. counted is the size in the index.
// Errors: StoreFull, StoreUnavailable, QueueUnavailable.
func (s Objects) PutSized(
	ctx context.Context, key string, r io.Reader, size, counted int64, contentType string,
) (storage.Info, error) {
	if s.Keeper != nil {
		if err := s.Keeper.Record(ctx, key, counted); err != nil {
			return storage.Info{}, fault.Errorf(fault.QueueUnavailable,
				"the queue is not available; try again shortly").WithCause(err)
		}
	}

	info, err := s.Store.Put(ctx, key, r, size, storage.Attrs{ContentType: contentType})
	if err != nil {
		return storage.Info{}, exchange.StoreError(err)
	}

	return info, nil
}

// Remove deletes an object and subtracts its size from the used storage. It returns the error of the store, which
// is not public. An object that does not exist is no error.
func (s Objects) Remove(ctx context.Context, key string) error {
	if s.Keeper != nil {
		return s.Keeper.Delete(ctx, key)
	}

	return s.Store.Delete(ctx, key)
}

// body is an object that is being sent. Close ends its request to the store. It passes a read error to onError,
// because the status of the answer has already been sent.
type body struct {
	io.ReadCloser
	cancel  context.CancelFunc
	onError func(error)
}

// Open opens part of an object. The body is sent after the handler has returned, so its request to the store has
// its own context, which ends with Close. Opening it takes at most openTimeout. It returns the error of the store,
// which is not public. A later error of reading is logged.
func (s Objects) Open(key string, rng storage.Range) (io.ReadCloser, error) {
	ctx, cancel := context.WithCancel(context.Background())
	opening := time.AfterFunc(openTimeout, cancel)

	r, _, err := s.Store.Get(ctx, key, rng)
	if err != nil {
		cancel()
		return nil, err
	}
	opening.Stop()

	return &body{r, cancel, func(err error) {
		s.Log.Error("could not send an object from the store", "key", key, "err", err)
	}}, nil
}

// Close implements io.Closer.
func (r *body) Close() error {
	defer r.cancel()
	return r.ReadCloser.Close()
}

// Read implements io.Reader.
func (r *body) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		r.onError(err)
	}

	return n, err
}

// Touch records that an object was used, so that it is deleted later than unused ones.
func (s Objects) Touch(key string) {
	if s.Keeper == nil {
		return
	}
	s.Keeper.Touch(key)
}
