// Package cache keeps small JSON values that were expensive to compute, by kind and
// key, each until its time to live has passed. There is one contract and four
// backends: Memory, File, SQLite and Redis; cachetest.Run is the exam all pass.
//
// A cache never costs its user more than the computation: what is damaged is set
// aside and reported, what is too old is never served, and what cannot be
// stored is an error the caller may ignore.
package cache

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Kind is what a value is; each kind has a time to live of its own.
type Kind string

// The kinds.
const (
	// Analysis is an analyser's verdict on a text.
	Analysis Kind = "analysis"
	// Theme is a choice of themes for a text.
	Theme Kind = "theme"
)

// Kinds lists every kind.
func Kinds() []Kind { return []Kind{Analysis, Theme} }

// The failures that are named; every other error means that the backend could
// not be asked.
var (
	// ErrInvalidKey: the kind is unknown, or the key empty or not made of 1 to
	// 128 characters of A-Z a-z 0-9 _ and -.
	ErrInvalidKey = errors.New("invalid cache key")
	// ErrInvalidValue: the value is not JSON, or larger than MaxValue.
	ErrInvalidValue = errors.New("invalid cache value")
	// ErrNewer: the cache was written by a newer version. It is left as it is.
	ErrNewer = errors.New("the cache was written by a newer version")
)

// MaxValue is the largest value, in bytes.
const MaxValue = 1 << 20

// Cache is the contract. It is safe for concurrent use, and several processes
// may share one.
type Cache interface {
	// Get returns the value stored under a key whose time has not passed.
	// Errors: ErrInvalidKey.
	Get(ctx context.Context, kind Kind, key string) (value json.RawMessage, found bool, err error)
	// Put stores a value; an earlier one is replaced. Above the size cap the least
	// recently used entries go. Errors: ErrInvalidKey, ErrInvalidValue.
	Put(ctx context.Context, kind Kind, key string, value json.RawMessage) error
	// Stats counts what is stored and what was asked for, by every process.
	Stats(ctx context.Context) (Stats, error)
	// Clean removes what is expired or damaged and returns how many entries that
	// were.
	Clean(ctx context.Context) (int, error)
	// Clear removes everything, the counters included.
	Clear(ctx context.Context) error
	// Close writes what is pending. A second call does nothing.
	Close() error
}

// Options are common to all backends.
type Options struct {
	// TTL is the time to live of each kind. Default: DefaultTTL.
	TTL map[Kind]time.Duration
	// MaxEntries and MaxBytes cap the cache; 0 is no cap of this sort. Bytes are
	// those of the values, in a File those of the files.
	MaxEntries int
	MaxBytes   int64
	// Now is the clock. Default time.Now.
	Now func() time.Time
	// Log gets a warning for what was damaged and set aside. Default: discard.
	Log *slog.Logger
}

// DefaultTTL is how long a value of a kind is served: an analysis for a week, a
// choice of themes for thirty days.
func DefaultTTL(k Kind) time.Duration {
	if k == Theme {
		return 30 * 24 * time.Hour
	}

	return 7 * 24 * time.Hour
}

func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))

	return o
}

func (o Options) ttl(k Kind) time.Duration {
	if d, set := o.TTL[k]; set {
		return d
	}

	return DefaultTTL(k)
}

// fresh reports whether a value made at a time, to live for ttl, may be served
// now. A shorter time to live of this process counts, too. What seems to come
// from the future was made before the clock was set back: its age is unknown,
// so it is not served.
func (o Options) fresh(k Kind, made time.Time, ttl time.Duration, now time.Time) bool {
	age := now.Sub(made)
	return age >= 0 && age < min(ttl, o.ttl(k))
}

// over reports whether a cache of this size is past a cap.
func (o Options) over(entries int, bytes int64) bool {
	return o.MaxEntries > 0 && entries > o.MaxEntries || o.MaxBytes > 0 && bytes > o.MaxBytes
}

// Stats describes a cache.
type Stats struct {
	// Backend is memory, file, sqlite or redis; Path is where it lies, "" for
	// memory.
	Backend string `json:"backend"`
	Path    string `json:"path"`
	// Kinds has an entry for every kind, stored or not.
	Kinds map[Kind]KindStats `json:"kinds"`
	// HitRate is the share of lookups that were served, 0 to 1.
	HitRate float64 `json:"hit_rate"`
}

// KindStats describes the entries and lookups of one kind.
type KindStats struct {
	// Entries are stored now, Bytes is what they take, as Options.MaxBytes counts.
	Entries int   `json:"entries"`
	Bytes   int64 `json:"bytes"`
	// Hits and Misses count the lookups since the last Clear, those of every
	// process that shares the cache.
	Hits   int64 `json:"hits"`
	Misses int64 `json:"misses"`
	// Expired are the misses that met an entry past its time.
	Expired int64 `json:"expired"`
}

// newStats completes counts to a Stats.
func newStats(backend, path string, kinds map[Kind]KindStats) Stats {
	s := Stats{Backend: backend, Path: path, Kinds: map[Kind]KindStats{}}
	var hits, lookups int64

	for _, k := range Kinds() {
		s.Kinds[k] = kinds[k]
		hits += kinds[k].Hits
		lookups += kinds[k].Hits + kinds[k].Misses
	}

	if lookups > 0 {
		s.HitRate = float64(hits) / float64(lookups)
	}

	return s
}

const maxKey = 128

func checkKey(kind Kind, key string) error {
	if kind != Analysis && kind != Theme {
		return fmt.Errorf("%w: kind %q; allowed: analysis, theme", ErrInvalidKey, kind)
	}

	if key == "" || len(key) > maxKey {
		return fmt.Errorf("%w: %d characters; allowed: 1 to %d", ErrInvalidKey, len(key), maxKey)
	}

	for _, c := range []byte(key) {
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') && c != '_' && c != '-' {
			return fmt.Errorf("%w: %q; allowed: A-Z a-z 0-9 _ -", ErrInvalidKey, key)
		}
	}

	return nil
}

func checkValue(value json.RawMessage) error {
	if len(value) > MaxValue {
		return fmt.Errorf("%w: %d bytes; allowed: %d", ErrInvalidValue, len(value), MaxValue)
	}

	if !json.Valid(value) {
		return fmt.Errorf("%w: it is not JSON", ErrInvalidValue)
	}

	return nil
}

// lookup is the outcome of a Get, for the counters.
type lookup int

const (
	hit lookup = iota
	miss
	expired
)

func (s *KindStats) count(l lookup) {
	switch l {
	case hit:
		s.Hits++
	case expired:
		s.Expired++
		s.Misses++
	case miss:
		s.Misses++
	}
}
