// Package retention keeps a store within its retention and its size cap, over all
// nodes.
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

// Options are what a Keeper keeps, and for how long.
type Options struct {
	// Store holds the objects. Mandatory.
	Store storage.Store
	// Redis holds the index that all nodes share. Mandatory.
	Redis redis.UniversalClient
	// MaxBytes caps what is stored; 0 is no cap. A copy that shares its bytes on
	// the disk counts as well, and so do sources, though only artifacts and
	// renders are deleted for it.
	MaxBytes int64
	// Retention is how long an object is kept after it was stored. Default 30
	// days.
	Retention time.Duration
	// MinAge spares young objects from the cap, so that a result can be
	// fetched, and sources whose job is about to be submitted. Default 1 h.
	MinAge time.Duration
	// Live reports whether a job still waits or runs; its sources are then kept.
	// Those of other jobs go when they are MinAge old. Default: none does.
	Live func(ctx context.Context, jobID string) (bool, error)
	// StoreName and RedisName are for messages; they hold no passwords. StoreName is
	// the same on all nodes of a deployment.
	StoreName, RedisName string
	// Alone means that no other node can reach this Redis, so that the node may change
	// its store at any time.
	Alone bool
	// Interval is the time between two sweeps; one is also due when the cap is
	// passed. Default 1 min.
	Interval time.Duration
	// Reconcile is the time between two comparisons of the index with the
	// whole store. Default 24 h.
	Reconcile time.Duration
	// Now is the clock, the same on all nodes. Default time.Now.
	Now func() time.Time
	// Log gets what was deleted, and failures. Default: discard.
	Log *slog.Logger
}

// Keeper enforces retention and the size cap over all nodes. What is stored is
// recorded in an index in Redis; every node sweeps, one at a time. The index
// can be lost: the next sweep makes it again from the store's listing.
type Keeper struct {
	Options
	kick chan struct{} // asks the loop for a sweep

	sweeps, failed, expired, shrunk, skipped atomic.Int64 // see Counts

	mu      sync.Mutex
	cancel  context.CancelFunc // ends the loop; nil until Start
	done    chan struct{}
	stopped bool

	seen   string // the token of another deployment's fence, as the last sweep saw it
	seenAt time.Time

	touchMu sync.Mutex
	touched map[string]time.Time // what was used since the last sweep, and when

	fullMu sync.Mutex
	fullAt time.Time
	full   error
}

// Counts are what the sweeps of this process have done since its start.
type Counts struct {
	// Sweeps ended well, Failed did not. While another node sweeps there is neither.
	Sweeps, Failed int64
	// Expired are the objects deleted since their time was over, Shrunk those for the
	// cap.
	Expired, Shrunk int64
	// Skipped counts how often a sweep skipped an object: its key is not allowed, or
	// the store does not read or delete it.
	Skipped int64
}

// Counts returns them.
func (k *Keeper) Counts() Counts {
	return Counts{k.sweeps.Load(), k.failed.Load(), k.expired.Load(), k.shrunk.Load(), k.skipped.Load()}
}

// New wires a Keeper.
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

// Start begins to sweep, where there is a store. It returns an error when the store
// belongs to another deployment, or when nodes on the same Redis use another store.
func (k *Keeper) Start(ctx context.Context) error {
	if _, none := k.Store.(storage.None); none {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()

	if k.cancel != nil || k.stopped {
		return errors.New("retention: the keeper was started before")
	}

	if err := k.claim(ctx); err != nil {
		return err
	}
	ctx, k.cancel = context.WithCancel(context.WithoutCancel(ctx))

	k.done = make(chan struct{})
	go k.loop(ctx)

	return nil
}

// Stop ends a sweep that runs and waits for it.
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
		return fmt.Errorf("retention: the keeper still sweeps: %w", context.Cause(ctx))
	}
}

// minGap keeps a store that hovers at its cap from being swept all the time.
const minGap = time.Second

