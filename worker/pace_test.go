package worker

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestEstimatedProgressOfALongPrintGrows(t *testing.T) {
	t.Parallel()

	for name, c := range map[string]struct {
		expected, took time.Duration
		least, most    int // reports
		last           string
	}{
		"short":      {expected: 100 * time.Millisecond, took: 1900 * time.Millisecond},
		"as guessed": {expected: 20 * time.Second, took: 19 * time.Second, least: 8, most: 9, last: "about 2 s left"},
		"overdue":    {expected: time.Second, took: 5 * time.Minute, least: 4, most: 12, last: "longer than"},
		"very long":  {expected: 5 * time.Minute, took: 2 * time.Minute, least: 15, most: 40, last: "about 18"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, stop := context.WithTimeout(t.Context(), c.took+time.Millisecond)
				defer stop()
				began, at, last, reports, message := time.Now(), time.Time{}, printingFrom, 0, ""
				reportPace(ctx, c.expected, func(percent int, text string) {
					if percent <= last || percent >= printingTo || time.Since(at) < time.Second ||
						time.Since(began) < paceTick {
						t.Errorf("got %d %% after %d %% and %s; want a higher one after a second or more", percent,
							last, time.Since(at))
					}
					at, last, message = time.Now(), percent, text
					reports++
				})

				if reports < c.least || reports > c.most || !strings.Contains(message, c.last) {
					t.Errorf("got %d reports, the last at %d %% with %q; want %d to %d, the last with %q", reports,
						last, message, c.least, c.most, c.last)
				}
			})
		})
	}
}

func TestThePaceIsMeasuredOnLongDocuments(t *testing.T) {
	t.Parallel()
	var p pace
	first := p.estimate(1 << 20)
	p.addPrint(1000, time.Minute)

	if got := p.estimate(1 << 20); got != first {
		t.Errorf("a short document changed the estimate from %s to %s", first, got)
	}

	for range 20 {
		p.addPrint(1<<20, 10*time.Second)
	}

	if got := p.estimate(2 << 20).Round(time.Second); got != 20*time.Second {
		t.Errorf("the estimate for 2 MiB is %s, want 20 s", got)
	}
}
