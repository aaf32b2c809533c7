package retention

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"strings"
	"time"

	"presswork/storage"
)

// markLife is how many intervals between two sweeps a mark that nobody renews counts: a
// sweep may take a while.
const markLife = 10

// identity is the end of the key of what a Claim leaves, which is no mark and stays.
const identity = "/store"

// neighbour is another deployment whose mark lies in the store.
type neighbour struct {
	marks string    // its keys when they were first seen so
	since time.Time // when that was
	lives bool      // whether they were others before
}

// shared renews this deployment's mark and reports whether another one uses the store, or
// may: what it keeps there is not in this one's Redis, and would be deleted. Marks that
// nobody renews are left from a Redis that has lost its data, or that a backup was made
// of, and are deleted.
func (s sweep) shared(ctx context.Context) (bool, error) {
	if s.Deployment == nil {
		return false, nil
	}
	own, err := s.Deployment(ctx)
	if err != nil {
		return false, err
	}
	key := storage.Deployments + own + "/" + rand.Text()
	_, err = s.Store.Put(ctx, key, strings.NewReader(s.RedisName), int64(len(s.RedisName)), storage.Attrs{ContentType: "text/plain"})
	full := errors.Is(err, storage.ErrFull) // of what this sweep is to delete
	if err != nil && !full {
		return false, err
	}
	marks := map[string][]string{}
	for info, err := range s.Store.List(ctx, storage.Deployments) {
		if err != nil {
			return false, err
		}
		if name, _, _ := strings.Cut(strings.TrimPrefix(info.Key, storage.Deployments), "/"); info.Key != key && !strings.HasSuffix(info.Key, identity) {
			marks[name] = append(marks[name], info.Key)
		}
	}
	if !full {
		if err := remove(ctx, s.Store, marks[own]); err != nil {
			return false, err
		}
	}
	delete(marks, own)
	shared, now := false, map[string]neighbour{}
	for name, keys := range marks {
		seen, before := s.neighbours[name]
		switch joined := strings.Join(keys, " "); {
		case seen.marks != joined:
			seen = neighbour{joined, s.Now(), before}
		case s.Now().Sub(seen.since) >= markLife*s.Interval:
			if err := remove(ctx, s.Store, keys); err != nil {
				return true, err
			}
			continue
		}
		shared, now[name] = true, seen
		if seen.lives {
			s.Log.ErrorContext(ctx, "another deployment uses the same store; nothing of it is deleted until each has a store of its own", "other_redis", s.who(ctx, keys[0]), "redis", s.RedisName)
		} else {
			s.Log.InfoContext(ctx, "another deployment has used this store; nothing of it is deleted while that may still run", "limit", (markLife * s.Interval).String())
		}
	}
	s.neighbours = now
	return shared, nil
}

// who is what a mark says.
func (s sweep) who(ctx context.Context, key string) string {
	name, err := read(ctx, s.Store, key)
	if err != nil {
		return "unknown"
	}
	return name
}

// read returns a small object.
func read(ctx context.Context, store storage.Store, key string) (string, error) {
	r, _, err := store.Get(ctx, key, storage.Range{})
	if err != nil {
		return "", err
	}
	defer r.Close()
	text, err := io.ReadAll(io.LimitReader(r, 1<<10))
	return string(text), err
}

func remove(ctx context.Context, store storage.Store, keys []string) error {
	for _, key := range keys {
		if err := store.Delete(ctx, key); err != nil {
			return err
		}
	}
	return nil
}