func (k *Keeper) loop(ctx context.Context) {
	defer close(k.done)

	ticker := time.NewTicker(k.Interval)
	defer ticker.Stop()

	for {
		if err := k.Sweep(ctx); err != nil && ctx.Err() == nil {
			k.Log.Warn("the store was not swept; it will be tried again", "error", err)
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

// Record notes that an object was stored, or is about to be: what is noted first
// is found by a sweep even when the process dies in between. Copies are the keys of those
// of its copies that are noted with it.
func (k *Keeper) Record(ctx context.Context, key string, size int64, copies ...string) error {
	entries := []entry{{key: key, size: size, made: k.Now()}}
	for _, c := range copies {
		entries = append(entries, entry{key: c, size: size, made: entries[0].made})
	}

	return k.record(ctx, entries...)
}

// MetaUntil is the attribute with the time an artifact expires, in RFC 3339, if
// that is before its retention ends.
const MetaUntil = "until"

// RecordUntil notes that an artifact was stored that is to go at a time before
// its retention ends. It must have been stored with MetaUntil, so that this is
// known when the index is lost.
func (k *Keeper) RecordUntil(ctx context.Context, key string, size int64, until time.Time) error {
	return k.record(ctx, entry{key, size, k.Now(), until})
}

func (k *Keeper) record(ctx context.Context, entries ...entry) error {
	total, err := k.add(ctx, "", entries...)
	if err != nil {
		return fmt.Errorf("record %s: %w", entries[0].key, err)
	}

	if k.MaxBytes > 0 && total > k.MaxBytes {
		k.wake()
	}

	return nil
}

// touchLimit bounds how many objects a node remembers as used until its next sweep.
const touchLimit = 10_000

// Touch notes that an object was used: the cap takes it later. The index learns it at
// this node's next sweep, and never where the node dies before.
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

// tellTouched writes into the index what was used. After an error the next sweep writes it.
func (k *Keeper) tellTouched(ctx context.Context) error {
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

	// XX: the index does not get back what was deleted meanwhile.
	err := k.Redis.ZAddArgs(ctx, usedKey, redis.ZAddArgs{XX: true, GT: true, Members: used}).Err()
	if err != nil {
		k.touchAgain(touched)
	}

	return err
}

// touchAgain notes what was used before, except what was used again since.
func (k *Keeper) touchAgain(touched map[string]time.Time) {
	k.touchMu.Lock()
	defer k.touchMu.Unlock()

	for key, at := range touched {
		if _, again := k.touched[key]; !again && len(k.touched) < touchLimit {
			k.touched[key] = at
		}
	}
}

// Forget notes that an object was deleted.
func (k *Keeper) Forget(ctx context.Context, key string) error {
	if err := k.remove(ctx, key); err != nil {
		return fmt.Errorf("forget %s: %w", key, err)
	}

	return nil
}

// Delete deletes an object, and notes it once it is gone: one that could not be
// deleted is left to a sweep.
func (k *Keeper) Delete(ctx context.Context, key string) error {
	if err := k.Store.Delete(ctx, key); err != nil {
		return err
	}

	return k.Forget(ctx, key)
}

// Full fails with StoreFull while the store is over its cap with nothing old
// enough to delete. The answer may be a second old. A Redis that does not
// answer is no full store: a submission learns of that elsewhere.
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

	total, oldest, err := k.level(ctx)
	if err != nil {
		k.Log.WarnContext(ctx, "the size of the store is not known", "error", err)
		return nil
	}

	k.full, k.fullAt = nil, now
	switch {
	case total <= k.MaxBytes:
	case oldest.IsZero() || now.Sub(oldest) < k.MinAge:
		k.full = fault.Errorf(
			fault.StoreFull,
			"the store holds %d MB of at most %d MB, and all of it is younger than %s or needed by a job; "+
				"try again later, or raise CACHE_MAX_SIZE_GB",
			total/1e6,
			k.MaxBytes/1e6,
			k.MinAge,
		)
	default:
		k.wake()
	}

	return k.full
}

// Level returns how many bytes are stored, and how many may be; most is 0 where there is
// no cap.
func (k *Keeper) Level(ctx context.Context) (total, most int64, err error) {
	if _, none := k.Store.(storage.None); none {
		return 0, 0, nil
	}
	total, _, err = k.level(ctx)

	return total, k.MaxBytes, err
}

func (k *Keeper) wake() {
	select {
	case k.kick <- struct{}{}:
	default: // a sweep is due already
	}
}
