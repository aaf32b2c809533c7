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

// batch is how many objects are looked at between two renewals of the lock.
const batch = 100

// Sweep deletes what is past its retention, then, while the objects sum up to
// more than the cap, the least recently used of those that are old
// enough. While another node sweeps it does nothing, and it deletes nothing while another
// deployment uses the store.
func (k *Keeper) Sweep(ctx context.Context) error {
	if err := k.tellTouched(ctx); err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	token := rand.Text()
	ok, err := k.acquire(ctx, token)
	if err != nil || !ok {
		return err
	}
	defer k.release(context.WithoutCancel(ctx), token)
	s := sweep{k, token}
	steps := []func(context.Context) error{s.reconcile, s.expire, s.shrink}
	switch shared, err := s.shared(ctx); {
	case err != nil:
		k.failed.Add(1)
		return fmt.Errorf("sweep: %w", err)
	case shared:
		steps = steps[:1]
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
	token string
}

// expire deletes what was stored longer than the retention ago, what was to go
// earlier, and the sources of jobs that have ended or never were: nobody asks for
// those again.
func (s sweep) expire(ctx context.Context) error {
	// A job's sources were stored together: it is asked about once for all of them.
	asked, needed := "", false
	for index, age := range map[string]time.Duration{madeKey: s.Retention, untilKey: 0, sourcesKey: min(s.MinAge, s.Retention)} {
		until := strconv.FormatInt(s.Now().Add(-age).UnixMilli(), 10)
		// What is kept all the same stays in front and is stepped over.
		for kept := int64(0); ; {
			if err := s.renew(ctx, s.token); err != nil {
				return err
			}
			keys, err := s.Redis.ZRangeByScore(ctx, index, &redis.ZRangeBy{Min: "-inf", Max: until, Offset: kept, Count: batch}).Result()
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
				if err := s.delete(ctx, key, "retention", &s.expired); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// jobOf is the job that a source belongs to; "" for what is no source.
func jobOf(key string) string {
	rest, ok := strings.CutPrefix(key, storage.Sources)
	if !ok {
		return ""
	}
	passing, _ := strings.CutPrefix(storage.Passing, storage.Sources)
	job, _, _ := strings.Cut(strings.TrimPrefix(rest, passing), "/")
	return job
}

// live reports whether a job still needs its sources. When that cannot be known they
// are kept: the next sweep asks again.
func (s sweep) live(ctx context.Context, job string) bool {
	live, err := s.Live(ctx, job)
	if err != nil {
		s.Log.WarnContext(ctx, "sources past their retention are kept: their job is not known", "job_id", job, "error", err)
		return true
	}
	return live
}

// shrink deletes the least recently used objects until the cap is kept.
func (s sweep) shrink(ctx context.Context) error {
	if s.MaxBytes <= 0 {
		return nil
	}
	for young := int64(0); ; {
		if err := s.renew(ctx, s.token); err != nil {
			return err
		}
		keys, err := s.Redis.ZRange(ctx, usedKey, young, young+batch-1).Result()
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
				young++
				continue
			}
			if err := s.delete(ctx, key, "size cap", &s.shrunk); err != nil {
				return err
			}
		}
	}
}

// delete takes the object first and the entry second: after a crash between
// the two the next sweep deletes what is not there, which is no error.
func (s sweep) delete(ctx context.Context, key, reason string, count *atomic.Int64) error {
	if err := s.Store.Delete(ctx, key); err != nil {
		return err
	}
	count.Add(1)
	s.Log.InfoContext(ctx, "deleted a stored object", "key", key, "reason", reason)
	return s.remove(ctx, key)
}

// reconcile compares the index with the store when that was not done for long,
// or never since the index was lost: it adds what it lacks and removes what is
// stored no more. Neither side is ever held in memory: what the store lists is
// marked in the index with the name of this comparison, and what then has no
// mark was not listed.
func (s sweep) reconcile(ctx context.Context) error {
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

func (s sweep) addListed(ctx context.Context, prefix, mark string) error {
	var entries []entry
	flush := func() error {
		if err := s.renew(ctx, s.token); err != nil || len(entries) == 0 {
			return err
		}
		if err := s.date(ctx, prefix, entries); err != nil {
			return err
		}
		_, err := s.add(ctx, mark, entries...)
		entries = entries[:0]
		return err
	}
	for info, err := range s.Store.List(ctx, prefix) {
		if err != nil {
			return err
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

// date finds out when each of the listed artifacts goes that the index lacks.
func (s sweep) date(ctx context.Context, prefix string, entries []entry) error {
	if prefix != storage.Artifacts {
		return nil
	}
	known, err := s.known(ctx, entries)
	if err != nil {
		return err
	}
	for i := range entries {
		if known[i] {
			continue
		}
		if entries[i].until, err = s.until(ctx, entries[i].key); err != nil {
			return err
		}
	}
	return nil
}

// until is when a listed artifact expires: a listing carries no
// attributes.
func (s sweep) until(ctx context.Context, key string) (time.Time, error) {
	info, err := s.Store.Stat(ctx, key)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return time.Time{}, nil // it has gone since
	case err != nil:
		return time.Time{}, err
	case info.Meta[MetaUntil] == "":
		return time.Time{}, nil
	}
	until, err := time.Parse(time.RFC3339, info.Meta[MetaUntil])
	if err != nil {
		s.Log.WarnContext(ctx, "an artifact does not say when it goes; it is kept for the whole retention", "key", key, "error", err)
		return time.Time{}, nil
	}
	return until, nil
}

// removeUnlisted forgets entries without the mark. One may have been stored
// behind the listing's back, so the store has the last word.
func (s sweep) removeUnlisted(ctx context.Context, mark string) error {
	it := s.Redis.HScan(ctx, sizeKey, 0, "", batch).Iterator()
	for n := 0; it.Next(ctx); n++ {
		key := it.Val()
		if !it.Next(ctx) { // the value
			break
		}
		if n%batch == 0 {
			if err := s.renew(ctx, s.token); err != nil {
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
			return err
		}
	}
	return it.Err()
}
