package recent

import (
	"sync"
	"time"
)

// Value is a value that is read again when it is older than maxAge. The first caller that finds it older waits for the
// new value. The others use the old value meanwhile, so a burst of callers reads it once.
type Value[T any] struct {
	maxAge time.Duration

	mu    sync.Mutex
	value T
	// asked is when a caller last began or ended a read of the value.
	asked time.Time
}

// NewValue returns a Value that is read at the first call of Get.
func NewValue[T any](maxAge time.Duration) *Value[T] { return &Value[T]{maxAge: maxAge} }

// Get returns the value. It calls read with the old value when that is too old. After an error the other callers use
// the old value for another maxAge.
func (c *Value[T]) Get(read func(old T) (T, error)) (T, error) {
	c.mu.Lock()

	value, stale := c.value, time.Since(c.asked) > c.maxAge
	if stale {
		// Set before the read, so that the callers after this one do not read as well.
		c.asked = time.Now()
	}
	c.mu.Unlock()

	if !stale {
		return value, nil
	}

	value, err := read(value)
	if err != nil {
		return value, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.value, c.asked = value, time.Now()

	return value, nil
}
