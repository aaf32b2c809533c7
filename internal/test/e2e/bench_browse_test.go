package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"presswork/internal/guard"
	"presswork/internal/inference"
	"presswork/internal/inference/browse"
)

// BenchmarkSearchAndOpen measures a search and the opening of its first result. Each round has a new Browser, which also
// requests the site's robots.txt.
func BenchmarkSearchAndOpen(b *testing.B) {
	article := "<!doctype html><title>Birds</title><nav>" + strings.Repeat(`<a href="/n">elsewhere</a> `, 200) +
		"</nav><article>" + strings.Repeat(`<h2>Birds</h2><p>Birds fly, and <a href="/eggs">lay eggs</a>, and sing in `+
		`the morning, some of them all day long.</p><ul><li>one<li>two</ul>`, 300) + "</article>"
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/search":
			results := make([]inference.SearchResult, 20)
			for i := range results {
				results[i] = inference.SearchResult{
					Title:   "Birds",
					URL:     fmt.Sprintf("%s/birds?%d", server.URL, i),
					Content: strings.Repeat("Birds fly. ", 20),
				}
			}
			json.NewEncoder(w).Encode(map[string]any{"results": results})
		case "/birds":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, article)
		default:
			http.NotFound(w, r)
		}
	}))
	b.Cleanup(server.Close)

	policy, err := guard.New(guard.Options{Allow: server.Listener.Addr().String()})
	if err != nil {
		b.Fatal(err)
	}
	call := func(s *browse.Session, name, arguments string) {
		r, err := s.Call(b.Context(), inference.BuiltinCall{Name: name, Arguments: arguments})
		if err != nil || r.Failed {
			b.Errorf("%s: error %v, output %s; want no failure", name, err, r.Output)
		}
	}

	for b.Loop() {
		var took []time.Duration

		for range 100 {
			searcher, err := browse.NewSearcher(browse.SearchOptions{SearXNG: server.URL, Policy: policy})
			if err != nil {
				b.Fatal(err)
			}
			session := browse.New(browse.Options{Policy: policy, Searcher: searcher}).Session()
			began := time.Now()
			call(session, inference.SearchFunction, `{"query":"birds"}`)
			call(session, inference.OpenFunction, `{"id":0}`)
			took = append(took, time.Since(began))
		}
		report(b, fmt.Sprintf("`browser_search`: a search, and a local page of %d KB opened, without scripts",
			len(article)>>10), percentiles(took, 100*time.Microsecond), "< 100 ms")
	}
}
