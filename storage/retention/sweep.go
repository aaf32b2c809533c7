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

	ok, err := k.acquireLock(ctx, token)
	if err != nil || !ok {
		return err
	}
	defer k.releaseLock(context.WithoutCancel(ctx), token)

	s := &sweep{Keeper: k, token: token, fenceChecked: k.Now()}
	if s.ownsStore, err = s.renewFence(ctx); err != nil {
		k.failed.Add(1)
		return fmt.Errorf("sweep: %w", err)
	}

	steps := []func(context.Context) error{s.reconcile}
	if s.ownsStore {
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

// sweep is one sweep, while it holds the lock.
type sweep struct {
	*Keeper
	// token is that of the lock.
	token string
	// ownsStore is set if the store belongs to this deployment. fenceChecked is when the sweep last checked that.
	ownsStore    bool
	fenceChecked time.Time
}

// renew extends the lock, and renews the fence during a long sweep.
func (s *sweep) renew(ctx context.Context) error {
	if err := s.renewLock(ctx, s.token); err != nil {
		return err
	}

	if !s.ownsStore || s.Now().Sub(s.fenceChecked) < s.Interval {
		return nil
	}
	s.fenceChecked = s.Now()

	owned, err := s.renewFence(ctx)
	if err == nil && !owned {
		err = errLockLost
	}

	return err
}

// expire deletes objects that are past their retention or expire early, and the sources
// of jobs that have ended or were never submitted.
func (s *sweep) expire(ctx context.Context) error {
	// The sources of a job are next to each other in the index, so one call of isLive serves all of them.
	lastJob, lastIsLive := "", false
	isNeeded := func(key string) bool {
		job := jobOf(key)
		if job != "" && job != lastJob {
			lastJob, lastIsLive = job, s.isLive(ctx, job)
		}

		return job != "" && lastIsLive
	}

	for index, age := range map[string]time.Duration{
		madeKey: s.Retention, untilKey: 0, sourcesKey: min(s.MinAge, s.Retention),
	} {
		if err := s.expireIndex(ctx, index, s.Now().Add(-age), isNeeded); err != nil {
			return err
		}
	}

	return nil
}

// expireIndex deletes the objects of a sorted set whose score is a time up to until, except those that are needed.
func (s *sweep) expireIndex(ctx context.Context, index string, until time.Time, isNeeded func(string) bool) error {
	last := strconv.FormatInt(until.UnixMilli(), 10)
	// Kept objects stay at the front of the index; the next range begins after them.
	for kept := int64(0); ; {
		if err := s.renew(ctx); err != nil {
			return err
		}

		due := &redis.ZRangeBy{Min: "-inf", Max: last, Offset: kept, Count: batch}

		keys, err := s.Redis.ZRangeByScore(ctx, index, due).Result()
		if err != nil || len(keys) == 0 {
			return err
		}

		for _, key := range keys {
			deleted := false
			if !isNeeded(key) {
				if deleted, err = s.delete(ctx, key, "retention", &s.expired); err != nil {
					return err
				}
			}

			if !deleted {
				kept++
			}
		}
	}
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

// isLive reports whether a job still needs its sources. After an error it returns true: the
// sources are kept until the next sweep.
func (s *sweep) isLive(ctx context.Context, job string) bool {
	live, err := s.Live(ctx, job)
	if err != nil {
		s.Log.WarnContext(ctx, "sources past their retention are kept: the state of their job is unknown",
			"job_id", job, "error", err)

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
			total, _, err := s.readLevel(ctx)
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

// delete deletes an object and then its entry. After a crash in between, the next sweep
// deletes the object again, which is no error. delete returns false when the store cannot
// delete the object.
func (s *sweep) delete(ctx context.Context, key, reason string, count *atomic.Int64) (bool, error) {
	if err := s.Store.Delete(ctx, key); err != nil {
		return false, s.skipObject(ctx, key, err)
	}
	count.Add(1)
	s.Log.InfoContext(ctx, "deleted a stored object", "key", key, "reason", reason)

	return true, s.remove(ctx, key)
}

// skipObject logs and counts an object that the sweep cannot handle. It returns an error when
// the whole store does not work.
func (s *sweep) skipObject(ctx context.Context, key string, err error) error {
	if outage := storage.Outage(ctx, s.Store); outage != nil {
		return fmt.Errorf("%w: %w", err, outage)
	}
	s.skipped.Add(1)
	s.Log.WarnContext(ctx, "the sweep skipped a stored object", "key", key, "error", err)

	return nil
}
