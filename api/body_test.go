package api_test

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"
)

// TestLittleOfARejectedBodyIsRead checks that the server disconnects a client that keeps sending a rejected body.
func TestLittleOfARejectedBodyIsRead(t *testing.T) {
	t.Parallel()

	h := serve(t)
	for name, head := range map[string]string{
		"too large":    "POST /api/conversion HTTP/1.1\r\nContent-Type: text/markdown\r\nX-API-Key: " + testKey,
		"without key":  "POST /api/conversion HTTP/1.1\r\nContent-Type: text/markdown",
		"media type":   "POST /api/conversion HTTP/1.1\r\nContent-Type: image/png\r\nX-API-Key: " + testKey,
		"unknown path": "POST /api/nothing HTTP/1.1\r\nX-API-Key: " + testKey,
	} {
		t.Run(name, func(t *testing.T) {
			conn := h.connect()

			_, err := io.WriteString(conn, head+"\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\n")
			if err != nil {
				t.Fatal(err)
			}

			sent, chunk := 0, make([]byte, 1<<20)
			for sent < 400<<20 {
				n, err := conn.Write(chunk)
				sent += n

				if err != nil {
					break
				}
			}
			// The buffers of both sides hold bytes that were sent but not read.
			if sent > 128<<20 {
				t.Errorf("the server accepted %d MB, want up to 128", sent>>20)
			}
		})
	}
}

func TestErrorReachesClientsThatSendTheWholeBodyFirst(t *testing.T) {
	t.Parallel()
	h := serve(t)
	body := strings.Repeat("x", 50<<20)
	conn := h.connect()

	r, err := http.NewRequest(http.MethodPost, "http://"+h.server.Address()+"/api/conversion", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("X-API-Key", testKey)
	r.Header.Set("Content-Type", "text/markdown")

	if err := r.Write(conn); err != nil {
		t.Fatalf("the body was rejected: %v", err)
	}

	res, err := http.ReadResponse(bufio.NewReader(conn), r)
	if err != nil {
		t.Fatal(err)
	}

	if res.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("got %s, want 413", res.Status)
	}
}
