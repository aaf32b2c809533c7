// Package retention deletes objects that are past their retention or exceed the size
// cap of a store. The nodes of a deployment share one index in Redis.
//
// A Keeper gets every stored object by Record, and every use by Touch. One node at a time sweeps:
//  1. It writes the uses of its own process into the index, and takes a lock in Redis.
//  2. It renews the fence, an object that names the deployment that owns the store. Without it nothing is deleted.
//  3. Once a day it compares the index with a listing of the store.
//  4. It deletes objects past their retention, and sources whose job has ended.
//  5. It deletes the least recently used objects while the store exceeds its size cap.
//
// Unless a comment says otherwise, an error comes from Redis or the store.
package retention

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork/internal/fault"
	"presswork/storage"
)

// Options configures a Keeper.
type Options struct {
	// Store holds the objects. Mandatory.
	Store storage.Store
	// Redis holds the index that all nodes share. Mandatory.
	Redis redis.UniversalClient
	// MaxBytes is the size cap; 0 means no cap. Copies that share their bytes on the
	// disk and sources count towards it, but only artifacts and renders are deleted
	// because of it.
	MaxBytes int64
	// Retention is the time after which a stored object is deleted. Default 30 days.
	Retention time.Duration
	// MinAge is the age below which the size cap deletes no object, so that a client can
	// fetch its result. It also protects sources whose job is not yet submitted.
	// Default 1 h.
	MinAge time.Duration
	// Live reports whether a job waits or runs. The sources of other jobs are deleted
	// when they are older than MinAge. Default: no job is live.
	Live func(ctx context.Context, jobID string) (bool, error)
	// StoreName and RedisName appear in messages, so they contain no passwords.
	// StoreName is the same on all nodes of a deployment.
	StoreName, RedisName string
	// Alone means that no other node can reach this Redis, so that the node may change
	// its store at any time.
	Alone bool
	// Interval is the time between two sweeps. The node also sweeps when the size cap
	// is exceeded. Default 1 min.
	Interval time.Duration
	// Reconcile is the time between two comparisons of the index with the
	// whole store. Default 24 h.
	Reconcile time.Duration
	// Now is the clock, the same on all nodes. Default time.Now.
	Now func() time.Time
	// Log gets deletions and failures. Default: discard.
	Log *slog.Logger
}

// Keeper enforces retention and the size cap. An index in Redis records the stored
// objects. Every node sweeps, one node at a time. When the index is lost, the next
// sweep builds it again from a listing of the store.
type Keeper struct {
	Options
	kick chan struct{} // requests a sweep from the loop

	sweeps, failed, expired, shrunk, skipped atomic.Int64 // the fields of Counts

	// mu guards cancel, done and stopped.
	mu     sync.Mutex
	cancel context.CancelFunc // ends the loop; nil until Start
	// done is closed when the loop has ended.
	done    chan struct{}
	stopped bool

	// foreignToken is the token of another deployment's fence at the last sweep, and foreignSince when a sweep
	// first saw it.
	foreignToken string
	foreignSince time.Time

	// touchMu guards touched. Start and Stop may hold mu for seconds.
	touchMu sync.Mutex
	touched map[string]time.Time // last use of objects since the last sweep

	// fullMu guards full and fullAt.
	fullMu sync.Mutex
	full   error     // the last result of Full
	fullAt time.Time // when Full determined it
}

// Counts counts the sweeps of this process since its start and their deletions.
type Counts struct {
	// Sweeps were completed, Failed ended with an error. A sweep that finds another
	// node sweeping counts as neither.
	Sweeps, Failed int64
	// Expired counts objects deleted because of their age, Shrunk those deleted because
	// of the size cap.
	Expired, Shrunk int64
	// Skipped counts how often a sweep skipped an object, because its key is not allowed
	// or the store cannot read or delete it.
	Skipped int64
}

// Counts returns the current counts.
func (k *Keeper) Counts() Counts {
	return Counts{k.sweeps.Load(), k.failed.Load(), k.expired.Load(), k.shrunk.Load(), k.skipped.Load()}
}

