package minio

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"

	"presswork/storage"
)

// User metadata that the store adds to that of the caller: the digest of the object
// and the identifier of the Put that created it.
const (
	ownMeta   = "presswork-"
	digestKey = ownMeta + "sha256"
	putKey    = ownMeta + "put"
)

// Put implements storage.Store. It reads the bytes twice, because a header of the request has their
// digest. If r cannot seek, Put copies the bytes to memory or to a temporary file.
func (s *Store) Put(
	ctx context.Context, key string, r io.Reader, size int64, attrs storage.Attrs,
) (storage.Info, error) {
	if err := errors.Join(storage.CheckKey(key), attrs.Check()); err != nil {
		return storage.Info{}, err
	}

	b, err := readBody(ctx, r, size)
	if err != nil {
		return storage.Info{}, fmt.Errorf("put %s: %w", key, err)
	}
	defer b.close()

	return s.put(ctx, key, b, b.size, b.sha256, attrs)
}

// Copy implements storage.Store. The bytes pass through this process, because S3's
// CopyObject would overwrite an object that exists.
func (s *Store) Copy(ctx context.Context, src, dst string) (storage.Info, error) {
	if err := storage.CheckKey(dst); err != nil {
		return storage.Info{}, err
	}

	r, info, err := s.Get(ctx, src, storage.Range{})
	if err != nil {
		return storage.Info{}, err
	}
	defer r.Close()

	return s.put(ctx, dst, r, info.Size, info.SHA256, info.Attrs)
}

// put sends an object. Its time-out is CallTimeout and a second for each MiB. If the server ignores the condition of a
// Put, it first checks that the key is free. Two runs could then still both succeed; the job record decides between
// their artifacts.
func (s *Store) put(
	ctx context.Context, key string, r io.Reader, size int64, sha256 string, attrs storage.Attrs,
) (storage.Info, error) {
	ctx, cancel := s.bounded(ctx, s.CallTimeout+time.Duration(size>>20)*time.Second)
	defer cancel()

	if s.overwrites {
		if _, err := s.Stat(ctx, key); !errors.Is(err, storage.ErrNotFound) {
			if err == nil {
				err = storage.ErrExists
			}

			return storage.Info{}, fmt.Errorf("put %s: %w", key, err)
		}
	}

	modified, err := s.send(ctx, key, r, size, sha256, attrs)
	if err != nil {
		return storage.Info{}, err
	}

	return storage.Info{
		Key: key, Size: size, SHA256: sha256, Modified: modified,
		Attrs: storage.Attrs{ContentType: attrs.ContentType, Meta: maps.Clone(attrs.Meta)},
	}, nil
}

// send creates an object in one request, unless it exists. It returns the time of this machine, to the millisecond.
// The caller bounds ctx. Errors: storage.ErrExists, storage.ErrFull, an outage.
func (s *Store) send(
	ctx context.Context, key string, r io.Reader, size int64, sha256 string, attrs storage.Attrs,
) (time.Time, error) {
	meta := map[string]string{digestKey: sha256, putKey: rand.Text()}
	maps.Copy(meta, attrs.Meta)

	opts := minio.PutObjectOptions{
		UserMetadata: meta,
		ContentType:  attrs.ContentType,
		// Only a single request is atomic and can carry the condition.
		DisableMultipart: true,
	}
	if !s.overwrites {
		opts.SetMatchETagExcept("*")
	}

	// The client repeats a request whose response was lost. The repeated one then finds the object.
	_, err := s.client.Client.PutObject(ctx, s.Bucket, key, r, size, opts)
	if err = causeOf(ctx, err); err != nil {
		err = wrapError("put", key, err)
		if !errors.Is(err, storage.ErrExists) || !s.createdBy(ctx, key, meta[putKey]) {
			return time.Time{}, err
		}
	}

	return time.Now().UTC().Truncate(time.Millisecond), nil
}

// createdBy reports whether the Put with this identifier created the object. That happens when the response to its
// first request is lost and the client's retry finds the object.
func (s *Store) createdBy(ctx context.Context, key, putID string) bool {
	o, err := s.client.StatObject(ctx, s.Bucket, key, minio.StatObjectOptions{})
	return err == nil && userMeta(o)[putKey] == putID
}

