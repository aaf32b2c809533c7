package cputime_test

import (
	"crypto/sha256"
	"testing"
	"time"

	"presswork/internal/test/cputime"
)

func TestWaitingCostsNothingAndWorkDoes(t *testing.T) {
	t.Parallel()

	const pause = 200 * time.Millisecond
	if took := cputime.Of(func() { time.Sleep(pause) }); took > pause/2 { // the wait itself
		t.Errorf("%s of sleep cost %s", pause, took)
	}
	// The race detector slows our own loops down many times, but not the standard library's assembly code.
	data := make([]byte, 32<<20)
	if took := cputime.Of(func() { sha256.Sum256(data) }); took < 2*time.Millisecond {
		t.Errorf("a sum of %d bytes cost %s", len(data), took)
	}
}
