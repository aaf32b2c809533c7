package api_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"presswork"
	"presswork/api"
	"presswork/internal/fault"
	"presswork/internal/guard"
	"presswork/internal/test/golden"
	"presswork/internal/test/wait"
	"presswork/storage"
	"presswork/tasks"
)

// options returns valid options for tests that change them and call New.
func options(t testing.TB) api.Options {
	t.Helper()

	store, err := storage.OpenDisk(storage.DiskOptions{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	catalogue := builtins()

	policy, err := guard.New(guard.Options{})
	if err != nil {
		t.Fatal(err)
	}

	return api.Options{
		Addr:        "127.0.0.1:0",
		Queue:       newFakeQueue(),
		Store:       store,
		Themes:      catalogue,
		Webhooks:    policy,
		Exports:     policy,
		TokenSecret: make([]byte, 32),
	}
}

func TestInvalidOptionsAreRejected(t *testing.T) {
	t.Parallel()

	for name, change := range map[string]func(*api.Options){
		"all interfaces, no key": func(o *api.Options) { o.Addr = "0.0.0.0:8000" },
		"no host, no key":        func(o *api.Options) { o.Addr = ":8000" },
		"no port":                func(o *api.Options) { o.Addr = "127.0.0.1" },
		"no queue":               func(o *api.Options) { o.Queue = nil },
		"short secret":           func(o *api.Options) { o.TokenSecret = []byte("short") },
		"half a certificate":     func(o *api.Options) { o.TLSCert = "c.pem" },
		"no key file":            func(o *api.Options) { o.KeysFile = "/does/not/exist" },
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			change(&o)

			if _, err := api.New(o); err == nil {
				t.Error("New returned no error")
			}
		})
	}

	for name, change := range map[string]func(*api.Options){
		"loopback":           func(o *api.Options) {},
		"localhost":          func(o *api.Options) { o.Addr = "localhost:0" },
		"a key":              func(o *api.Options) { o.Addr, o.Keys = ":0", []string{"k"} },
		"authentication off": func(o *api.Options) { o.Addr, o.AuthOff = ":0", true },
		"second loopback":    func(o *api.Options) { o.Addr = "127.0.0.2:0" },
		"IPv6 loopback":      func(o *api.Options) { o.Addr = "[::1]:0" },
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			change(&o)

			if _, err := api.New(o); err != nil {
				t.Errorf("New returned %v", err)
			}
		})
	}
}

func TestStopAfterAFailedStart(t *testing.T) {
	t.Parallel()

	h := serve(t)
	for name, change := range map[string]func(*api.Options){
		"a taken port":   func(o *api.Options) { o.Addr = h.server.Address() },
		"no certificate": func(o *api.Options) { o.TLSCert, o.TLSKey = "none.pem", "none.pem" },
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			change(&o)

			s, err := api.New(o)
			if err != nil {
				t.Fatal(err)
			}

			if err := s.Start(t.Context()); err == nil {
				t.Error("Start returned no error, want one")
			}

			stopped := make(chan error, 1)
			go func() { stopped <- s.Stop(t.Context()) }()

			if err := wait.Receive(t, "the stop after a failed start", stopped); err != nil {
				t.Errorf("Stop after a failed start: %v", err)
			}
		})
	}
}

func TestEveryFailureIsJSON(t *testing.T) {
	t.Parallel()
	h := serve(t, func(o *api.Options) {
		o.Monitor = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("the inside") })
	})
	a := h.submit()
	h.do(http.MethodDelete, a.StatusURL, nil)
	var b strings.Builder
	// show appends a response to the golden file.
	show := func(name string, res reply) {
		fmt.Fprintf(&b, "%s: %d", name, res.StatusCode)

		for _, header := range []string{"Allow", "Retry-After", "Www-Authenticate"} {
			if v := res.Header.Get(header); v != "" {
				fmt.Fprintf(&b, " %s=%s", header, v)
			}
		}

		if got := res.Header.Get("Content-Type"); got != "application/json; charset=utf-8" {
			t.Errorf("%s: got Content-Type %q, want application/json; charset=utf-8", name, got)
		}
		fmt.Fprintf(&b, "\n%s\n\n", strings.ReplaceAll(string(res.body), a.JobID, "JOB"))
	}
	show("unknown route", h.get("/nothing/here"))
	show("unknown route under api", h.get("/api/nothing"))
	show("wrong method", h.do("PUT", "/api/conversion", nil))
	show("unknown method", h.do("BREW", "/api/themes", nil))
	show("unknown method, unknown route", h.do("BREW", "/pot", nil))
	show("plain OPTIONS", h.do("OPTIONS", "/api/conversion", nil))
	show("no key", h.get("/api/themes", "-X-API-Key"))
	show("wrong key", h.get("/api/themes", "X-API-Key: nope"))
	show("unknown job", h.get("/api/conversion/01J9ZZZZZZZZZZZZZZZZZZZZZZ"))
	show("finished job", h.do("DELETE", a.StatusURL, nil))
	show("unknown theme", h.get("/api/themes/nrod"))
	show("path theme", h.get("/api/themes/..%2f..%2fetc"))
	show("media type", h.do("POST", "/api/conversion", strings.NewReader("x"), "Content-Type: image/png"))
	show("bad JSON", h.post(`{"content":}`))
	show("panic", h.get("/monitor"))
	show("long headers", h.get("/healthz?"+strings.Repeat("x", 4_000_000)))
	h.queue.submitErr = fault.Errorf(fault.QueueUnavailable, "the queue did not answer").
		WithCause(os.ErrDeadlineExceeded)
	show("queue down", h.post(`{"content":"x"}`))
	golden.Check(t, "errors.txt", []byte(b.String()))
}

