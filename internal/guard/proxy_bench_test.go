package guard_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"presswork/internal/guard"
)

// BenchmarkProxy is 100 small resources of a page, four at a time, straight and
// through a session.
func BenchmarkProxy(b *testing.B) {
	server := httptest.NewServer(site)
	defer server.Close()

	p, err := guard.New(guard.Options{Allow: hostOf(b, server)})
	if err != nil {
		b.Fatal(err)
	}
	proxy := guard.NewProxy(p, guard.ProxyOptions{})
	load := func(c *http.Client) time.Duration {
		begun := time.Now()

		for range 100 {
			get(b, c, server.URL)
		}

		return time.Since(begun)
	}
	var straight, guarded time.Duration
	rounds := 0

	for b.Loop() {
		direct := &http.Transport{}
		straight += load(&http.Client{Transport: direct})
		direct.CloseIdleConnections()

		s, err := proxy.Open(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		guarded += load(through(b, s))
		s.Close()
		rounds++
	}
	b.ReportMetric(float64((guarded-straight).Microseconds())/float64(rounds*100), "µs-more/request")
}
