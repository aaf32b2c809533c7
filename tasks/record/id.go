package record

import (
	"crypto/rand"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"
)

// ids serializes the creation of job ids, so that the ids of one millisecond are in order.
var ids = struct {
	sync.Mutex
	entropy *ulid.MonotonicEntropy
}{entropy: ulid.Monotonic(rand.Reader, 0)}

// NewID returns a new job id: a ULID in upper-case Crockford base 32. Ids of one process sort in
// the order of the calls unless its clock is set back; ids of several processes sort by the
// millisecond. It is safe for concurrent use.
func NewID() string {
	ids.Lock()
	defer ids.Unlock()

	return ulid.MustNew(ulid.Now(), ids.entropy).String()
}

// ValidID reports whether s has the form of NewID, so that it may become part of a key.
func ValidID(s string) bool {
	id, err := ulid.ParseStrict(s)
	return err == nil && id.String() == s
}

// CreatedAt returns the time in an id, in milliseconds, by the clock of the process that created it. ok is
// false for a string that NewID cannot return.
func CreatedAt(id string) (at time.Time, ok bool) {
	parsed, err := ulid.ParseStrict(id)
	if err != nil {
		return time.Time{}, false
	}

	return ulid.Time(parsed.Time()), true
}

// FirstID returns the smallest job id of the millisecond of t; "" for a time that no id can have.
func FirstID(t time.Time) string {
	var id ulid.ULID
	if err := id.SetTime(ulid.Timestamp(t)); err != nil {
		return ""
	}

	return id.String()
}
