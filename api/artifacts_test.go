package api_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"presswork"
	"presswork/api"
	"presswork/internal/fault"
	"presswork/storage"
)

func TestArtifactURLNeedsNoKey(t *testing.T) {
	t.Parallel()
	h := serve(t)
	a := h.submit()
	pdf := []byte("%PDF-1.7 " + strings.Repeat("0123456789", 20_000))
	want := h.finish(a.JobID, pdf)
	var job presswork.Job
	h.get(a.StatusURL).decode(t, &job)

	if !strings.HasPrefix(job.Artifact.URL, "/api/artifacts/"+a.JobID+"/download?token=") {
		t.Fatalf("the URL is %q, want one with a token", job.Artifact.URL)
	}
	res := h.get(job.Artifact.URL, "-X-API-Key")
	res.want(t, http.StatusOK, "")

	if string(res.body) != string(pdf) {
		t.Errorf("got %d bytes, want %d", len(res.body), len(pdf))
	}

	for name, value := range map[string]string{
		"Content-Type": "application/pdf", "Accept-Ranges": "bytes", "Etag": `"` + want.SHA256 + `"`, "Cache-Control": "private",
		"Content-Length": "200009", "Content-Disposition": `attachment; filename="report.pdf"; filename*=UTF-8''report.pdf`,
	} {
		if got := res.Header.Get(name); got != value {
			t.Errorf("%s: %q, want %q", name, got, value)
		}
	}

	got := h.get(job.Artifact.URL + "&inline=1").Header.Get("Content-Disposition")
	if !strings.HasPrefix(got, "inline;") {
		t.Errorf("Content-Disposition with inline=1 is %q, want inline", got)
	}
	h.get(job.Artifact.URL+"&inline=yes").want(t, http.StatusBadRequest, fault.InvalidOption)

	head := h.do(http.MethodHead, job.Artifact.URL, nil, "-X-API-Key")
	if head.StatusCode != 200 || head.ContentLength != int64(len(pdf)) ||
		head.Header.Get("Etag") != res.Header.Get("Etag") {
		t.Errorf("HEAD: got status %d, %d bytes, ETag %s; want those of GET", head.StatusCode, head.ContentLength,
			head.Header.Get("Etag"))
	}
	h.get(job.Artifact.URL, "If-None-Match: "+res.Header.Get("Etag")).want(t, http.StatusNotModified, "")
}

// truncatingStore is a store whose objects return ErrCorrupt after five bytes.
type truncatingStore struct{ storage.Store }

// Get breaks off after five bytes, as a store does that finds damage.
func (s truncatingStore) Get(ctx context.Context, key string, rng storage.Range) (io.ReadCloser, storage.Info, error) {
	r, info, err := s.Store.Get(ctx, key, rng)
	if err == nil {
		r = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(io.LimitReader(r, 5), iotest.ErrReader(storage.ErrCorrupt)), r}
	}

	return r, info, err
}

// logLines is an io.Writer that sends each line of a log.
type logLines chan string

func (l logLines) Write(line []byte) (int, error) {
	l <- string(line)
	return len(line), nil
}

func TestBrokenDownloadIsIncompleteAndLogged(t *testing.T) {
	t.Parallel()
	logged := make(logLines, 64)
	h := serve(t, func(o *api.Options) {
		o.Store, o.Log = truncatingStore{o.Store}, slog.New(slog.NewTextHandler(logged, nil))
	})
	a := h.submit()
	h.finish(a.JobID, []byte("0123456789"))

	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
		"http://"+h.server.Address()+"/api/artifacts/"+a.JobID+"/download", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-API-Key", h.key)

	if res, err := h.client.Do(req); err == nil {
		body, err := io.ReadAll(res.Body)
		res.Body.Close()

		if err == nil {
			t.Errorf("the client read %q as the whole artifact", body)
		}
	}
	// The server logs before it closes the connection.
	for {
		select {
		case line := <-logged:
			if strings.Contains(line, "could not send an object from the store") &&
				strings.Contains(line, storage.ErrCorrupt.Error()) && strings.Contains(line, a.JobID) {
				return
			}
		default:
			t.Fatal("the log has no line about the download")
		}
	}
}

func TestRanges(t *testing.T) {
	t.Parallel()
	h := serve(t)
	a := h.submit()
	artifact := h.finish(a.JobID, []byte("0123456789"))
	path := "/api/artifacts/" + a.JobID + "/download"

	tag := `"` + artifact.SHA256 + `"`
	for _, tc := range []struct {
		header, ifRange string
		status          int
		body, span      string // span is the Content-Range
	}{
		{"bytes=0-3", "", 206, "0123", "bytes 0-3/10"},
		{"bytes=5-", "", 206, "56789", "bytes 5-9/10"},
		{"bytes=-3", "", 206, "789", "bytes 7-9/10"},
		{"bytes=-99", "", 206, "0123456789", "bytes 0-9/10"},
		{"bytes=9-99", "", 206, "9", "bytes 9-9/10"},
		{"bytes=0-0", tag, 206, "0", "bytes 0-0/10"},
		{"bytes=0-0", `"other"`, 200, "0123456789", ""},
		{"bytes=0-1,3-4", "", 200, "0123456789", ""},
		{"bytes=3-1", "", 200, "0123456789", ""},
		{"lines=0-1", "", 200, "0123456789", ""},
		{"bytes=x-", "", 200, "0123456789", ""},
		{"bytes=-", "", 200, "0123456789", ""},
		{"bytes=10-", "", 416, "", "bytes */10"},
		{"bytes=-0", "", 416, "", "bytes */10"},
	} {
		t.Run(strings.TrimSpace(tc.header+" "+tc.ifRange), func(t *testing.T) {
			headers := []string{"Range: " + tc.header}
			if tc.ifRange != "" {
				headers = append(headers, "If-Range: "+tc.ifRange)
			}

			res := h.get(path, headers...)
			if res.StatusCode != tc.status || res.Header.Get("Content-Range") != tc.span ||
				tc.status < 300 && string(res.body) != tc.body {
				t.Errorf("got %d, %q, %q; want %d, %q, %q", res.StatusCode, res.Header.Get("Content-Range"), res.body,
					tc.status, tc.span, tc.body)
			}
		})
	}
}

