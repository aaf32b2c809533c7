package formula

import (
	"fmt"
	"testing"
	"time"
)

func TestTheTimeOfFormulasGrowsWithTheDocument(t *testing.T) {
	t.Parallel()

	for size, want := range map[int]time.Duration{
		0:         3 * time.Second,
		100 << 10: 8 * time.Second,
		10 << 20:  30 * time.Second,
	} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			t.Parallel()

			if got := timeFor(size); got != want {
				t.Errorf("%d bytes have %s, want %s", size, got, want)
			}
		})
	}
}
