package guard_test

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"presswork/internal/guard"
)

// BenchmarkProxy reports how much longer a request takes through a session than directly. Each round requests 100 small
// resources.
func BenchmarkProxy(b *testing.B) {
	server := httptest.NewServer(echoSite)
	defer server.Close()

	p, err := guard.New(guard.Options{Allow: hostOf(b, server)})
	if err != nil {
		b.Fatal(err)
	}
	proxy := guard.NewProxy(p, guard.ProxyOptions{})
	load := func(c *http.Client) time.Duration {
		began := time.Now()

		for range 100 {
			get(b, c, server.URL)
		}

		return time.Since(began)
	}
	var direct, guarded time.Duration
	rounds := 0

	for b.Loop() {
		transport := &http.Transport{}
		direct += load(&http.Client{Transport: transport})
		transport.CloseIdleConnections()

		s, err := proxy.Open(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		guarded += load(clientOf(b, s))
		s.Close()
		rounds++
	}
	b.ReportMetric(float64((guarded-direct).Microseconds())/float64(rounds*100), "µs-more/request")
}
