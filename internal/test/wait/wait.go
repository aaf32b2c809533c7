// Package wait waits in tests: for a condition or a value, with a deadline that
// only a broken program reaches.
package wait

import (
	"testing"
	"time"
)

// Patience is how long anything in a test may take on a busy machine.
const Patience = 40 * time.Second

// Until polls until the condition holds; what names it when it does not.
func Until(t testing.TB, what string, condition func() bool) {
	t.Helper()
	for deadline := time.Now().Add(Patience); !condition(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not within %s: %s", Patience, what)
		}
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
