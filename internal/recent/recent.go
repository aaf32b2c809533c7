// Package recent remembers the values used last, within a bound on memory.
package recent

import (
	"math"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"
)

// Cache holds the values used last. Simplelru counts values; Cache bounds their bytes. It is
// safe for concurrent use.
type Cache[V any] struct {
	mu     sync.Mutex
	limit  int
	size   int
	values *simplelru.LRU[string, sized[V]]
}

type sized[V any] struct {
	value V
	size  int
}

// New makes a Cache that holds values of at most limit bytes together.
func New[V any](limit int) *Cache[V] {
	c := &Cache[V]{limit: limit}
	c.values, _ = simplelru.NewLRU(math.MaxInt, func(_ string, s sized[V]) { c.size -= s.size }) // the size is positive

	return c
}

// Get returns the value of a key, and whether it is there.
func (c *Cache[V]) Get(key string) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.values.Get(key)

	return s.value, ok
}

// Put remembers a value that takes size bytes, key included. It forgets the values that were
// not used for longest. A value larger than the limit is not remembered.
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
