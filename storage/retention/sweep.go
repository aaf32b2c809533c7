package retention

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork/storage"
)

// batch is the number of objects that a sweep handles between two renewals of the lock.
const batch = 100

// Sweep deletes expired objects. While the rest exceeds the size cap, it then deletes the
// least recently used objects that are older than MinAge. It does nothing while another
// node sweeps, and deletes nothing while the store belongs to another deployment.
func (k *Keeper) Sweep(ctx context.Context) error {
	if err := k.writeTouched(ctx); err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	token := rand.Text()

	ok, err := k.acquire(ctx, token)
	if err != nil || !ok {
		return err
	}
	defer k.release(context.WithoutCancel(ctx), token)

	s := &sweep{Keeper: k, token: token, heldAt: k.Now()}
	if s.held, err = s.hold(ctx); err != nil {
		k.failed.Add(1)
		return fmt.Errorf("sweep: %w", err)
	}

	steps := []func(context.Context) error{s.reconcile}
	if s.held {
		steps = append(steps, s.expire, s.shrink)
	}

	for _, step := range steps {
		switch err := step(ctx); {
		case errors.Is(err, errLockLost):
			return nil
		case err != nil:
			k.failed.Add(1)
			return fmt.Errorf("sweep: %w", err)
		}
	}
	k.sweeps.Add(1)

	return nil
}

type sweep struct {
	*Keeper
	token  string
	held   bool // whether the store belongs to this deployment
	heldAt time.Time
}

// renew extends the lock, and renews the fence during a long sweep.
func (s *sweep) renew(ctx context.Context) error {
	if err := s.Keeper.renew(ctx, s.token); err != nil {
		return err
	}

	if !s.held || s.Now().Sub(s.heldAt) < s.Interval {
		return nil
	}
	s.heldAt = s.Now()

	held, err := s.hold(ctx)
	if err == nil && !held {
		err = errLockLost
	}

	return err
}

// expire deletes objects that are past their retention or expire early, and the sources
// of jobs that have ended or were never submitted.
func (s *sweep) expire(ctx context.Context) error {
	// The sources of a job are next to each other in the index, so one call of live serves
	// all of them.
	asked, needed := "", false

	for index, age := range map[string]time.Duration{madeKey: s.Retention, untilKey: 0, sourcesKey: min(s.MinAge, s.Retention)} {
		until := strconv.FormatInt(s.Now().Add(-age).UnixMilli(), 10)
		// Kept objects stay at the front of the index; the next range begins after them.
		for kept := int64(0); ; {
			if err := s.renew(ctx); err != nil {
				return err
			}

			keys, err := s.Redis.ZRangeByScore(ctx, index, &redis.ZRangeBy{Min: "-inf", Max: until, Offset: kept, Count: batch}).
				Result()
			if err != nil {
				return err
			}

			if len(keys) == 0 {
				break
			}

			for _, key := range keys {
				if job := jobOf(key); job != "" {
					if job != asked {
						asked, needed = job, s.live(ctx, job)
					}

					if needed {
						kept++
						continue
					}
				}

				deleted, err := s.delete(ctx, key, "retention", &s.expired)
				if err != nil {
					return err
				}

				if !deleted {
					kept++
				}
			}
		}
	}

	return nil
}

// jobOf returns the job of a source, or "" for another object.
func jobOf(key string) string {
	rest, ok := strings.CutPrefix(key, storage.Sources)
	if !ok {
		return ""
	}
	passing, _ := strings.CutPrefix(storage.Passing, storage.Sources)
	job, _, _ := strings.Cut(strings.TrimPrefix(rest, passing), "/")

	return job
}

// live reports whether a job still needs its sources. After an error it returns true: the
// sources are kept until the next sweep.
func (s *sweep) live(ctx context.Context, job string) bool {
	live, err := s.Live(ctx, job)
	if err != nil {
		s.Log.WarnContext(
			ctx,
			"sources past their retention are kept: the state of their job is unknown",
			"job_id",
			job,
			"error",
			err,
		)

		return true
	}

	return live
}

