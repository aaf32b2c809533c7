package minio_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"presswork/internal/test/wait"
	"presswork/storage"
	"presswork/storage/minio"
)

// serve returns a store on an S3 server with this handler.
func serve(t *testing.T, timeout time.Duration, handler http.HandlerFunc) *minio.Store {
	t.Helper()

	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})

	s, err := minio.New(
		minio.Options{Endpoint: server.URL, AccessKey: "presswork", SecretKey: "presswork", CallTimeout: timeout},
	)
	if err != nil {
		t.Fatal(err)
	}

	return s
}

// serveObject returns a store on an S3 server with one object. send writes the body of a response.
func serveObject(
	t *testing.T,
	timeout time.Duration,
	send func(w http.ResponseWriter, r *http.Request, body string),
) *minio.Store {
	t.Helper()
	const body = "what was put"

	return serve(t, timeout, func(w http.ResponseWriter, r *http.Request) {
		sum := sha256.Sum256([]byte(body))
		w.Header().Set("X-Amz-Meta-Presswork-Sha256", hex.EncodeToString(sum[:]))
		w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
		w.Header().Set("ETag", `"0"`)

		if r.Method == http.MethodPut {
			io.Copy(io.Discard, r.Body)
			return
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		send(w, r, body)
	})
}

func TestGetReturnsTheStoredBytesOrAnError(t *testing.T) {
	t.Parallel()

	for name, test := range map[string]struct {
		send func(w http.ResponseWriter, r *http.Request, body string)
		want error
		text string // in the message
	}{
		"whole":   {func(w http.ResponseWriter, r *http.Request, body string) { io.WriteString(w, body) }, nil, ""},
		"damaged": {func(w http.ResponseWriter, r *http.Request, body string) { io.WriteString(w, strings.ToUpper(body)) }, storage.ErrCorrupt, ""},
		"short":   {func(w http.ResponseWriter, r *http.Request, body string) { io.WriteString(w, body[:5]) }, io.ErrUnexpectedEOF, ""},
		"silent": {func(w http.ResponseWriter, r *http.Request, body string) {
			io.WriteString(w, body[:5])
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		}, nil, "sent nothing for 3s"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()

			timeout := wait.Patience
			if name == "silent" {
				timeout = 3 * time.Second
			}
			s := serveObject(t, timeout, test.send)

			r, info, err := s.Get(t.Context(), "a", storage.Range{})
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			// A server reads like this after it has sent the size.
			got, err := io.ReadAll(io.LimitReader(r, info.Size))
			if (err == nil) != (name == "whole") || test.want != nil && !errors.Is(err, test.want) ||
				err != nil && !strings.Contains(err.Error(), test.text) {
				t.Errorf("got %q, %v; want the whole body, or %v with %q", got, err, test.want, test.text)
			}

			_, err = s.Copy(t.Context(), "a", "b")
			if (err == nil) != (name == "whole") || errors.Is(err, storage.ErrCorrupt) != (name == "damaged") {
				t.Errorf("Copy: got %v, want an error unless the object is whole, and ErrCorrupt if it is damaged", err)
			}
		})
	}
}

func TestListFailsWhenTheServerStopsWithinAPage(t *testing.T) {
	t.Parallel()

	s := serve(t, time.Second, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/xml")
		io.WriteString(w, `<ListBucketResult><Contents><Key>artifacts/a.pdf</Key>`)
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})

	var failed error
	for _, err := range s.List(t.Context(), "artifacts/") {
		failed = err
	}

	if failed == nil || !strings.Contains(failed.Error(), "sent nothing for 1s") {
		t.Errorf("got %v, want that the server sent nothing for a second", failed)
	}
}
