// Package sitetest serves a web site for the tests of page export. Scripts render its pages, which need a cookie. It has
// a web font, a canvas, lazy pictures, a sticky header, a print style and files that are missing.
package sitetest

import (
	"embed"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
)

//go:embed site
var files embed.FS

// Cookie is the name of the cookie that signs in; its value is the user's name.
const Cookie = "session"

// Site is the running site.
type Site struct {
	// URL is the address, with 127.0.0.1. Host is the same without the scheme.
	URL, Host string

	mu       sync.Mutex
	requests map[string]int // by path
}

// Serve runs the site until the test ends.
func Serve(t testing.TB) *Site {
	s := &Site{requests: map[string]int{}}
	server := httptest.NewServer(s.handler(t))
	t.Cleanup(server.Close)
	s.URL, s.Host = server.URL, server.Listener.Addr().String()

	return s
}

// Requests returns the number of requests for a path.
func (s *Site) Requests(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.requests[path]
}

// handler serves the files and the data of the site, and counts the requests.
func (s *Site) handler(t testing.TB) http.Handler {
	site, err := fs.Sub(files, "site")
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServerFS(site))
	mux.HandleFunc("GET /images/{name}", picture)
	mux.HandleFunc("GET /api/user", signedIn(func(user string) any { return map[string]string{"name": user} }))
	mux.HandleFunc("GET /api/report", signedIn(func(string) any { return report() }))

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests[r.URL.Path]++
		s.mu.Unlock()
		mux.ServeHTTP(w, r)
	})
}

// signedIn answers with JSON for the user in the cookie, or with 401.
func signedIn(answer func(user string) any) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		cookie, err := r.Cookie(Cookie)
		if err != nil {
			http.Error(w, "sign in", http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(answer(cookie.Value))
	}
}

// picture draws a coloured card with its number.
func picture(w http.ResponseWriter, r *http.Request) {
	var n int
	if _, err := fmt.Sscanf(r.PathValue("name"), "%d.svg", &n); err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "image/svg+xml")
	fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 300 200">`+
		`<rect width="300" height="200" fill="hsl(%d 60%% 55%%)"/>`+
		`<text x="150" y="125" font-family="sans-serif" font-size="72" text-anchor="middle" fill="#fff">No.%d</text></svg>`,
		n*30, n)
}

// report returns the data of the page.
func report() any {
	regions := [][]string{{"Region", "Lead", "Revenue"}}
	for i := range 40 {
		regions = append(regions, []string{
			fmt.Sprintf("Region %d", i+1), []string{"Amara", "Björn", "Chloé", "Dmitri"}[i%4],
			fmt.Sprintf("€ %d,%03d", 12+i, i*37%1000),
		})
	}

	return map[string]any{
		"company": "Meridian",
		"title":   "Quarterly report",
		"summary": "Revenue grew in all regions; the third quarter was the best of the year.",
		"figures": [][]string{{"Revenue", "€ 4.2 m"}, {"Growth", "+18 %"}, {"Customers", "1,284"}, {"Churn", "1.9 %"}},
		"months":  [][]any{{"Apr", 210}, {"May", 250}, {"Jun", 240}, {"Jul", 310}, {"Aug", 330}, {"Sep", 390}},
		"regions": regions,
	}
}
