// Package livepage shows a document in a local browser while it is written. The browser shows the printed pages
// and loads them again after each change. Other programs and other users of the machine cannot read them: the path has
// a random token, and requests with another host name are rejected.
package livepage

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"presswork/api/web"
	"presswork/internal/chromium/fonts"
)

// Server serves one document on a free port of the loopback address, under a path that other programs cannot
// guess. The document can run no scripts and load nothing.
type Server struct {
	http  *http.Server
	host  string // with its port
	token string // the secret part of the path
	end   context.CancelFunc

	mu   sync.Mutex
	html string // the page that is shown
	// problem is the reason why the newest text has no page, or "".
	problem string
	// changed is closed when html or problem changes.
	changed chan struct{}
}

// Start starts the server. Call Show for the first page. It returns an error if no port is free.
func Start(ctx context.Context) (*Server, error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("no page can be shown: %w", err)
	}
	// Requests end with Stop, not with ctx: the caller stops the server after its last conversion.
	serving, end := context.WithCancel(context.WithoutCancel(ctx))
	s := &Server{host: listener.Addr().String(), token: rand.Text(), end: end, changed: make(chan struct{})}

	s.http = &http.Server{
		Handler: s.routes(), ReadHeaderTimeout: 5 * time.Second, MaxHeaderBytes: 16 << 10,
		BaseContext: func(net.Listener) context.Context { return serving },
	}
	go func() { _ = s.http.Serve(listener) }() // it ends with Stop

	return s, nil
}

// Stop ends the server and all open event streams. It waits for other requests until ctx ends, which is then the error.
func (s *Server) Stop(ctx context.Context) error {
	s.end()
	return s.http.Shutdown(ctx)
}

// URL returns the address of the live page.
func (s *Server) URL() string { return "http://" + s.host + "/live/" + s.token + "/" }

// Show shows a page, complete HTML.
func (s *Server) Show(html string) { s.set(func() { s.html, s.problem = html, "" }) }

// Fail shows an error above the page, which stays.
func (s *Server) Fail(problem string) { s.set(func() { s.problem = problem }) }

// set makes a change and wakes all waiting event streams.
func (s *Server) set(change func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change()
	close(s.changed)
	s.changed = make(chan struct{})
}

// now returns the page, the problem, and the channel that the next change closes.
func (s *Server) now() (html, problem string, changed <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.html, s.problem, s.changed
}

// routes returns the handler of the live page. Only requests with the right host name reach it.
func (s *Server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /assets/{name}", asset)
	mux.HandleFunc("GET /fonts/{name}", font)
	mux.HandleFunc("GET /preview", func(w http.ResponseWriter, _ *http.Request) { page(w, web.Preview()) })
	mux.HandleFunc("GET /live/{token}/{$}",
		s.guarded(func(w http.ResponseWriter, _ *http.Request) { page(w, web.Live()) }))
	mux.HandleFunc("GET /live/{token}/page", s.guarded(s.document))
	mux.HandleFunc("GET /live/{token}/events", s.guarded(s.events))

	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h.Set("Cache-Control", "no-store")
		h.Set("Referrer-Policy", "no-referrer")
		h.Set("X-Content-Type-Options", "nosniff")
		h.Set("Cross-Origin-Resource-Policy", "same-origin")
		h.Set("Cross-Origin-Opener-Policy", "same-origin")
		// A foreign host name may resolve to this address (DNS rebinding).
		_, port, _ := net.SplitHostPort(s.host)
		if r.Host != s.host && r.Host != "localhost:"+port {
			http.Error(w, "this is "+s.host, http.StatusMisdirectedRequest)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// guarded responds with 404 unless the path contains the token.
func (s *Server) guarded(h http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if subtle.ConstantTimeCompare([]byte(r.PathValue("token")), []byte(s.token)) == 0 {
			http.NotFound(w, r)
			return
		}
		h(w, r)
	}
}

// page sends a page of the studio with its policy.
func page(w http.ResponseWriter, p web.Page) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", p.Policy)
	_, _ = w.Write(p.HTML) // the client may have disconnected, so the error is ignored
}

// document sends the newest page. The live page reads it as text; opened directly, its Content-Security-Policy forbids
// scripts.
func (s *Server) document(w http.ResponseWriter, r *http.Request) {
	html, _, _ := s.now()
	if html == "" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy",
		"sandbox; default-src 'none'; img-src data:; style-src 'unsafe-inline'; frame-ancestors 'none'")
	_, _ = io.WriteString(w, html)
}

// quiet is the interval of comments that keep the connection of a page open.
const quiet = 15 * time.Second

// events sends the state of the document, now and after each change.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	out := http.NewResponseController(w)

	tick := time.NewTicker(quiet)
	defer tick.Stop()

	for {
		html, problem, changed := s.now()
		if html != "" || problem != "" {
			data, _ := json.Marshal(map[string]string{"error": problem}) // it always encodes
			_, _ = fmt.Fprintf(w, "data: %s\n\n", data)
		}

		for waiting := true; waiting; {
			if out.Flush() != nil {
				return
			}

			select {
			case <-r.Context().Done():
				return
			case <-changed:
				waiting = false
			case <-tick.C:
				_, _ = io.WriteString(w, ":\n\n")
			}
		}
	}
}

// asset serves a file of the built pages.
func asset(w http.ResponseWriter, r *http.Request) {
	a, ok := web.Find(r.PathValue("name"))
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", a.ContentType)
	_, _ = w.Write(a.Body)
}

// font sends a font of the print, or the stylesheet that declares the fonts.
func font(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("name") == "faces.css" {
		w.Header().Set("Content-Type", "text/css; charset=utf-8")
		_, _ = io.WriteString(w, fonts.Serve().Stylesheet)

		return
	}

	face, ok := fonts.Serve().File(r.PathValue("name"))
	if !ok {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "font/woff2")
	w.Header().Set("Cache-Control", "max-age=31536000, immutable")
	_, _ = w.Write(face)
}
