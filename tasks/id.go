package tasks

import (
	"github.com/oklog/ulid/v2"
)

// NewID returns a new job id: a ULID in upper-case Crockford base 32, so that
// ids sort by the millisecond of their making. Of those of one millisecond a later one
// may be the smaller: another goroutine may have come between with an older time.
// It is safe for concurrent use.
func NewID() string { return ulid.Make().String() }

// ValidID reports whether s has the form of NewID, so that it may become part
// of a key.
func ValidID(s string) bool {
	id, err := ulid.ParseStrict(s)
	return err == nil && id.String() == s
}
