// Package cachetest is the conformance suite of cache.Cache.
package cachetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"presswork/internal/cache"
)

// Clock is a clock that the suite sets.
type Clock struct {
	mu sync.Mutex
	at time.Time
}

// Now returns the time of the clock.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()

	return c.at
}

// Move moves the clock forward, or back for a negative d.
func (c *Clock) Move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// Run checks a backend against the contract. open returns an empty cache. reopen opens the cache of the last open call
// a second time, as another process would. A nil reopen skips the tests of several processes.
func Run(
	t *testing.T,
	open func(t *testing.T, o cache.Options) cache.Cache,
	reopen func(t *testing.T, o cache.Options) cache.Cache,
) {
	// start opens a cache whose clock begins at the present, because Redis has its own clock.
	start := func(t *testing.T, o cache.Options) (*harness, *Clock) {
		clock := &Clock{at: time.Now()}
		o.Now = clock.Now
		c := open(t, o)
		t.Cleanup(func() {
			if err := c.Close(); err != nil {
				t.Error(err)
			}
		})

		return &harness{t, c}, clock
	}

	t.Run("a stored value is returned by kind and key", func(t *testing.T) {
		h, _ := start(t, cache.Options{})
		h.missing(cache.Analysis, "a")
		h.put(cache.Analysis, "a", `{"x":1}`)
		h.missing(cache.Theme, "a")
		h.missing(cache.Analysis, "b")
		h.put(cache.Theme, "a", `"nord"`)
		h.put(cache.Analysis, "a", `{"x":[2, "日本"]}`)
		h.has(cache.Analysis, "a", `{"x":[2,"日本"]}`)
		h.has(cache.Theme, "a", `"nord"`)
	})

	t.Run("a value is served until its time has passed and never after", func(t *testing.T) {
		h, clock := start(t, cache.Options{TTL: map[cache.Kind]time.Duration{cache.Analysis: time.Hour}})
		h.put(cache.Analysis, "a", "1")
		h.put(cache.Theme, "a", "2")
		clock.Move(time.Hour - time.Millisecond)
		h.has(cache.Analysis, "a", "1")
		clock.Move(2 * time.Millisecond)
		h.missing(cache.Analysis, "a")
		h.has(cache.Theme, "a", "2")
		clock.Move(cache.DefaultTTL(cache.Theme))
		h.missing(cache.Theme, "a")
		// Setting the clock back does not restore an expired value.
		clock.Move(-cache.DefaultTTL(cache.Theme))
		h.missing(cache.Theme, "a")
	})

	t.Run("a value from the future is not served", func(t *testing.T) {
		h, clock := start(t, cache.Options{})
		h.put(cache.Analysis, "a", "1")
		clock.Move(-time.Minute)
		h.missing(cache.Analysis, "a")
	})

	t.Run("a use keeps an entry from eviction", func(t *testing.T) {
		h, clock := start(t, cache.Options{MaxEntries: 20})
		for i := range 20 {
			h.put(cache.Analysis, fmt.Sprint("k", i), "1")
			clock.Move(2 * time.Minute)
		}
		h.has(cache.Analysis, "k0", "1")
		clock.Move(2 * time.Minute)

		for i := range 10 {
			h.put(cache.Analysis, fmt.Sprint("new", i), "1")
			clock.Move(2 * time.Minute)
		}
		h.has(cache.Analysis, "k0", "1")
		h.has(cache.Analysis, "new9", "1")
		h.missing(cache.Analysis, "k1")

		if n := h.stats().Kinds[cache.Analysis].Entries; n > 20 || n < 15 {
			t.Errorf("got %d entries, want 15 to 20", n)
		}
	})

	t.Run("bytes are capped", func(t *testing.T) {
		h, clock := start(t, cache.Options{MaxBytes: 100_000})

		big := `"` + strings.Repeat("x", 9_990) + `"`
		for i := range 40 {
			h.put(cache.Theme, fmt.Sprint("k", i), big)
			clock.Move(2 * time.Minute)
		}

		if n := h.stats().Kinds[cache.Theme].Bytes; n > 100_000 || n < 60_000 {
			t.Errorf("got %d bytes, want 60000 to 100000", n)
		}
		h.has(cache.Theme, "k39", big)
	})

	t.Run("lookups are counted", func(t *testing.T) {
		h, clock := start(t, cache.Options{})
		h.put(cache.Analysis, "a", `"1234"`)
		h.has(cache.Analysis, "a", `"1234"`)
		h.has(cache.Analysis, "a", `"1234"`)
		h.missing(cache.Analysis, "b")
		h.put(cache.Theme, "t", "1")
		clock.Move(cache.DefaultTTL(cache.Theme))
		h.missing(cache.Theme, "t")
		s := h.stats()

		a, th := s.Kinds[cache.Analysis], s.Kinds[cache.Theme]
		if a.Entries != 1 || a.Bytes < 6 || a.Hits != 2 || a.Misses != 1 || a.Expired != 0 {
			t.Errorf("analysis: got %+v, want one entry, two hits and a miss", a)
		}

		if th.Entries != 0 || th.Hits != 0 || th.Misses != 1 || th.Expired != 1 {
			t.Errorf("theme: got %+v, want no entry, and a miss that is an expiry", th)
		}

		if math.Abs(s.HitRate-0.5) > 1e-9 {
			t.Errorf("got hit rate %v, want 0.5", s.HitRate)
		}
	})

	t.Run("Clean removes expired entries and Clear all", func(t *testing.T) {
		h, clock := start(t, cache.Options{TTL: map[cache.Kind]time.Duration{cache.Analysis: time.Hour}})
		for i := range 5 {
			h.put(cache.Analysis, fmt.Sprint(i), "1")
		}
		h.put(cache.Theme, "t", "1")
		clock.Move(time.Hour)

		if n, err := h.c.Clean(t.Context()); n != 5 || err != nil {
			t.Errorf("Clean removed %d, %v; want 5", n, err)
		}
		h.has(cache.Theme, "t", "1")

		if err := h.c.Clear(t.Context()); err != nil {
			t.Error(err)
		}
		h.missing(cache.Theme, "t")

		if s := h.stats(); s.Kinds[cache.Theme].Entries != 0 || s.Kinds[cache.Theme].Hits != 0 {
			t.Errorf("after Clear: got %+v, want no entries and no hits", s)
		}
		h.put(cache.Theme, "t", "2")
		h.has(cache.Theme, "t", "2")
	})

	t.Run("hostile keys and values are refused", func(t *testing.T) {
		h, _ := start(t, cache.Options{})
		for _, key := range []string{"", "../../etc/passwd", "a/b", "a b", "a\x00b", ".", "ключ", strings.Repeat("a", 129)} {
			err := h.c.Put(t.Context(), cache.Theme, key, json.RawMessage("1"))
			if !errors.Is(err, cache.ErrInvalidKey) {
				t.Errorf("Put %q: got %v, want ErrInvalidKey", key, err)
			}

			if _, _, err := h.c.Get(t.Context(), cache.Theme, key); !errors.Is(err, cache.ErrInvalidKey) {
				t.Errorf("Get %q: got %v, want ErrInvalidKey", key, err)
			}
		}

		if err := h.c.Put(t.Context(), "other", "a", json.RawMessage("1")); !errors.Is(err, cache.ErrInvalidKey) {
			t.Errorf("Put of an unknown kind: got %v, want ErrInvalidKey", err)
		}

		for _, value := range []string{"", "{", "nope", `"` + strings.Repeat("x", cache.MaxValue) + `"`} {
			err := h.c.Put(t.Context(), cache.Theme, "a", json.RawMessage(value))
			if !errors.Is(err, cache.ErrInvalidValue) {
				t.Errorf("Put of the value %.20q: got %v, want ErrInvalidValue", value, err)
			}
		}
	})

	t.Run("parallel calls return whole values", func(t *testing.T) {
		h, clock := start(t, cache.Options{MaxEntries: 50})
		caches := []cache.Cache{h.c}

		if reopen != nil {
			other := reopen(t, cache.Options{MaxEntries: 50, Now: clock.Now})
			t.Cleanup(func() {
				if err := other.Close(); err != nil {
					t.Error(err)
				}
			})
			caches = append(caches, other)
		}
		var wg sync.WaitGroup

		for g := range 8 {
			c := caches[g%len(caches)]
			wg.Go(func() {
				for i := range 40 {
					key := fmt.Sprint("k", (g*7+i)%60)
					if err := c.Put(t.Context(), cache.Analysis, key, json.RawMessage(`"`+key+`"`)); err != nil {
						t.Error(err)
						return
					}

					value, found, err := c.Get(t.Context(), cache.Analysis, key)
					if err != nil || found && string(value) != `"`+key+`"` {
						t.Errorf("Get %s: got %s, %v; want the key as value, or nothing", key, value, err)
						return
					}
				}
			})
		}
		wg.Wait()
	})

	if reopen == nil {
		return
	}
	t.Run("another process sees entries and counts", func(t *testing.T) {
		h, clock := start(t, cache.Options{})
		h.put(cache.Theme, "a", `"nord"`)
		h.has(cache.Theme, "a", `"nord"`)

		if err := h.c.Close(); err != nil {
			t.Fatal(err)
		}

		other := &harness{t, reopen(t, cache.Options{Now: clock.Now})}
		defer other.c.Close()
		other.has(cache.Theme, "a", `"nord"`)

		if s := other.stats().Kinds[cache.Theme]; s.Hits != 2 || s.Entries != 1 {
			t.Errorf("got %+v, want one entry and two hits", s)
		}
	})
	t.Run("a shorter time to live applies to stored values", func(t *testing.T) {
		h, clock := start(t, cache.Options{})
		h.put(cache.Theme, "a", "1")

		other := &harness{
			t,
			reopen(t, cache.Options{Now: clock.Now, TTL: map[cache.Kind]time.Duration{cache.Theme: time.Minute}}),
		}
		defer other.c.Close()
		clock.Move(time.Minute)
		other.missing(cache.Theme, "a")
	})
}

