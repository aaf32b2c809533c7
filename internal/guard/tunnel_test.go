package guard_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"presswork/internal/fault"
	"presswork/internal/guard"
)

func TestRequestsWithinTunnelsAreCounted(t *testing.T) {
	t.Parallel()

	secure := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer secure.Close()
	const maxRequests = 20
	s, client := openSession(t, policy(t, guard.Options{Allow: hostOf(t, secure)}),
		guard.ProxyOptions{MaxRequests: maxRequests})
	ctx, cancel := context.WithCancel(t.Context())

	go func() {
		<-s.Done()
		cancel()
	}()

	sent := 0
	for ; sent <= maxRequests; sent++ {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, secure.URL, nil)
		if err != nil {
			t.Fatal(err)
		}

		resp, err := client.Do(req)
		if err != nil {
			break
		}
		resp.Body.Close()
	}
	<-s.Done()
	// The tunnel and its handshake count as well.
	if fault.CodeOf(s.Err()) != fault.PageError || sent < maxRequests-3 {
		t.Errorf("the session ended with %v after %d requests, want %s after about %d", s.Err(), sent,
			fault.PageError, maxRequests)
	}
}

func TestTunnelRequestsAreCountedByTheirRecords(t *testing.T) {
	t.Parallel()

	echo, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer echo.Close()

	go func() {
		for {
			conn, err := echo.Accept()
			if err != nil {
				return
			}

			go io.Copy(conn, conn)
		}
	}()
	// record returns a TLS record. Each record of kind 23, application data, that is not empty counts as a request.
	record := func(kind byte, length int) string {
		return string([]byte{kind, 3, 3, byte(length >> 8), byte(length)}) + strings.Repeat("x", length)
	}

	hello := record(22, 300)
	for name, test := range map[string]struct {
		sent string
		want int64
	}{
		"records of several kinds": {hello + record(20, 1) + record(23, 40) + record(23, 0) + record(21, 2) + record(23, 1<<10), 3},
		"many short records":       {hello + strings.Repeat(record(23, 7), 100), 100},
		"a WebSocket":              {"GET / HTTP/1.1\r\n\r\n" + record(23, 1), 0},
	} {
		t.Run(name, func(t *testing.T) {
			for _, piece := range []int{1, 4, 1 << 20} {
				t.Run(fmt.Sprintf("pieces of %d bytes", piece), func(t *testing.T) {
					s, _ := openSession(t, policy(t, guard.Options{Allow: echo.Addr().String()}), guard.ProxyOptions{})

					conn, err := net.Dial("tcp", s.Addr())
					if err != nil {
						t.Fatal(err)
					}
					fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\n\r\n", echo.Addr())

					answer := bufio.NewReader(conn)
					if line, _ := answer.ReadString('\n'); !strings.Contains(line, " 200 ") {
						t.Fatalf("CONNECT: got %q, want 200", line)
					}
					answer.ReadString('\n')

					go func() {
						for rest := test.sent; rest != ""; rest = rest[min(piece, len(rest)):] {
							io.WriteString(conn, rest[:min(piece, len(rest))])
						}
					}()

					if _, err := io.ReadFull(answer, make([]byte, len(test.sent))); err != nil {
						t.Fatal(err)
					}

					if got := s.Usage().Requests - 1; got != test.want { // the CONNECT is one request
						t.Errorf("%d requests were counted, want %d", got, test.want)
					}
					conn.Close()
				})
			}
		})
	}
}
