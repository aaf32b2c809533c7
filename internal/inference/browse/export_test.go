package browse

import (
	"context"
	"net/url"
	"time"
)

// RequestTimes asks to send n requests to one site at once. It returns the times at which they may be sent. The site's
// robots.txt has been read.
func RequestTimes(ctx context.Context, n int) (times []time.Time) {
	s := newSites(Options{Policy: nil, UserAgent: "x"})
	u := &url.URL{Scheme: "https", Host: "site.test"}

	s.lookUp(u).read = time.Now()
	for range n {
		if s.waitFor(ctx, u) == nil {
			times = append(times, time.Now())
		}
	}

	return times
}
