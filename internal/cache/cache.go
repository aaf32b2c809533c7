// Package cache keeps small JSON values that were expensive to compute. Each value has a kind, a key and a time to
// live. The four backends Memory, File, SQLite and Redis share one contract, which cachetest.Run checks.
//
// A broken cache never fails its caller's work, which can compute the value again. Damaged entries are moved away and
// logged, expired values are never served, and callers may ignore an error of Put.
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

// Kind is the kind of a value. Each kind has its own time to live.
type Kind string

// Kinds of values.
const (
	// Analysis is the result of analysing a text.
	Analysis Kind = "analysis"
	// Theme is the recommended themes for a text.
	Theme Kind = "theme"
)

// Kinds lists every kind.
func Kinds() []Kind { return []Kind{Analysis, Theme} }

// Named errors. Every other error means that the backend was not reachable.
var (
	// ErrInvalidKey is returned for an unknown kind and for a key that is not 1 to 128 characters of A-Z a-z 0-9 _
	// and -.
	ErrInvalidKey = errors.New("invalid cache key")
	// ErrInvalidValue is returned for a value that is not JSON or is larger than MaxValue.
	ErrInvalidValue = errors.New("invalid cache value")
	// ErrNewer is returned if a newer version wrote the cache. Its data stays unchanged.
	ErrNewer = errors.New("the cache was written by a newer version")
)

// MaxValue is the largest value, in bytes.
const MaxValue = 1 << 20

// Cache stores small JSON values by kind and key. It is safe for concurrent use, and several processes may share
// one.
type Cache interface {
	// Get returns the value of a key and whether it was found. It does not return expired values. Errors:
	// ErrInvalidKey, and those of the backend.
	Get(ctx context.Context, kind Kind, key string) (value json.RawMessage, found bool, err error)
	// Put stores a value and replaces an earlier one. Above the size cap it removes the least recently used
	// entries. Errors: ErrInvalidKey, ErrInvalidValue, and those of the backend.
	Put(ctx context.Context, kind Kind, key string, value json.RawMessage) error
	// Stats returns the entries and the lookups of every process that shares the cache, those of other processes as of
	// their last write. It may read every entry.
	Stats(ctx context.Context) (Stats, error)
	// Clean removes expired and damaged entries and returns their number.
	Clean(ctx context.Context) (int, error)
	// Clear removes every entry and resets the counters.
	Clear(ctx context.Context) error
	// Close writes pending counters. A second call does nothing.
	Close() error
}

// Options are common to all backends.
type Options struct {
	// TTL is the time to live of each kind. Default: DefaultTTL.
	TTL map[Kind]time.Duration
	// MaxEntries and MaxBytes cap the cache; 0 means no cap. MaxBytes counts the bytes of values; in a File, the bytes
	// of files.
	MaxEntries int
	MaxBytes   int64
	// Now returns the time. Default: time.Now.
	Now func() time.Time
	// Log receives a warning for each damaged entry that was moved away. Default: discard.
	Log *slog.Logger
}

// DefaultTTL returns the time to live of each kind: a week for an analysis, thirty days for recommended themes.
func DefaultTTL(k Kind) time.Duration {
	if k == Theme {
		return 30 * 24 * time.Hour
	}

	return 7 * 24 * time.Hour
}

// withDefaults replaces zero values by their defaults.
func (o Options) withDefaults() Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))

	return o
}

// ttl returns how long a value of the kind is valid.
func (o Options) ttl(k Kind) time.Duration {
	if d, set := o.TTL[k]; set {
		return d
	}

	return DefaultTTL(k)
}

// isFresh reports whether a value made at this time with this time to live may still be served. The shorter of both
// times to live counts. A value from the future was made before the clock was set back: its age is unknown, so it
// is not served.
func (o Options) isFresh(k Kind, made time.Time, ttl time.Duration, now time.Time) bool {
	age := now.Sub(made)
	return age >= 0 && age < min(ttl, o.ttl(k))
}

// exceedsCap reports whether a cache of this size exceeds a cap.
func (o Options) exceedsCap(entries int, bytes int64) bool {
	return o.MaxEntries > 0 && entries > o.MaxEntries || o.MaxBytes > 0 && bytes > o.MaxBytes
}

// Stats describes a cache.
type Stats struct {
	// Backend is memory, file, sqlite or redis. Path is its location, "" for memory.
	Backend string `json:"backend"`
	Path    string `json:"path"`
	// Kinds has an entry for every kind, stored or not.
	Kinds map[Kind]KindStats `json:"kinds"`
	// HitRate is hits divided by lookups, 0 to 1.
	HitRate float64 `json:"hit_rate"`
}

// KindStats describes the entries and lookups of one kind.
type KindStats struct {
	// Entries is the number of stored entries. Bytes is their size, counted as for Options.MaxBytes.
	Entries int   `json:"entries"`
	Bytes   int64 `json:"bytes"`
	// Hits and Misses count the lookups of every process since the last Clear.
	Hits   int64 `json:"hits"`
	Misses int64 `json:"misses"`
	// Expired counts the misses that found an expired entry.
	Expired int64 `json:"expired"`
}

// newStats builds a Stats from the counts.
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

// maxKey is the longest key, in bytes.
const maxKey = 128

// checkKey returns ErrInvalidKey for an unknown kind, or for a key that is not safe as the name of a file.
func checkKey(kind Kind, key string) error {
	if kind != Analysis && kind != Theme {
		return fmt.Errorf("%w: kind %q; allowed: analysis, theme", ErrInvalidKey, kind)
	}

	if key == "" || len(key) > maxKey {
		return fmt.Errorf("%w: %d characters; allowed: 1 to %d", ErrInvalidKey, len(key), maxKey)
	}

	for _, c := range []byte(key) {
		// c|0x20 is the lower-case form of a letter.
		if (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') && c != '_' && c != '-' {
			return fmt.Errorf("%w: %q; allowed: A-Z a-z 0-9 _ -", ErrInvalidKey, key)
		}
	}

	return nil
}

// checkValue returns ErrInvalidValue for a value that is too large or not JSON.
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
	expired // the entry existed, but its time to live was over
)

// count adds one lookup. An expired entry also counts as a miss.
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
