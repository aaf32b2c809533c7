package browse

import (
	"context"
	"net/url"
	"time"
)

// Turns are the times at which a site may be asked for n pages that all want to
// be first; its rules are known.
func Turns(ctx context.Context, n int) (turns []time.Time) {
	s := newSites(Options{Policy: nil, UserAgent: "x"})
	u := &url.URL{Scheme: "https", Host: "site.test"}

	s.lookUp(u).read = time.Now()
	for range n {
		if s.waitFor(ctx, u) == nil {
			turns = append(turns, time.Now())
		}
	}

	return turns
}
