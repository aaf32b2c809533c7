// Package recent keeps values for a while, in the memory of this process. A [Cache] has the most recently used values
// within a limit in bytes. A [Value] is one value up to an age, which many callers share.
package recent

import (
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Cache holds the most recently used values. The LRU library counts values; Cache limits their total bytes. It is
// safe for concurrent use.
type Cache[V any] struct {
	mu     sync.Mutex
	limit  int
	size   int
	values *simplelru.LRU[string, sized[V]]
}

// sized is a value with the size that counts for it.
type sized[V any] struct {
	value V
	size  int
}

// New returns a Cache that holds at most limit bytes.
func New[V any](limit int) *Cache[V] {
	c := &Cache[V]{limit: limit}
	c.values, _ = simplelru.NewLRU(math.MaxInt, func(_ string, s sized[V]) { c.size -= s.size }) // the size is positive

	return c
}

// Get returns the value of a key and whether it was found.
func (c *Cache[V]) Get(key string) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.values.Get(key)

	return s.value, ok
}

// Put stores a value that takes size bytes, including the key. It drops the least recently used values. A value
// larger than the limit is not stored.
func (c *Cache[V]) Put(key string, value V, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.values.Remove(key)

	if size > c.limit {
		return
	}
	c.values.Add(key, sized[V]{value, size})

	for c.size += size; c.size > c.limit; {
		c.values.RemoveOldest()
	}
}
