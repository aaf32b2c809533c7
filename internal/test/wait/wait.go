// Package wait waits in tests for a condition or a value. Only a broken program reaches the deadline.
package wait

import (
	"testing"
	"time"
)

// Patience is how long a test waits on a busy machine. It is less than the two minutes of RENDER_TIMEOUT, after which
// the program itself returns an error.
const Patience = 90 * time.Second

// Until polls until the condition holds. After Patience it fails the test; what names the condition in the message.
func Until(t testing.TB, what string, condition func() bool) {
	t.Helper()

	if !For(Patience, condition) {
		t.Fatalf("not within %s: %s", Patience, what)
	}
}

// For polls until the condition holds, at most for limit, and reports whether it held.
func For(limit time.Duration, condition func() bool) bool {
	for deadline := time.Now().Add(limit); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}

	return true
}

// ForDay waits until midnight UTC has passed if it is less than Patience away. Daily counters start again there.
func ForDay() {
	const day = 24 * time.Hour

	now := time.Now()
	if left := now.Truncate(day).Add(day).Sub(now); left < Patience {
		time.Sleep(left)
	}
}

// Receive waits for a value. After Patience it fails the test; what names the value.
func Receive[T any](t testing.TB, what string, c <-chan T) (v T) {
	t.Helper()

	select {
	case v = <-c:
	case <-time.After(Patience):
		t.Fatalf("not within %s: %s", Patience, what)
	}

	return v
}
