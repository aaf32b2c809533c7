package retention

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork/storage"
)

// reconcile compares the index with the store, if the last comparison is older than
// Reconcile or the index is empty. It adds missing entries and removes those of deleted
// objects. Neither list is held in memory: listed objects get the mark of this
// comparison in the index, and entries without it were not listed.
func (s *sweep) reconcile(ctx context.Context) error {
	began := s.Now()

	last, err := s.Redis.Get(ctx, readyKey).Int64()
	if err != nil && !errors.Is(err, redis.Nil) {
		return err
	}

	if began.Sub(time.UnixMilli(last)) < s.Reconcile {
		return nil
	}

	mark := strconv.FormatInt(began.UnixMilli(), 36)
	for _, prefix := range []string{storage.Artifacts, storage.Renders, storage.Sources} {
		if err := s.addListed(ctx, prefix, mark); err != nil {
			return err
		}
	}

	if err := s.removeUnlisted(ctx, mark); err != nil {
		return err
	}

	return s.Redis.Set(ctx, readyKey, began.UnixMilli(), 0).Err()
}

// addListed adds the objects below prefix that the index lacks. mark records them as seen by this comparison.
func (s *sweep) addListed(ctx context.Context, prefix, mark string) error {
	var entries []entry
	flush := func() error {
		if err := s.renew(ctx); err != nil || len(entries) == 0 {
			return err
		}

		dated, err := s.setExpiries(ctx, prefix, entries)
		if err != nil {
			return err
		}
		_, err = s.addEntries(ctx, mark, dated...)
		entries = entries[:0]

		return err
	}

	for info, err := range s.Store.List(ctx, prefix) {
		// An error with a key is about one object, which is skipped. An error without a key ends the listing.
		if err != nil && info.Key == "" {
			return err
		}

		if err == nil {
			err = storage.CheckKey(info.Key)
		}

		if err != nil {
			if err := s.skipObject(ctx, info.Key, err); err != nil {
				return err
			}
			continue
		}

		entries = append(entries, entry{key: info.Key, size: info.Size, made: info.Modified})
		if len(entries) == batch {
			if err := flush(); err != nil {
				return err
			}
		}
	}

	return flush()
}

// setExpiries sets the early expiry of listed artifacts that the index lacks. It omits objects
// that the store cannot describe.
func (s *sweep) setExpiries(ctx context.Context, prefix string, entries []entry) ([]entry, error) {
	if prefix != storage.Artifacts {
		return entries, nil
	}

	known, err := s.knownEntries(ctx, entries)
	if err != nil {
		return nil, err
	}
	var dated []entry

	for i, e := range entries {
		if !known[i] {
			if e.until, err = s.expiryOf(ctx, e.key); err != nil {
				if err := s.skipObject(ctx, e.key, err); err != nil {
					return nil, err
				}
				continue
			}
		}
		dated = append(dated, e)
	}

	return dated, nil
}

// expiryOf returns the early expiry of an artifact, or zero. A listing has no attributes, so
// it calls Stat.
func (s *sweep) expiryOf(ctx context.Context, key string) (time.Time, error) {
	info, err := s.Store.Stat(ctx, key)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return time.Time{}, nil // deleted since the listing
	case err != nil:
		return time.Time{}, err
	case info.Meta[MetaUntil] == "":
		return time.Time{}, nil
	}

	until, err := time.Parse(time.RFC3339, info.Meta[MetaUntil])
	if err != nil {
		const msg = "an artifact has an invalid attribute until; it is kept for the whole retention"

		s.Log.WarnContext(ctx, msg, "key", key, "error", err)

		return time.Time{}, nil
	}

	return until, nil
}

// removeUnlisted removes entries without the mark. An object may have been stored after
// its place in the listing, so it calls Stat first.
func (s *sweep) removeUnlisted(ctx context.Context, mark string) error {
	// The iterator yields keys and values in turn. It may yield an entry twice, which has no further effect.
	it := s.Redis.HScan(ctx, sizeKey, 0, "", batch).Iterator()
	for n := 0; it.Next(ctx); n++ {
		key := it.Val()
		if !it.Next(ctx) { // the value
			break
		}

		if n%batch == 0 {
			if err := s.renew(ctx); err != nil {
				return err
			}
		}

		if _, seen, _ := strings.Cut(it.Val(), " "); seen == mark {
			continue
		}

		switch _, err := s.Store.Stat(ctx, key); {
		case errors.Is(err, storage.ErrNotFound):
			if err := s.remove(ctx, key); err != nil {
				return err
			}
		case err != nil:
			if err := s.skipObject(ctx, key, err); err != nil {
				return err
			}
		}
	}

	return it.Err()
}
