package cputime_test

import (
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
	worked := 0
	if took := cputime.Of(func() {
		for range 1_000_000_000 {
			worked++
		}
	}); took < 10*time.Millisecond {
		t.Errorf("%d additions cost %s", worked, took)
	}
}