// harness calls one cache and fails the test on errors.
type harness struct {
	t *testing.T
	c cache.Cache
}

// put stores a value, or fails the test.
func (h *harness) put(kind cache.Kind, key, value string) {
	h.t.Helper()

	if err := h.c.Put(h.t.Context(), kind, key, json.RawMessage(value)); err != nil {
		h.t.Fatalf("put %s %s: %v", kind, key, err)
	}
}

// has fails the test unless the key has the value want, compared as JSON.
func (h *harness) has(kind cache.Kind, key, want string) {
	h.t.Helper()

	got, found, err := h.c.Get(h.t.Context(), kind, key)
	if err != nil || !found || compact(got) != compact(json.RawMessage(want)) {
		h.t.Errorf("get %s %s: %.60s, %v, %v; want %.60s", kind, key, got, found, err, want)
	}
}

// missing fails the test if the key has a value.
func (h *harness) missing(kind cache.Kind, key string) {
	h.t.Helper()

	if got, found, err := h.c.Get(h.t.Context(), kind, key); err != nil || found {
		h.t.Errorf("get %s %s: %.60s, %v, %v; want nothing", kind, key, got, found, err)
	}
}

// stats returns the statistics of the cache, or fails the test.
func (h *harness) stats() cache.Stats {
	h.t.Helper()

	s, err := h.c.Stats(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}

	return s
}

// compact removes insignificant white space, which a backend may change.
func compact(v json.RawMessage) string {
	var x any
	if json.Unmarshal(v, &x) != nil {
		return string(v)
	}
	b, _ := json.Marshal(x) // a decoded value always encodes

	return string(b)
}
