package api_test

import (
	"io"
	"net"
	"testing"
	"time"
)

// A client that goes on sending what was refused is not listened to for long.
func TestOfARefusedBodyLittleIsRead(t *testing.T) {
	t.Parallel()
	h := serve(t)
	for name, head := range map[string]string{
		"too large":    "POST /api/conversion HTTP/1.1\r\nContent-Type: text/markdown\r\nX-API-Key: " + testKey,
		"without key":  "POST /api/conversion HTTP/1.1\r\nContent-Type: text/markdown",
		"media type":   "POST /api/conversion HTTP/1.1\r\nContent-Type: image/png\r\nX-API-Key: " + testKey,
		"unknown path": "POST /api/nothing HTTP/1.1\r\nX-API-Key: " + testKey,
	} {
		conn, err := net.Dial("tcp", h.server.Address())
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, head+"\r\nHost: localhost\r\nContent-Length: 1000000000\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		sent, chunk := 0, make([]byte, 1<<20)
		for sent < 200<<20 {
			n, err := conn.Write(chunk)
			sent += n
			if err != nil {
				break
			}
		}
		// What lies in the buffers of both ends was sent, but not read.
		if sent > 64<<20 {
			t.Errorf("%s: %d MB were taken", name, sent>>20)
		}
	}
}