// New returns a Keeper with defaults for unset options. It sends nothing.
func New(o Options) *Keeper {
	if o.Retention == 0 {
		o.Retention = 30 * 24 * time.Hour
	}

	if o.MinAge == 0 {
		o.MinAge = time.Hour
	}

	if o.Live == nil {
		o.Live = func(context.Context, string) (bool, error) { return false, nil }
	}

	if o.Interval == 0 {
		o.Interval = time.Minute
	}

	if o.Reconcile == 0 {
		o.Reconcile = 24 * time.Hour
	}

	if o.Now == nil {
		o.Now = time.Now
	}

	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}

	return &Keeper{Options: o, kick: make(chan struct{}, 1), touched: map[string]time.Time{}}
}

// Start sweeps in the background until Stop, unless the store is storage.None. It returns an error when the store
// belongs to another deployment, or when nodes on the same Redis use another store.
func (k *Keeper) Start(ctx context.Context) error {
	if _, none := k.Store.(storage.None); none {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()

	if k.cancel != nil || k.stopped {
		return errors.New("retention: the keeper was already started")
	}

	if err := k.claimStore(ctx); err != nil {
		return err
	}
	ctx, k.cancel = context.WithCancel(context.WithoutCancel(ctx))

	k.done = make(chan struct{})
	go k.loop(ctx)

	return nil
}

// Stop cancels a running sweep and waits for its end, at most until ctx ends. It may be called again. The only
// error is that the sweep did not end in time.
func (k *Keeper) Stop(ctx context.Context) error {
	k.mu.Lock()
	defer k.mu.Unlock()

	k.stopped = true
	if k.cancel == nil {
		return nil
	}
	k.cancel()

	select {
	case <-k.done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("retention: the sweep did not stop in time: %w", context.Cause(ctx))
	}
}

// minGap is the least time between two sweeps, for a store that stays at its size cap.
const minGap = time.Second

// loop sweeps each interval, and earlier when the store becomes too large.
func (k *Keeper) loop(ctx context.Context) {
	defer close(k.done)

	ticker := time.NewTicker(k.Interval)
	defer ticker.Stop()

	for {
		if err := k.Sweep(ctx); err != nil && ctx.Err() == nil {
			k.Log.Warn("a sweep of the store failed; the next sweep tries again", "error", err)
		}

		select {
		case <-ctx.Done():
			return
		case <-time.After(min(minGap, k.Interval)):
		}

		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-k.kick:
		}
	}
}

// Record adds an object of size bytes to the index. If it is called before the object is
// stored, a sweep finds the object even when the process dies in between. copies are the keys
// of copies to record with it.
func (k *Keeper) Record(ctx context.Context, key string, size int64, copies ...string) error {
	entries := []entry{{key: key, size: size, made: k.Now()}}
	for _, c := range copies {
		entries = append(entries, entry{key: c, size: size, made: entries[0].made})
	}

	return k.record(ctx, entries...)
}

// MetaUntil is the attribute with the time at which an artifact expires, in RFC 3339, if
// that is before its retention ends.
const MetaUntil = "until"

// RecordUntil adds an artifact to the index that expires before its retention ends. The
// artifact must have the attribute MetaUntil, from which a lost index is rebuilt.
func (k *Keeper) RecordUntil(ctx context.Context, key string, size int64, until time.Time) error {
	return k.record(ctx, entry{key, size, k.Now(), until})
}

// record adds entries to the index, and starts a sweep if the store is too large.
func (k *Keeper) record(ctx context.Context, entries ...entry) error {
	total, err := k.addEntries(ctx, "", entries...)
	if err != nil {
		return fmt.Errorf("record %s: %w", entries[0].key, err)
	}

	if k.MaxBytes > 0 && total > k.MaxBytes {
		k.wake()
	}

	return nil
}

// touchLimit bounds the objects whose use a node remembers until its next sweep.
const touchLimit = 10_000