func TestBrokenHTTPIsAnsweredAndHarmless(t *testing.T) {
	t.Parallel()

	h := serve(t, func(o *api.Options) { o.ReadTimeout = 2 * time.Second })
	for name, tc := range map[string]struct{ send, status string }{
		"garbage":       {"\x16\x03\x01 hello\r\n\r\n", "400"},
		"half a header": {"GET /healthz HTTP/1.1\r\nHost: x\r\nX-Slow: ", "408"},
		"half a body":   {"POST /api/conversion HTTP/1.1\r\nHost: x\r\nX-API-Key: " + testKey + "\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", "408"},
		"identity":      {"POST /api/conversion HTTP/1.1\r\nHost: x\r\nX-API-Key: " + testKey + "\r\nContent-Length: 5\r\nTransfer-Encoding: identity\r\n\r\nhello", "400"},
		"chunks of 1.0": {"POST /api/conversion HTTP/1.0\r\nHost: x\r\nConnection: keep-alive\r\nX-API-Key: " + testKey + "\r\nContent-Type: text/markdown\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", "400"},
		"two lengths":   {"POST /api/conversion HTTP/1.1\r\nHost: x\r\nX-API-Key: " + testKey + "\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: x\r\n\r\n", "400"},
		"two hosts":     {"GET /healthz HTTP/1.1\r\nHost: x\r\nhOST: y\r\n\r\n", "400"},
		"no host":       {"GET /healthz HTTP/1.1\r\nX: y\r\n\r\n", "400"},
		"bad chunk":     {"POST /api/conversion HTTP/1.1\r\nHost: x\r\nX-API-Key: " + testKey + "\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "400"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var all []byte
			var err error
			// A client that sends nothing within the time-out gets no answer.
			wait.Until(t, "an answer", func() bool {
				conn := h.connect()
				io.WriteString(conn, tc.send)
				all, err = io.ReadAll(conn)

				return len(all) > 0
			})

			if err != nil || !strings.HasPrefix(string(all), "HTTP/1.1 "+tc.status) ||
				strings.Contains(string(all), "200 OK") ||
				!strings.Contains(string(all), `"code":"invalid_request"`) {
				t.Errorf("got %q, %v; want status %s, invalid_request", all, err, tc.status)
			}
		})
	}
}

func TestUnreadBodyIsNotTheNextRequest(t *testing.T) {
	t.Parallel()
	h := serve(t)
	const smuggled = "GET /openapi.yaml HTTP/1.1\r\nHost: x\r\n\r\n"
	// The server has the first body in its buffer, drains the second, and closes the connection after the third.
	for size, want := range map[int][]int{100: {401, 200}, 20_000: {401, 200}, 100_000: {401}} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			conn := h.connect()
			body := strings.Repeat(" ", size) + smuggled
			fmt.Fprintf(conn, "POST /api/conversion HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s",
				len(body), body)
			fmt.Fprint(conn, "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
			r := bufio.NewReader(conn)
			var got []int

			for {
				res, err := http.ReadResponse(r, nil)
				if err != nil {
					break
				}

				if text, _ := io.ReadAll(res.Body); strings.Contains(string(text), "openapi: 3") {
					t.Errorf("%d bytes: the body was answered as a request", size)
				}
				got = append(got, res.StatusCode)
			}

			if !slices.Equal(got, want) {
				t.Errorf("%d bytes: answers %d, want %d", size, got, want)
			}
		})
	}
}

func TestServesTLS(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()

	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		NotAfter:     time.Now().Add(time.Hour),
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
	}

	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}

	pk, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, b []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: b}), 0o600); err != nil {
			t.Fatal(err)
		}

		return path
	}
	h := serve(t, withoutKeys, func(o *api.Options) {
		o.TLSCert, o.TLSKey = write("c.pem", "CERTIFICATE", der), write("k.pem", "PRIVATE KEY", pk)
	})
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}
	t.Cleanup(transport.CloseIdleConnections)
	client := &http.Client{Transport: transport}

	res, err := client.Get("https://" + h.server.Address() + "/healthz")
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("GET /healthz over TLS: got %v, error %v; want status 200", res, err)
	}
	res.Body.Close()
	// The server also notices under TLS that a client has left.
	job := tasks.Submission{ID: tasks.NewID(), Kind: presswork.KindConversion}
	if _, _, err := h.queue.Submit(t.Context(), job); err != nil {
		t.Fatal(err)
	}
	ctx, leave := context.WithCancel(t.Context())

	req, err := http.NewRequestWithContext(ctx, http.MethodGet,
		"https://"+h.server.Address()+"/api/conversion/"+job.ID+"?wait=60s", nil)
	if err != nil {
		t.Fatal(err)
	}
	left := make(chan error, 1)

	go func() {
		_, err := client.Do(req)
		left <- err
	}()
	wait.Until(t, "the long poll waits", func() bool { return h.queue.openWatches() == 1 })
	leave()

	if err := <-left; err == nil {
		t.Error("the long poll was answered")
	}
	wait.Until(t, "its watch is closed", func() bool { return h.queue.openWatches() == 0 })
}

func TestStopRightAfterStart(t *testing.T) {
	t.Parallel()
	var o api.Options
	serve(t, func(options *api.Options) { o = *options })

	for range 50 {
		stopped := make(chan error, 1)

		go func() {
			server, err := api.New(o)
			if err == nil {
				err = errors.Join(server.Start(t.Context()), server.Stop(t.Context()))
			}
			stopped <- err
		}()

		if err := wait.Receive(t, "the server's end", stopped); err != nil {
			t.Fatal(err)
		}
	}
}
