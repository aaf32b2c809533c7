package tasks

import (
	"sync"
	"time"
)

// figure is a value of Redis' that may be so old and no older when it is used.
// Who finds it older asks anew, and all others go on with the old one meanwhile,
// so that a burst of submissions asks once.
type figure[T any] struct {
	maxAge time.Duration

	mu    sync.Mutex
	value T
	at    time.Time
}

// get returns the value, asking for it when it is too old; ask is given the old
// one. After an error the old value serves the others for another while.
func (f *figure[T]) get(ask func(old T) (T, error)) (T, error) {
	f.mu.Lock()

	value, stale := f.value, time.Since(f.at) > f.maxAge
	if stale {
		f.at = time.Now()
	}
	f.mu.Unlock()

	if !stale {
		return value, nil
	}

	value, err := ask(value)
	if err != nil {
		return value, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.value, f.at = value, time.Now()

	return value, nil
}
