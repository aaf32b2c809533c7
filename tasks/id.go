package tasks

import (
	"crypto/rand"
	"sync"

	"github.com/oklog/ulid/v2"
)

// ids makes job ids one after the other, so that none comes with an older time between two
// of one millisecond.
var ids = struct {
	sync.Mutex
	entropy *ulid.MonotonicEntropy
}{entropy: ulid.Monotonic(rand.Reader, 0)}

// NewID returns a new job id: a ULID in upper-case Crockford base 32, so that
// ids sort by the time of their making: those of one process as they were made, unless its
// clock is set back, those of several by the millisecond. It is safe for concurrent use.
func NewID() string {
	ids.Lock()
	defer ids.Unlock()

	return ulid.MustNew(ulid.Now(), ids.entropy).String()
}

// ValidID reports whether s has the form of NewID, so that it may become part
// of a key.
func ValidID(s string) bool {
	id, err := ulid.ParseStrict(s)
	return err == nil && id.String() == s
}