// Touch records the use of an object, so that the size cap deletes other objects first. This node's
// next sweep writes the use into the index. If the node dies before, the use is lost.
func (k *Keeper) Touch(key string) {
	if !capped(key) {
		return
	}
	k.touchMu.Lock()
	defer k.touchMu.Unlock()

	if len(k.touched) >= touchLimit/2 {
		k.wake()
	}

	if len(k.touched) < touchLimit {
		k.touched[key] = k.Now()
	}
}

// writeTouched writes recorded uses into the index. After an error the next sweep does it.
func (k *Keeper) writeTouched(ctx context.Context) error {
	k.touchMu.Lock()
	touched := k.touched
	k.touched = map[string]time.Time{}
	k.touchMu.Unlock()

	if len(touched) == 0 {
		return nil
	}

	used := make([]redis.Z, 0, len(touched))
	for key, at := range touched {
		used = append(used, redis.Z{Score: float64(at.UnixMilli()), Member: key})
	}

	// XX: a deleted object is not added again.
	err := k.Redis.ZAddArgs(ctx, usedKey, redis.ZAddArgs{XX: true, GT: true, Members: used}).Err()
	if err != nil {
		k.touchAgain(touched)
	}

	return err
}

// touchAgain puts uses back that could not be written, except those of objects that were used since.
func (k *Keeper) touchAgain(touched map[string]time.Time) {
	k.touchMu.Lock()
	defer k.touchMu.Unlock()

	for key, at := range touched {
		if _, usedSince := k.touched[key]; !usedSince && len(k.touched) < touchLimit {
			k.touched[key] = at
		}
	}
}

// Forget removes a deleted object from the index.
func (k *Keeper) Forget(ctx context.Context, key string) error {
	if err := k.remove(ctx, key); err != nil {
		return fmt.Errorf("forget %s: %w", key, err)
	}

	return nil
}

// Delete deletes an object from the store and then from the index. When the store fails, a sweep deletes the object
// later. Deleting an object that does not exist is no error.
func (k *Keeper) Delete(ctx context.Context, key string) error {
	if err := k.Store.Delete(ctx, key); err != nil {
		return err
	}

	return k.Forget(ctx, key)
}

// Full returns StoreFull while the store exceeds its size cap and no object is old enough
// to be deleted. The result may be one second old. Full returns nil during an outage of
// Redis, which a submission notices elsewhere.
func (k *Keeper) Full(ctx context.Context) error {
	if none, ok := k.Store.(storage.None); ok {
		return none.Health(ctx)
	}

	if k.MaxBytes <= 0 {
		return nil
	}
	k.fullMu.Lock()
	defer k.fullMu.Unlock()

	now := k.Now()
	if age := now.Sub(k.fullAt); age >= 0 && age < time.Second {
		return k.full
	}

	total, oldest, err := k.readLevel(ctx)
	if err != nil {
		k.Log.WarnContext(ctx, "the size of the store is not known", "error", err)
		return nil
	}

	k.full, k.fullAt = nil, now
	switch {
	case total <= k.MaxBytes:
	case oldest.IsZero() || now.Sub(oldest) < k.MinAge:
		k.full = fault.Errorf(fault.StoreFull,
			"the store holds %d MB of at most %d MB, and all of it is younger than %s or needed by a job; "+
				"try again later, or raise CACHE_MAX_SIZE_GB", total/1e6, k.MaxBytes/1e6, k.MinAge)
	default:
		k.wake()
	}

	return k.full
}

// Level returns the number of stored bytes and the size cap; limit is 0 without a cap.
func (k *Keeper) Level(ctx context.Context) (total, limit int64, err error) {
	if _, none := k.Store.(storage.None); none {
		return 0, 0, nil
	}
	total, _, err = k.readLevel(ctx)

	return total, k.MaxBytes, err
}

// wake requests a sweep.
func (k *Keeper) wake() {
	select {
	case k.kick <- struct{}{}:
	default: // a sweep has been requested already
	}
}
