package browse_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"presswork/internal/fault"
	"presswork/internal/inference"
	"presswork/internal/inference/browse"
)

// engine starts a search engine with a handler for one path. It returns its address.
func engine(t *testing.T, path string, h http.HandlerFunc) string {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc(path, h)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)

	return server.URL
}

// searcher returns a Searcher. The default policy allows no address of this machine by name.
func searcher(t *testing.T, o browse.SearchOptions) browse.Searcher {
	t.Helper()

	if o.Policy == nil {
		o.Policy = policy(t)
	}

	s, err := browse.NewSearcher(o)
	if err != nil {
		t.Fatal(err)
	}

	return s
}

func TestSearchReadsSearXNGJSONAndOpenSearch(t *testing.T) {
	t.Parallel()
	// checkQuery reports whether a request has that query. If not, it fails the test.
	checkQuery := func(r *http.Request, want string) bool {
		ok := r.URL.RawQuery == want
		if !ok {
			t.Errorf("%s got the query %s, want %s", r.URL.Path, r.URL.RawQuery, want)
		}

		return ok
	}
	searx := engine(t, "/base/search", func(w http.ResponseWriter, r *http.Request) {
		checkQuery(r, "format=json&q=red+%26+blue")
		fmt.Fprint(
			w,
			`{"query":"q","number_of_results":0,"results":[{"url":"https://a.test/","title":"A","content":"about a","engine":"x","score":1.5,"publishedDate":null},{"url":"https://b.test/","title":"B"}],"suggestions":[]}`,
		)
	})
	brave := engine(t, "/res", func(w http.ResponseWriter, r *http.Request) {
		if checkQuery(r, "q=red+%26+blue") && r.Header.Get("X-Token") == "secret" {
			fmt.Fprint(
				w,
				`{"web":{"results":[{"link":["https://a.test/"],"title":"A","description":"about a","score":1.5},{"link":["https://b.test/"],"title":"B"}]}}`,
			)
		}
	})
	want := []inference.SearchResult{
		{Title: "A", URL: "https://a.test/", Content: "about a", Score: 1.5},
		{Title: "B", URL: "https://b.test/"},
	}
	unscored := []inference.SearchResult{
		{Title: "A", URL: "https://a.test/", Content: "about a"},
		{Title: "B", URL: "https://b.test/"},
	}
	describe := func(kind, template string) string {
		return `<?xml version="1.0"?><OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/"><Url type="text/html" template="http://x/"/>` +
			`<Url type="` + kind + `" template="` + template + `"/></OpenSearchDescription>`
	}
	// openSearch starts an engine with an OpenSearch description. It returns the address of the description.
	openSearch := func(kind, answer string) string {
		mux := http.NewServeMux()
		server := httptest.NewServer(mux)
		t.Cleanup(server.Close)
		mux.HandleFunc("/d.xml", func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, describe(kind, server.URL+"/s?q={searchTerms}&amp;n={count}&amp;p={startPage?}&amp;x={x:y?}"))
		})
		mux.HandleFunc("/s", func(w http.ResponseWriter, r *http.Request) {
			checkQuery(r, "q=red+%26+blue&n=7&p=1&x=")
			fmt.Fprint(w, answer)
		})

		return server.URL + "/d.xml"
	}
	rss := `<rss><channel><title>t</title><item><title>A</title><link> https://a.test/ </link><description>about a</description></item><item><title>B</title><link>https://b.test/</link></item></channel></rss>`

	atom := `<feed xmlns="http://www.w3.org/2005/Atom"><entry><title>A</title><link rel="edit" href="https://x.test/"/><link rel="alternate" href="https://a.test/"/><summary>about a</summary></entry><entry><title>B</title><link href="https://b.test/"/></entry></feed>`
	for name, c := range map[string]struct {
		options browse.SearchOptions
		want    []inference.SearchResult
	}{
		"SearXNG": {browse.SearchOptions{SearXNG: searx + "/base/"}, want},
		"JSON": {browse.SearchOptions{
			URL: brave + "/res?q={query}", Header: "X-Token: secret",
			Fields: []string{"results=web.results", "url=link.0", "content=description"},
		}, want},
		"RSS":             {browse.SearchOptions{URL: openSearch("application/rss+xml", rss)}, unscored},
		"Atom":            {browse.SearchOptions{URL: openSearch("application/atom+xml", atom)}, unscored},
		"OpenSearch JSON": {browse.SearchOptions{URL: openSearch("application/json", `[{"title":"A","url":"https://a.test/","content":"about a"},{"title":"B","url":"https://b.test/"}]`), Fields: []string{"results="}}, unscored},
	} {
		t.Run(name, func(t *testing.T) {
			s := searcher(t, c.options)
			for range 2 {
				got, err := s.Search(t.Context(), "red & blue", 7)
				if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
					t.Errorf("results (-want +got):\n%s\nerror %v", diff, err)
				}
			}
		})
	}
}

