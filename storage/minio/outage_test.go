package minio_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"presswork/internal/test/freeport"
	"presswork/storage"
	"presswork/storage/minio"
	"presswork/storage/storagetest"
)

func put(t *testing.T, s storage.Store, key, body string) {
	t.Helper()

	_, err := s.Put(t.Context(), key, strings.NewReader(body), int64(len(body)),
		storage.Attrs{ContentType: "text/plain"})
	if err != nil {
		t.Fatal(err)
	}
}

func TestAPresignedURLDownloadsUnderItsFileName(t *testing.T) {
	t.Parallel()
	server := storagetest.StartMinIO(t)
	o := options(server)
	_, port, _ := net.SplitHostPort(server.Address)
	o.PublicEndpoint = "localhost:" + port
	s := startStore(t, o)
	put(t, s, "artifacts/1.pdf", "the bytes")

	u, err := s.Presign(t.Context(), "artifacts/1.pdf", `Überblick "1".pdf`, time.Minute)
	if err != nil {
		t.Fatal(err)
	}

	if !strings.HasPrefix(u, "http://localhost:"+port+"/") {
		t.Errorf("the URL is %s, want one of the public endpoint", u)
	}
	r := fetch(t, u)
	body, _ := io.ReadAll(r.Body)

	want := `attachment; filename*=UTF-8''%C3%9Cberblick%20%221%22.pdf`
	if got := r.Header.Get("Content-Disposition"); string(body) != "the bytes" || got != want {
		t.Errorf("got %q with %q; want the bytes with %q", body, got, want)
	}

	r = fetch(t, strings.Replace(u, "/artifacts/1.pdf", "/artifacts/2.pdf", 1))
	if r.StatusCode != http.StatusForbidden {
		t.Errorf("another object with the same signature: got %s, want 403", r.Status)
	}

	_, err = startStore(t, options(server)).Presign(t.Context(), "artifacts/1.pdf", "x", time.Minute)
	if !errors.Is(err, storage.ErrNotSupported) {
		t.Errorf("without a public endpoint: got %v, want %v", err, storage.ErrNotSupported)
	}
}

func fetch(t *testing.T, address string) *http.Response {
	t.Helper()

	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Fatal(err)
	}

	r, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Body.Close() })

	return r
}

func TestPutSucceedsWhenItsFirstResponseIsLost(t *testing.T) {
	t.Parallel()
	server := storagetest.StartMinIO(t)
	target := &url.URL{Scheme: "http", Host: server.Address}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Scheme, r.Out.URL.Host, r.Out.Host = target.Scheme, target.Host, r.In.Host // the host is signed
	}}
	var losses sync.Map
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, lost := losses.LoadOrStore(r.Method+r.URL.Path, true)
		if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "artifacts") && !lost {
			proxy.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(front.Close)
	o := options(server)
	o.Endpoint = front.URL
	s := startStore(t, o)
	put(t, s, "artifacts/1.pdf", "once")

	_, err := s.Put(t.Context(), "artifacts/1.pdf", strings.NewReader("once"), 4, storage.Attrs{})
	if !errors.Is(err, storage.ErrExists) {
		t.Errorf("a second Put: got %v, want ErrExists", err)
	}
}

func TestAnUnreachableServerIsAnOutage(t *testing.T) {
	t.Parallel()
	wantOutage(t, "127.0.0.1:"+freeport.Take(t), "connection refused")
}

func TestAHangingServerIsAnOutageAfterTheTimeout(t *testing.T) {
	t.Parallel()

	l, err := net.Listen("tcp", "127.0.0.1:0") // never accepts
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	wantOutage(t, l.Addr().String(), "timeout awaiting response headers")
}

// wantOutage checks that every call to a store at this address fails in time, with an error that contains want.
func wantOutage(t *testing.T, address, want string) {
	t.Helper()

	s, err := minio.New(minio.Options{
		Endpoint:      address,
		AccessKey:     "presswork",
		SecretKey:     "presswork",
		CallTimeout:   500 * time.Millisecond,
		HealthTimeout: 200 * time.Millisecond,
	})
	if err != nil {
		t.Fatal(err)
	}
	_, stat := s.Stat(t.Context(), "a")

	_, put := s.Put(t.Context(), "a", strings.NewReader("x"), 1, storage.Attrs{})
	for call, err := range map[string]error{
		"Start":  s.Start(t.Context()),
		"Stat":   stat,
		"Put":    put,
		"Delete": s.Delete(t.Context(), "a"),
		"Health": s.Health(t.Context()),
	} {
		if err == nil || errors.Is(err, storage.ErrNotFound) || errors.Is(err, storage.ErrExists) {
			t.Errorf("%s: got %v, want the error of an outage", call, err)
		} else if !strings.Contains(err.Error(), want) && !strings.Contains(err.Error(), "did not answer within") {
			t.Errorf("%s: got %v, want %q", call, err, want)
		}
	}
}

