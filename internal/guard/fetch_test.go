package guard_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"presswork/internal/fault"
	"presswork/internal/guard"
)

// encodeGray returns a grey image of 3 × 2 pixels in a format.
func encodeGray(t *testing.T, encode func(*bytes.Buffer, image.Image) error) []byte {
	t.Helper()

	var b bytes.Buffer
	if err := encode(&b, image.NewGray(image.Rect(0, 0, 3, 2))); err != nil {
		t.Fatal(err)
	}

	return b.Bytes()
}

// webp returns the head of a WebP file with a chunk.
func webp(chunk string, body ...byte) []byte {
	b := append([]byte("RIFF\x00\x00\x00\x00WEBP"+chunk+"\x00\x00\x00\x00"), body...)
	return append(b, make([]byte, 16)...)
}

// avif returns the head of an AVIF file with a size.
func avif(width, height uint32) []byte {
	b := []byte("\x00\x00\x00\x14ftypavif\x00\x00\x00\x00mif1\x00\x00\x00\x1cmeta\x00\x00\x00\x14ispe\x00\x00\x00\x00")
	b = binary.BigEndian.AppendUint32(b, width)

	return binary.BigEndian.AppendUint32(b, height)
}

// pngBomb returns a PNG whose header has a size of 60000 × 60000.
func pngBomb(t *testing.T) []byte {
	t.Helper()
	b := encodeGray(t, func(b *bytes.Buffer, m image.Image) error { return png.Encode(b, m) })
	head := binary.BigEndian.AppendUint32([]byte("IHDR"), 60000)
	head = binary.BigEndian.AppendUint32(head, 60000)
	copy(b[12:], head)
	// Recompute the checksum of the header, so that only the size is wrong.
	binary.BigEndian.PutUint32(b[29:], crc32.ChecksumIEEE(b[12:29]))

	return b
}

// serveImages starts a server of these bodies and of some hostile paths. It returns a policy that allows the server.
func serveImages(t *testing.T, bodies map[string][]byte) (base string, p *guard.Policy) {
	t.Helper()
	release := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch body, ok := bodies[r.URL.Path]; {
		case ok:
			// Fetch must not use the type of the server.
			w.Header().Set("Content-Type", "text/html")
			w.Write(body)
		case r.URL.Path == "/endless":
			for r.Context().Err() == nil {
				if _, err := w.Write(make([]byte, 64<<10)); err != nil {
					return
				}
			}
		case r.URL.Path == "/zip":
			w.Header().Set("Content-Encoding", "gzip")
			z := gzip.NewWriter(w)
			z.Write([]byte("\x89PNG\r\n\x1a\n"))

			for range 4 {
				z.Write(make([]byte, 1<<20))
			}
			z.Close()
		case r.URL.Path == "/stall":
			w.WriteHeader(http.StatusOK)
			w.(http.Flusher).Flush()

			select {
			case <-release:
			case <-r.Context().Done():
			}
		case r.URL.Path == "/hop":
			http.Redirect(w, r, "/png", http.StatusFound)
		case r.URL.Path == "/inward":
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	}))
	t.Cleanup(func() { close(release); server.Close() })

	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}

	return server.URL, policy(t, guard.Options{Allow: u.Host})
}

func TestFetchDetectsTheTypeFromTheBytes(t *testing.T) {
	t.Parallel()
	bodies := map[string][]byte{
		"/png":   encodeGray(t, func(b *bytes.Buffer, m image.Image) error { return png.Encode(b, m) }),
		"/jpeg":  encodeGray(t, func(b *bytes.Buffer, m image.Image) error { return jpeg.Encode(b, m, nil) }),
		"/gif":   encodeGray(t, func(b *bytes.Buffer, m image.Image) error { return gif.Encode(b, m, nil) }),
		"/webp":  webp("VP8 ", 0, 0, 0, 0x9d, 1, 0x2a, 3, 0, 2, 0),
		"/webpL": webp("VP8L", 0x2f, 2, 0x40, 0, 0),
		"/webpX": webp("VP8X", 0, 0, 0, 0, 2, 0, 0, 1, 0, 0),
		"/avif":  avif(3, 2),
		"/svg":   []byte(`<svg xmlns="http://www.w3.org/2000/svg"/>`),
		"/svg-xml": []byte(
			"\xef\xbb\xbf<?xml version=\"1.0\" encoding=\"iso-8859-1\"?>\n<!-- x --><!DOCTYPE svg PUBLIC \"-//W3C//DTD SVG 1.1//EN\" \"x\">\n<svg:svg xmlns:svg=\"http://www.w3.org/2000/svg\"/>",
		),
	}
	base, p := serveImages(t, bodies)

	f := guard.NewFetcher(p, guard.FetchOptions{})

	for path, want := range map[string]string{
		"/png":     "image/png",
		"/jpeg":    "image/jpeg",
		"/gif":     "image/gif",
		"/webp":    "image/webp",
		"/webpL":   "image/webp",
		"/webpX":   "image/webp",
		"/avif":    "image/avif",
		"/svg":     "image/svg+xml",
		"/svg-xml": "image/svg+xml",
		"/hop":     "image/png",
	} {
		t.Run(path, func(t *testing.T) {
			data, got, err := f.Fetch(t.Context(), base+path)

			body := bodies[path]
			if path == "/hop" {
				body = bodies["/png"]
			}

			if err != nil || got != want || !bytes.Equal(data, body) {
				t.Errorf("got %d bytes of %q, %v; want %d bytes of %q", len(data), got, err, len(body), want)
			}
		})
	}
}