func TestFailuresOfSearchEnginesAreExplained(t *testing.T) {
	t.Parallel()
	answer := func(status int, body string) string {
		return engine(t, "/", func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, body)
		})
	}
	moved := engine(t, "/", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "http://169.254.169.254/", http.StatusFound)
	})
	// description returns the address of an OpenSearch description with this address of the results.
	description := func(template string) string {
		return answer(
			200,
			`<OpenSearchDescription><Url type="application/rss+xml" template="`+template+`"/></OpenSearchDescription>`,
		)
	}

	other := engine(t, "/",
		func(http.ResponseWriter, *http.Request) {
			t.Error("the private address of a description got a request, want none")
		})
	for name, c := range map[string]struct {
		options browse.SearchOptions
		want    string
	}{
		"JSON is disabled":  {browse.SearchOptions{SearXNG: answer(403, "no")}, "add json to search.formats in SearXNG's settings.yml"},
		"rate limited":      {browse.SearchOptions{SearXNG: answer(429, "no")}, "asked too often"},
		"broken":            {browse.SearchOptions{SearXNG: answer(500, "a secret")}, "the search engine answered 500"},
		"HTML":              {browse.SearchOptions{SearXNG: answer(200, "<html>")}, "is not JSON"},
		"no results":        {browse.SearchOptions{URL: answer(200, `{"web":{}}`) + "/?{query}", Fields: []string{"results=web.results"}}, `no list at "web.results"`},
		"redirected":        {browse.SearchOptions{SearXNG: moved}, "answered 302"},
		"no server":         {browse.SearchOptions{SearXNG: "http://127.0.0.1:1"}, "does not answer"},
		"endless":           {browse.SearchOptions{SearXNG: answer(200, strings.Repeat(" ", 5<<20))}, "more than 4 MB"},
		"not a description": {browse.SearchOptions{URL: answer(200, "{}")}, "does not lead to an OpenSearch description"},
		"for people only":   {browse.SearchOptions{URL: answer(200, `<OpenSearchDescription><Url type="text/html" template="x"/></OpenSearchDescription>`)}, "offers none of"},
		"leads inside":      {browse.SearchOptions{URL: description(other + "/?{searchTerms}")}, "is not allowed"},
		"leads to a name":   {browse.SearchOptions{URL: description(strings.Replace(other, "127.0.0.1", "inside.test", 1) + "/?{searchTerms}")}, "is not allowed"},
		"leads to a file":   {browse.SearchOptions{URL: description("file:///etc/passwd?{searchTerms}")}, "an invalid address"},
		"leads to metadata": {browse.SearchOptions{URL: description("http://169.254.169.254/?{searchTerms}")}, "is not allowed"},
		"not a feed":        {browse.SearchOptions{URL: engine(t, "/", selfDescribing)}, "neither RSS nor Atom"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := searcher(t, c.options).Search(t.Context(), "q", 5)
			if err == nil || !strings.Contains(fault.AsError(err).Message, c.want) ||
				strings.Contains(fault.AsError(err).Message, "secret") {
				t.Errorf("got %v, want an error with %q and without the answer", err, c.want)
			}
		})
	}
}

// selfDescribing answers with an OpenSearch description whose results are at the same address, and are not a feed.
func selfDescribing(w http.ResponseWriter, r *http.Request) {
	if r.URL.RawQuery != "" {
		fmt.Fprint(w, "{}")
		return
	}
	fmt.Fprint(
		w,
		`<OpenSearchDescription><Url type="application/rss+xml" template="http://`+r.Host+`/?{searchTerms}"/></OpenSearchDescription>`,
	)
}

func TestInvalidSearchSettingsAreRejected(t *testing.T) {
	t.Parallel()

	for want, o := range map[string]browse.SearchOptions{
		"set one of them":                          {SearXNG: "http://a", URL: "http://b"},
		"SEARXNG_URL: allowed: an http":            {SearXNG: "localhost:8080"},
		"SEARCH_URL: allowed: an http":             {URL: "ftp://a/{query}"},
		"SEARCH_HEADER: write Name: value":         {URL: "http://a/{query}", Header: "token"},
		`SEARCH_FIELDS: "hits": allowed are resul`: {URL: "http://a/{query}", Fields: []string{"hits"}},
	} {
		t.Run(want, func(t *testing.T) {
			if _, err := browse.NewSearcher(o); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("NewSearcher(%+v): got %v, want an error with %q", o, err, want)
			}
		})
	}

	if s, err := browse.NewSearcher(browse.SearchOptions{}); s != nil || err != nil {
		t.Errorf("NewSearcher without settings: got %v, %v; want nil, nil", s, err)
	}
}

// TestSearchHeaderStaysWithTheServerOfSearchURL checks that SEARCH_HEADER, which may hold a secret, is not sent to
// another server that the description names.
func TestSearchHeaderStaysWithTheServerOfSearchURL(t *testing.T) {
	t.Parallel()
	keys := make(chan string, 2)
	other := serve(t, map[string]http.HandlerFunc{"/s": func(w http.ResponseWriter, r *http.Request) {
		keys <- r.Header.Get("X-Token")
		fmt.Fprint(w, "<rss></rss>")
	}})
	own := engine(t, "/", func(w http.ResponseWriter, r *http.Request) {
		keys <- r.Header.Get("X-Token")
		fmt.Fprint(
			w,
			`<OpenSearchDescription><Url type="application/rss+xml" template="`+other.url("/s?q={searchTerms}")+
				`"/></OpenSearchDescription>`,
		)
	})

	s := searcher(t, browse.SearchOptions{URL: own, Header: "X-Token: secret", Policy: policy(t, other.port)})
	if _, err := s.Search(t.Context(), "q", 5); err != nil {
		t.Fatal(err)
	}

	if first, second := <-keys, <-keys; first != "secret" || second != "" {
		t.Errorf("the servers were sent %q and %q, want the header at the first only", first, second)
	}
}