func TestAMissingBucketIsAnOutage(t *testing.T) {
	t.Parallel()

	s, err := minio.New(options(storagetest.StartMinIO(t)))
	if err != nil {
		t.Fatal(err)
	}

	if _, _, err := s.Get(t.Context(), "a", storage.Range{}); err == nil || errors.Is(err, storage.ErrNotFound) {
		t.Errorf("Get: got %v, want another error than ErrNotFound", err)
	}

	if err := s.Health(t.Context()); err == nil {
		t.Error("Health without a bucket: got nil, want an error")
	}
}

func TestStartFailsWithAWrongSecret(t *testing.T) {
	t.Parallel()
	o := options(storagetest.StartMinIO(t))
	o.SecretKey = "not the secret"

	s, err := minio.New(o)
	if err != nil {
		t.Fatal(err)
	}

	if err := s.Start(t.Context()); err == nil || !strings.Contains(err.Error(), o.Bucket) {
		t.Errorf("got %v, want an error that names the bucket", err)
	}
}

func TestTheErrorOfARejectedRequestTimeNamesTheClock(t *testing.T) {
	t.Parallel()

	for want, off := range map[string]time.Duration{
		"behind the object store's":   time.Hour,
		"ahead of the object store's": -20 * time.Minute,
		"Access Denied":               0,
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Date", time.Now().Add(off).UTC().Format(http.TimeFormat))
				w.WriteHeader(http.StatusForbidden)

				if r.Method != http.MethodHead {
					fmt.Fprint(w, "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>")
				}
			}))
			t.Cleanup(server.Close)

			s, err := minio.New(minio.Options{Endpoint: server.URL, AccessKey: "key", SecretKey: "secret"})
			if err != nil {
				t.Fatal(err)
			}

			_, putErr := s.Put(t.Context(), "artifacts/1.pdf", strings.NewReader("x"), 1, storage.Attrs{})
			for call, err := range map[string]error{"Start": s.Start(t.Context()), "Put": putErr} {
				if err == nil || !strings.Contains(err.Error(), want) ||
					strings.Contains(err.Error(), "this machine's clock") != (off != 0) {
					t.Errorf("%s: got %v, want %q, and the clock only if it is wrong", call, err, want)
				}
			}

			if off != 0 && !minio.Refused(putErr) {
				t.Errorf("Refused(%v) = false, want true: waiting does not correct a wrong clock", putErr)
			}
		})
	}
}

// unconditionalS3 is as much of an S3 server as Put needs. It ignores conditions, or rejects them with 501 if reject is
// set.
func unconditionalS3(reject bool) http.HandlerFunc {
	var objects sync.Map

	return func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)

		switch {
		case r.Method == http.MethodPut && reject && r.Header.Get("If-None-Match") != "":
			w.WriteHeader(http.StatusNotImplemented)
		case r.Method == http.MethodPut:
			objects.Store(r.URL.Path, true)
		case r.Method == http.MethodDelete:
			objects.Delete(r.URL.Path)
			w.WriteHeader(http.StatusNoContent)
		case strings.Count(r.URL.Path, "/") > 1 && strings.Trim(r.URL.Path, "/") != "presswork":
			w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
			w.Header().Set("ETag", `"0"`)

			if _, ok := objects.Load(r.URL.Path); !ok {
				w.WriteHeader(http.StatusNotFound)
			}
		}
	}
}

func TestPutChecksTheKeyIfTheServerHasNoConditions(t *testing.T) {
	t.Parallel()

	for name, reject := range map[string]bool{"ignores them": false, "rejects them": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(unconditionalS3(reject))
			t.Cleanup(server.Close)
			var log strings.Builder

			s := startStore(t, minio.Options{
				Endpoint:  server.URL,
				AccessKey: "a",
				SecretKey: "b",
				Log:       slog.New(slog.NewTextHandler(&log, nil)),
			})
			if !strings.Contains(log.String(), "If-None-Match") {
				t.Errorf("got the log %q, want a warning of If-None-Match", &log)
			}
			put(t, s, "a", "1")

			_, err := s.Put(t.Context(), "a", strings.NewReader("2"), 1, storage.Attrs{})
			if !errors.Is(err, storage.ErrExists) {
				t.Errorf("got %v, want ErrExists", err)
			}
		})
	}
}

func TestErrorsNameTheInvalidOption(t *testing.T) {
	t.Parallel()

	for want, o := range map[string]minio.Options{
		"ftp://x":   {Endpoint: "ftp://x", AccessKey: "a", SecretKey: "b"},
		"AccessKey": {Endpoint: "x:1"},
		`"pw"`:      {Endpoint: "x:1", AccessKey: "a", SecretKey: "b", Bucket: "pw"},
		"a b":       {Endpoint: "a b", AccessKey: "a", SecretKey: "b"},
	} {
		t.Run(want, func(t *testing.T) {
			if _, err := minio.New(o); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("New(%+v): got %v, want %q in the error", o, err, want)
			}
		})
	}
}

// startStore returns a store that has created its bucket.
func startStore(t *testing.T, o minio.Options) *minio.Store {
	t.Helper()

	s, err := minio.New(o)
	if err != nil {
		t.Fatal(err)
	}

	if err := s.Start(context.Background()); err != nil {
		t.Fatal(err)
	}

	return s
}
