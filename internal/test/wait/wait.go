// Package wait waits in tests: for a condition or a value, with a deadline that
// only a broken program reaches.
package wait

import (
	"testing"
	"time"
)

// Patience is how long anything in a test may take on a busy machine. It is less than
// the two minutes after which the program gives up by itself.
const Patience = 90 * time.Second

// Until polls until the condition holds; what names it when it does not.
func Until(t testing.TB, what string, condition func() bool) {
	t.Helper()

	for deadline := time.Now().Add(Patience); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", Patience, what)
		}
	}
}

// ForDay returns when there is some time left until midnight UTC, where one day's
// counters end and the next one's begin.
func ForDay() {
	const day = 24 * time.Hour

	now := time.Now()
	if left := now.Truncate(day).Add(day).Sub(now); left < Patience {
		time.Sleep(left)
	}
}

// Receive waits for a value; what names it when none comes.
func Receive[T any](t testing.TB, what string, c <-chan T) (v T) {
	t.Helper()

	select {
	case v = <-c:
	case <-time.After(Patience):
		t.Fatalf("not within %s: %s", Patience, what)
	}

	return v
}
