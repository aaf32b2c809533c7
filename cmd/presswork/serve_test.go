package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
)

// serveEnv returns the settings of a `presswork serve` in its own folder, without a browser.
func serveEnv(dir, port string) func(string) string {
	settings := map[string]string{
		"API_PORT":       port,
		"WORKER_QUEUES":  "text",
		"WORKERS":        "1",
		"DATA_DIR":       filepath.Join(dir, "data"),
		"CACHE_DIR":      filepath.Join(dir, "cache"),
		"PDF_OUTPUT_DIR": filepath.Join(dir, "out"),
		"THEMES_DIR":     dir,
	}

	return func(name string) string { return settings[name] }
}

func TestServePrintsTheAddressToOpen(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	out, in := io.Pipe()
	done := make(chan int)

	var log bytes.Buffer
	go func() {
		code := run(ctx, []string{"serve"}, serveEnv(t.TempDir(), "0"), in, &log)
		in.Close()
		done <- code
	}()
	lines := bufio.NewScanner(out)
	lines.Scan()

	page, found := strings.CutPrefix(lines.Text(), "Presswork is ready: open ")
	if !found {
		t.Fatalf("it prints %q; exit %d, log:\n%s", lines.Text(), <-done, &log)
	}

	answer, err := http.Get(page)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()

	kind := answer.Header.Get("Content-Type")
	if answer.StatusCode != http.StatusOK || !strings.HasPrefix(kind, "text/html") {
		t.Errorf("%s: %s, %s", page, answer.Status, kind)
	}
	cancel()

	if code := <-done; code != exitOK && code != exitInterrupted {
		t.Errorf("exit %d, log:\n%s", code, &log)
	}
}

func TestABusyPortNamesItsSetting(t *testing.T) {
	t.Parallel()

	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	_, port, _ := net.SplitHostPort(taken.Addr().String())

	var log bytes.Buffer
	if code := run(t.Context(), []string{"serve"}, serveEnv(t.TempDir(), port), io.Discard, &log); code != exitFailed {
		t.Errorf("exit %d", code)
	}

	last := log.String()[strings.LastIndex(strings.TrimSpace(log.String()), "\n")+1:]
	if !strings.HasPrefix(last, "presswork: API_PORT: another program listens there already") {
		t.Errorf("the last line of the log is %q, want the setting and the reason", last)
	}
}

func TestServeNamesTheSettingThatStopsIt(t *testing.T) {
	t.Parallel()
	dir := writeFiles(t, map[string]string{"file": ""})

	file := filepath.Join(dir, "file")
	for _, c := range []struct{ setting, value, wantStderr string }{
		{"DATA_DIR", file, "presswork: DATA_DIR: redis: "},
		{"PDF_OUTPUT_DIR", file, "presswork: PDF_OUTPUT_DIR: "},
		{"KEYS_CONFIG", filepath.Join(dir, "none.yaml"), "presswork: KEYS_CONFIG: " + filepath.Join(dir, "none.yaml") + ": no such file"},
		{"API_HOST", "192.0.2.1", "presswork: API_HOST: this machine does not have the address"},
		{"API_TLS_CERT", file, "presswork: api: API_TLS_CERT, API_TLS_KEY: "},
	} {
		t.Run(c.setting, func(t *testing.T) {
			t.Parallel()
			plain := serveEnv(t.TempDir(), "0")
			env := func(name string) string {
				switch name {
				case c.setting:
					return c.value
				case "API_AUTH":
					return "off"
				case "API_TLS_KEY":
					if c.setting == "API_TLS_CERT" {
						return file
					}
				}

				return plain(name)
			}

			var log bytes.Buffer

			code := run(t.Context(), []string{"serve"}, env, io.Discard, &log)
			if code != exitFailed && code != exitUsage {
				t.Errorf("exit %d", code)
			}

			lines := strings.Split(strings.TrimSpace(log.String()), "\n")
			if last := lines[len(lines)-1]; !strings.HasPrefix(last, c.wantStderr) {
				t.Errorf("the last line of the log is %q, want %q", last, c.wantStderr)
			}
		})
	}
}

func TestTheHomepageIsAnAddressOfThisMachine(t *testing.T) {
	t.Parallel()

	for address, want := range map[string]string{"127.0.0.1:8000": "http://127.0.0.1:8000/", "0.0.0.0:80": "http://localhost:80/", "[::]:8000": "http://localhost:8000/", "[::1]:1": "http://[::1]:1/"} {
		t.Run(address, func(t *testing.T) {
			if got := homepage(address, false); got != want {
				t.Errorf("%s: %s, want %s", address, got, want)
			}
		})
	}

	if got := homepage("192.0.2.1:8443", true); got != "https://192.0.2.1:8443/" {
		t.Error(got)
	}
}
