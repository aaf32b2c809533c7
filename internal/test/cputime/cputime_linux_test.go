package cputime_test

import (
	"crypto/sha256"
	"testing"
	"time"

	"presswork/internal/test/cputime"
)

func TestWorkTakesProcessorTimeAndWaitingDoesNot(t *testing.T) {
	t.Parallel()

	const pause = 200 * time.Millisecond
	if took := cputime.Of(func() { time.Sleep(pause) }); took > pause/2 {
		t.Errorf("a sleep of %s took %s of processor time, want at most %s", pause, took, pause/2)
	}
	// The hash is assembly code, which the race detector does not slow down.
	data := make([]byte, 32<<20)
	if took := cputime.Of(func() { sha256.Sum256(data) }); took < 2*time.Millisecond {
		t.Errorf("the hash of %d bytes took %s of processor time, want at least 2 ms", len(data), took)
	}
}