// Get implements storage.Store. The object is compared with its digest only if all of it is read.
func (s *Store) Get(ctx context.Context, key string, rng storage.Range) (io.ReadCloser, storage.Info, error) {
	if err := storage.CheckKey(key); err != nil {
		return nil, storage.Info{}, err
	}
	var opts minio.GetObjectOptions

	if rng != (storage.Range{}) {
		if rng.Offset < 0 || rng.Length < 0 {
			return nil, storage.Info{}, fmt.Errorf("get %s: %w", key, storage.ErrRange)
		}

		value := fmt.Sprintf("bytes=%d-", rng.Offset)
		if rng.Length > 0 {
			value += strconv.FormatInt(rng.Offset+rng.Length-1, 10)
		}
		opts.Set("Range", value)
	}
	// No time-out for the whole call: it would also bound the reading. The transport
	// bounds the wait for the response header, and download the wait for each read.
	ctx, cancel := context.WithCancelCause(ctx)

	r, o, header, err := s.client.GetObject(ctx, s.Bucket, key, opts)
	if err = causeOf(ctx, err); err != nil {
		cancel(nil)
		return nil, storage.Info{}, wrapError("get", key, err)
	}
	info := infoOf(o)
	info.Key = key
	// For a range, o.Size is the size of the range.
	if _, total, ok := strings.Cut(header.Get("Content-Range"), "/"); ok {
		if info.Size, err = strconv.ParseInt(total, 10, 64); err != nil {
			cancel(nil)
			r.Close()

			return nil, storage.Info{}, fmt.Errorf("get %s: content-range: %w", key, err)
		}
	}
	d := &download{body: r, cancel: cancel, maxSilence: s.CallTimeout}
	d.causeOf = func(err error) error { return causeOf(ctx, err) }

	d.silence = s.afterSilence(cancel)
	if o.Size != info.Size {
		return d, info, nil
	}

	return struct {
		io.Reader
		io.Closer
	}{storage.Verified(d, info, s.Log), d}, info, nil
}

// Stat implements storage.Store.
func (s *Store) Stat(ctx context.Context, key string) (storage.Info, error) {
	if err := storage.CheckKey(key); err != nil {
		return storage.Info{}, err
	}

	ctx, cancel := s.bounded(ctx, s.CallTimeout)
	defer cancel()

	o, err := s.client.StatObject(ctx, s.Bucket, key, minio.StatObjectOptions{})
	if err = causeOf(ctx, err); err != nil {
		return storage.Info{}, wrapError("stat", key, err)
	}

	return infoOf(o), nil
}

// Delete implements storage.Store.
func (s *Store) Delete(ctx context.Context, key string) error {
	if err := storage.CheckKey(key); err != nil {
		return err
	}

	ctx, cancel := s.bounded(ctx, s.CallTimeout)
	defer cancel()

	if err := causeOf(ctx, s.client.RemoveObject(ctx, s.Bucket, key, minio.RemoveObjectOptions{})); err != nil {
		if err := wrapError("delete", key, err); !errors.Is(err, storage.ErrNotFound) {
			return err
		}
	}

	return nil
}

// List implements storage.Store. It yields neither digests nor attributes. CallTimeout
// bounds the wait for each page of a listing.
func (s *Store) List(ctx context.Context, prefix string) iter.Seq2[storage.Info, error] {
	return func(yield func(storage.Info, error) bool) {
		if err := storage.CheckPrefix(prefix); err != nil {
			yield(storage.Info{}, err)
			return
		}

		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		// Without this timer, a server that stops in the middle of a page would block a sweep forever.
		silence := s.afterSilence(cancel)
		defer silence.Stop()

		opts := minio.ListObjectsOptions{Prefix: prefix, Recursive: true}
		for o := range s.client.ListObjectsIter(ctx, s.Bucket, opts) {
			silence.Stop()

			if ctx.Err() != nil {
				break
			}

			if o.Err != nil {
				yield(storage.Info{}, wrapError("list", prefix, o.Err))
				return
			}

			if !yield(storage.Info{Key: o.Key, Size: o.Size, Modified: o.LastModified}, nil) {
				return
			}
			silence.Reset(s.CallTimeout)
		}
		// The iterator does not report that its context has ended.
		if ctx.Err() != nil {
			yield(storage.Info{}, context.Cause(ctx))
		}
	}
}

// afterSilence returns a timer that cancels a call after CallTimeout. The caller resets the timer whenever data
// arrives.
func (s *Store) afterSilence(cancel context.CancelCauseFunc) *time.Timer {
	return time.AfterFunc(s.CallTimeout, func() {
		cancel(fmt.Errorf("the object store at %s sent nothing for %s", s.Endpoint, s.CallTimeout))
	})
}

// causeOf returns the cause of ctx instead of the client's error err, if ctx has ended. It returns nil for a nil err.
func causeOf(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}

	return err
}

// infoOf returns the description of an object without the store's own metadata.
func infoOf(o minio.ObjectInfo) storage.Info {
	meta := userMeta(o)

	info := storage.Info{
		Key: o.Key, Size: o.Size, SHA256: meta[digestKey], Modified: o.LastModified,
		Attrs: storage.Attrs{ContentType: o.ContentType},
	}
	for k, v := range meta {
		if !strings.HasPrefix(k, ownMeta) {
			if info.Meta == nil {
				info.Meta = map[string]string{}
			}
			info.Meta[k] = v
		}
	}

	return info
}

// userMeta returns the user metadata under the names that Put used. HTTP does not keep
// the case of header names, so all names are lower-case.
func userMeta(o minio.ObjectInfo) map[string]string {
	meta := make(map[string]string, len(o.UserMetadata))
	for k, v := range o.UserMetadata {
		meta[strings.ToLower(k)] = v
	}

	return meta
}