func TestUnknownAndExpiredArtifactsAreErrors(t *testing.T) {
	t.Parallel()
	h := serve(t)
	a := h.submit()
	path := "/api/artifacts/" + a.JobID
	h.get(path+"/download").want(t, http.StatusNotFound, fault.NotFound)
	h.get("/api/artifacts/..%2f..%2fetc/download").want(t, http.StatusNotFound, fault.NotFound)
	h.finish(a.JobID, []byte("%PDF-"))
	h.do(http.MethodDelete, path, nil).want(t, http.StatusNoContent, "")
	gone := h.get(path + "/download")
	gone.want(t, http.StatusGone, fault.ArtifactExpired)

	for _, name := range []string{"Content-Disposition", "ETag", "Last-Modified"} {
		if got := gone.Header.Get(name); got != "" {
			t.Errorf("an error has %s: %s", name, got)
		}
	}
	h.do(http.MethodHead, path+"/download", nil).want(t, http.StatusGone, "")
	h.do(http.MethodDelete, path, nil).want(t, http.StatusGone, fault.ArtifactExpired)
	h.get(a.StatusURL).want(t, http.StatusOK, "")

	events := string(h.get(a.StatusURL + "/events").body)
	if !strings.Contains(events, `"status":"completed"`) || strings.Contains(events, "/download") {
		t.Errorf("the events are %s; want completed, without an address of the deleted artifact", events)
	}
}

func TestTokenReadsOneJobUntilItExpires(t *testing.T) {
	t.Parallel()
	h := serve(t)
	a, b := h.submit(), h.submit()
	h.finish(a.JobID, []byte("%PDF-"))
	h.finish(b.JobID, []byte("%PDF-"))
	_, token, _ := strings.Cut(a.EventsURL, "?token=")
	h.key = ""
	h.get("/api/artifacts/"+a.JobID+"/download?token="+token).want(t, http.StatusOK, "")
	h.get("/api/artifacts/"+b.JobID+"/download?token="+token).want(t, http.StatusUnauthorized, fault.InvalidAPIKey)
	h.do(http.MethodDelete, "/api/artifacts/"+a.JobID+"?token="+token, nil).
		want(t, http.StatusUnauthorized, fault.InvalidAPIKey)
	h.get("/api/conversion?token="+token).want(t, http.StatusUnauthorized, fault.InvalidAPIKey)

	secret := []byte(testSecret)
	for _, invalid := range []string{
		api.Token(secret, a.JobID, -time.Second), api.Token([]byte("another secret.."), a.JobID, time.Hour),
		token[:len(token)-1], token + "A", "x" + token[1:], strings.Repeat("A", 54), "", "%00",
	} {
		h.get("/api/artifacts/"+a.JobID+"/download?token="+invalid).
			want(t, http.StatusUnauthorized, fault.InvalidAPIKey)
	}
}

func TestFileNamesAreSafeInHeaders(t *testing.T) {
	t.Parallel()
	h := serve(t)
	a := h.submit()
	h.queue.complete(a.JobID, presswork.Artifact{
		ID: a.JobID, Size: 1, SHA256: "x", ContentType: "application/pdf",
		Filename: "a\"\r\nX-Evil: 1 größe%.pdf", ExpiresAt: time.Now().Add(time.Hour),
	})

	_, err := h.store.Put(t.Context(), storage.ArtifactKeyOf(a.JobID, ""), strings.NewReader("x"), 1, storage.Attrs{})
	if err != nil {
		t.Fatal(err)
	}
	res := h.get("/api/artifacts/" + a.JobID + "/download")

	want := `attachment; filename="a___X-Evil: 1 gr__e_.pdf"; filename*=UTF-8''a%22%0D%0AX-Evil%3A%201%20gr%C3%B6%C3%9Fe%25.pdf`
	if got := res.Header.Get("Content-Disposition"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}

	if res.Header.Get("X-Evil") != "" {
		t.Error("a header was injected")
	}
}

// presigningStore is a store with presigned addresses.
type presigningStore struct{ storage.Store }

func (s presigningStore) Presign(_ context.Context, key, name string, ttl time.Duration) (string, error) {
	return "https://s3.example/" + key + "?name=" + name + "&ttl=" + ttl.String(), nil
}

func TestDownloadsRedirectToPresignedAddresses(t *testing.T) {
	t.Parallel()
	h := serve(t, func(o *api.Options) { o.Store = presigningStore{o.Store} })
	a := h.submit()
	h.finish(a.JobID, []byte("%PDF-"))
	path := "/api/artifacts/" + a.JobID
	res := h.get(path + "/download")
	res.want(t, http.StatusTemporaryRedirect, "")

	got := res.Header.Get("Location")
	if got != "https://s3.example/artifacts/"+a.JobID+".pdf?name=report.pdf&ttl=5m0s" {
		t.Errorf("Location is %q, want the presigned address", got)
	}
	h.get(path+"/download?inline=1").want(t, http.StatusOK, "")
	h.do(http.MethodDelete, path, nil).want(t, http.StatusNoContent, "")
	h.get(path+"/download").want(t, http.StatusGone, fault.ArtifactExpired)
}