// shrink deletes the least recently used objects until the rest fits the size cap.
func (s *sweep) shrink(ctx context.Context) error {
	if s.MaxBytes <= 0 {
		return nil
	}
	// Objects that are too young or cannot be deleted stay at the front of the index.
	for kept := int64(0); ; {
		if err := s.renew(ctx); err != nil {
			return err
		}

		keys, err := s.Redis.ZRange(ctx, usedKey, kept, kept+batch-1).Result()
		if err != nil || len(keys) == 0 {
			return err
		}

		made, err := s.Redis.ZMScore(ctx, madeKey, keys...).Result()
		if err != nil {
			return err
		}

		for i, key := range keys {
			total, _, err := s.level(ctx)
			if err != nil || total <= s.MaxBytes {
				return err
			}

			if s.Now().Sub(time.UnixMilli(int64(made[i]))) < s.MinAge {
				kept++
				continue
			}

			deleted, err := s.delete(ctx, key, "size cap", &s.shrunk)
			if err != nil {
				return err
			}

			if !deleted {
				kept++
			}
		}
	}
}

// delete deletes an object and then its entry: after a crash in between, the next sweep
// deletes the object again, which is no error. It returns false when the store does not
// delete the object.
func (s *sweep) delete(ctx context.Context, key, reason string, count *atomic.Int64) (bool, error) {
	if err := s.Store.Delete(ctx, key); err != nil {
		return false, s.skip(ctx, key, err)
	}
	count.Add(1)
	s.Log.InfoContext(ctx, "deleted a stored object", "key", key, "reason", reason)

	return true, s.remove(ctx, key)
}

// skip logs and counts an object that the sweep cannot handle. It returns an error when
// the whole store does not work.
func (s *sweep) skip(ctx context.Context, key string, err error) error {
	if outage := storage.Outage(ctx, s.Store); outage != nil {
		return fmt.Errorf("%w: %w", err, outage)
	}
	s.skipped.Add(1)
	s.Log.WarnContext(ctx, "the sweep skipped a stored object", "key", key, "error", err)

	return nil
}

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

func (s *sweep) addListed(ctx context.Context, prefix, mark string) error {
	var entries []entry
	flush := func() error {
		if err := s.renew(ctx); err != nil || len(entries) == 0 {
			return err
		}

		dated, err := s.date(ctx, prefix, entries)
		if err != nil {
			return err
		}
		_, err = s.add(ctx, mark, dated...)
		entries = entries[:0]

		return err
	}

	for info, err := range s.Store.List(ctx, prefix) {
		if err != nil && info.Key == "" {
			return err
		}

		if err == nil {
			err = storage.CheckKey(info.Key)
		}

		if err != nil {
			if err := s.skip(ctx, info.Key, err); err != nil {
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

// date sets the early expiry of listed artifacts that the index lacks. It omits objects
// that the store cannot describe.
func (s *sweep) date(ctx context.Context, prefix string, entries []entry) ([]entry, error) {
	if prefix != storage.Artifacts {
		return entries, nil
	}

	known, err := s.known(ctx, entries)
	if err != nil {
		return nil, err
	}
	var dated []entry

	for i, e := range entries {
		if !known[i] {
			if e.until, err = s.until(ctx, e.key); err != nil {
				if err := s.skip(ctx, e.key, err); err != nil {
					return nil, err
				}
				continue
			}
		}
		dated = append(dated, e)
	}

	return dated, nil
}

// until returns the early expiry of an artifact, or zero. A listing has no attributes, so
// it calls Stat.
func (s *sweep) until(ctx context.Context, key string) (time.Time, error) {
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
			if err := s.skip(ctx, key, err); err != nil {
				return err
			}
		}
	}

	return it.Err()
}