func TestFetchRejectsOtherFilesAndImagesThatAreTooLarge(t *testing.T) {
	t.Parallel()
	base, p := serveImages(t, map[string][]byte{
		"/html":      []byte("<!doctype html><html><body><svg></svg>"),
		"/text":      []byte("hello"),
		"/empty":     {},
		"/script":    []byte("<script>alert(1)</script>"),
		"/bmp":       []byte("BM\x00\x00\x00\x00"),
		"/cut-png":   []byte("\x89PNG\r\n\x1a\n\x00\x00"),
		"/cut-jpeg":  []byte("\xff\xd8\xff\xe0"),
		"/cut-avif":  avif(3, 2)[:24],
		"/odd-webp":  webp("XXXX"),
		"/flat-avif": avif(3, 0),
		"/entities":  []byte(`<!DOCTYPE svg [<!ENTITY a "x">]><svg>&a;</svg>`),
		"/bomb-png":  pngBomb(t),
		"/bomb-webp": webp("VP8X", 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff),
		"/bomb-avif": avif(1<<31, 1<<30),
	})
	f := guard.NewFetcher(p, guard.FetchOptions{MaxBytes: 1 << 20})

	impatient := guard.NewFetcher(p, guard.FetchOptions{Timeout: 100 * time.Millisecond})

	_, _, err := impatient.Fetch(t.Context(), base+"/stall")
	if fault.CodeOf(err) != fault.NotFound || !strings.Contains(err.Error(), "within 100ms") {
		t.Errorf("a server that stalls: got %v, want %s within 100ms", err, fault.NotFound)
	}

	for path, want := range map[string]fault.Code{
		"/html":      fault.UnsupportedMediaType,
		"/text":      fault.UnsupportedMediaType,
		"/empty":     fault.UnsupportedMediaType,
		"/script":    fault.UnsupportedMediaType,
		"/bmp":       fault.UnsupportedMediaType,
		"/cut-png":   fault.UnsupportedMediaType,
		"/cut-jpeg":  fault.UnsupportedMediaType,
		"/cut-avif":  fault.UnsupportedMediaType,
		"/odd-webp":  fault.UnsupportedMediaType,
		"/flat-avif": fault.UnsupportedMediaType,
		"/entities":  fault.UnsupportedMediaType,
		"/bomb-png":  fault.ContentTooLarge,
		"/bomb-webp": fault.ContentTooLarge,
		"/bomb-avif": fault.ContentTooLarge,
		"/endless":   fault.ContentTooLarge,
		"/zip":       fault.ContentTooLarge,
		"/missing":   fault.NotFound,
		"/inward":    fault.AddressNotAllowed,
	} {
		t.Run(path, func(t *testing.T) {
			_, _, err := f.Fetch(t.Context(), base+path)
			if fault.CodeOf(err) != want {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}

	for raw, want := range map[string]fault.Code{
		"http://127.0.0.1:1/x.png": fault.AddressNotAllowed,
		"file:///etc/passwd":       fault.InvalidURL,
		"http://x/%zz\x00":         fault.InvalidURL,
	} {
		t.Run(raw, func(t *testing.T) {
			if _, _, err := f.Fetch(t.Context(), raw); fault.CodeOf(err) != want {
				t.Errorf("got %v, want %s", err, want)
			}
		})
	}
}

func TestFetchErrorsDoNotNameResolvedAddresses(t *testing.T) {
	t.Parallel()
	p := policy(t, guard.Options{Allow: "127.0.0.9:1", Lookup: resolveTo("127.0.0.9")})
	_, _, err := guard.NewFetcher(p, guard.FetchOptions{}).Fetch(t.Context(), "http://dead.test:1/x.png")

	e := fault.AsError(err)
	if e.Code != fault.NotFound || strings.Contains(e.Message, "127.") || !strings.Contains(e.Error(), "127.0.0.9") {
		t.Errorf("the message is %q and the log entry %q, want the address in the second only", e.Message, e.Error())
	}
}

func TestFetchEndsWithItsContextAndRunsConcurrently(t *testing.T) {
	t.Parallel()
	base, p := serveImages(t, map[string][]byte{
		"/png": encodeGray(t, func(b *bytes.Buffer, m image.Image) error { return png.Encode(b, m) }),
	})
	f := guard.NewFetcher(p, guard.FetchOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()

	if _, _, err := f.Fetch(ctx, base+"/stall"); err == nil {
		t.Error("a fetch with a cancelled context returned no error")
	}

	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			if _, _, err := f.Fetch(t.Context(), base+"/png"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}
