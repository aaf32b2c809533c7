// Package recent remembers what was made lately, within a bound on memory.
package recent

import "sync"

// Cache holds the values used last. It keeps two generations: when the young
// one is full it becomes the old one, and what was in the old one is forgotten.
// A value that is asked for is young again. It is safe for concurrent use.
type Cache[V any] struct {
	mu         sync.Mutex
	limit      int
	size       int // of young
	young, old map[string]sized[V]
}

type sized[V any] struct {
	value V
	size  int
}

// New makes a Cache that holds values of at most limit bytes together.
func New[V any](limit int) *Cache[V] {
	return &Cache[V]{limit: limit / 2, young: map[string]sized[V]{}}
}

// Get returns the value of a key, and whether it is there.
func (c *Cache[V]) Get(key string) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.young[key]
	if !ok {
		if s, ok = c.old[key]; ok {
			c.put(key, s)
		}
	}
	return s.value, ok
}

// Put remembers a value that takes size bytes, key included. One that is larger
// than a generation is not remembered.
func (c *Cache[V]) Put(key string, value V, size int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.put(key, sized[V]{value, size})
}

func (c *Cache[V]) put(key string, s sized[V]) {
	if s.size > c.limit {
		return
	}
	c.size += s.size - c.young[key].size
	if c.size > c.limit {
		c.old, c.young, c.size = c.young, map[string]sized[V]{}, s.size
	}
	c.young[key] = s
}
