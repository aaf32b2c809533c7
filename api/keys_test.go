package api_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"presswork/api"
	"presswork/internal/fault"
	"presswork/internal/keyfile"
	"presswork/internal/test/wait"
)

// keysFile configures a server with a keys file. ${BOB} in the text stands for "bobs".
func keysFile(t *testing.T, text string) func(*api.Options) {
	t.Helper()

	path := filepath.Join(t.TempDir(), "keys.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}

	return func(o *api.Options) {
		o.KeysFile = path
		o.Getenv = func(name string) string { return map[string]string{"BOB": "bobs"}[name] }
	}
}

func TestKeysFile(t *testing.T) {
	t.Parallel()
	var path string
	h := serve(t, withoutKeys, keysFile(t, `keys:
  - name: bob
    key: ${BOB}
    admin: true
    rpm: 10
    models: ["openai/*"]
  # sha256 of "carols"
  - {name: carol, sha256: 7f4e865860a21ee70e1ccfbcb20e0fa59fb03efdb1c5a01c1cef46a7c58d6265, concurrency: 3}
`), func(o *api.Options) { path = o.KeysFile })
	h.key = ""
	h.get("/api/themes").want(t, http.StatusUnauthorized, fault.InvalidAPIKey)
	h.get("/metrics", "X-API-Key: bobs").want(t, http.StatusOK, "")
	res := h.post(`{"content":"x"}`, "X-API-Key: bobs")
	res.want(t, http.StatusAccepted, "")

	if got := h.queue.last().Owner; got != "bob" {
		t.Errorf("the owner is %q, want bob", got)
	}
	location := res.Header.Get("Location")
	// A rotated key has the same owner, and so the same jobs.
	if err := os.WriteFile(path, []byte("keys: [{name: bob, key: new}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the new key is accepted",
		func() bool { return h.get(location, "X-API-Key: new").StatusCode == http.StatusOK })
	h.get(location, "X-API-Key: bobs").want(t, http.StatusUnauthorized, fault.InvalidAPIKey)
}

func TestAddedKeyIsAcceptedByTheRunningServer(t *testing.T) {
	t.Parallel()
	var path string
	h := serve(t, keysFile(t, "# ours\nkeys:\n  - {name: bob, key: bobs}\n"),
		func(o *api.Options) { path = o.KeysFile })
	status := func(key string) int { return h.get("/api/themes", "X-API-Key: "+key).StatusCode }

	sum := sha256.Sum256([]byte("anns"))
	if err := keyfile.Add(path, keyfile.Entry{Name: "ann", SHA256: hex.EncodeToString(sum[:])}); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the new key is accepted", func() bool { return status("anns") == http.StatusOK })

	if got := status("bobs"); got != http.StatusOK {
		t.Errorf("the other key: got %d, want 200", got)
	}

	if _, err := keyfile.Remove(path, "ann"); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "the revoked key is rejected", func() bool { return status("anns") == http.StatusUnauthorized })
}

func TestNewKeysFileIsRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys.yaml")
	h := serve(t, withoutKeys, func(o *api.Options) { o.KeysFile, o.KeysFileOptional = path, true })
	h.key = ""
	h.get("/api/themes").want(t, http.StatusOK, "")

	if err := os.WriteFile(path, []byte("keys: [{name: bob, key: bobs}]"), 0o600); err != nil {
		t.Fatal(err)
	}
	wait.Until(t, "a key is required",
		func() bool { return h.get("/api/themes").StatusCode == http.StatusUnauthorized })
	// The server may have read the file before its keys were written.
	wait.Until(t, "the key is accepted",
		func() bool { return h.get("/api/themes", "X-API-Key: bobs").StatusCode == http.StatusOK })

	o := options(t)

	o.Addr, o.KeysFile, o.KeysFileOptional = "0.0.0.0:0", path+".none", true
	if _, err := api.New(o); err == nil || !strings.Contains(err.Error(), "no key is set") {
		t.Errorf("no keys on all interfaces: got %v, want \"no key is set\"", err)
	}
}

func TestReadableKeysFileIsReported(t *testing.T) {
	t.Parallel()

	for mode, warned := range map[os.FileMode]bool{0o600: false, 0o640: true, 0o604: true} {
		t.Run(fmt.Sprint(mode), func(t *testing.T) {
			var log bytes.Buffer
			o := options(t)
			keysFile(t, "keys: []")(&o)

			o.Log = slog.New(slog.NewTextHandler(&log, nil))
			if err := os.Chmod(o.KeysFile, mode); err != nil {
				t.Fatal(err)
			}

			if _, err := api.New(o); err != nil {
				t.Fatal(err)
			}

			if got := strings.Contains(log.String(), "chmod 600 "+o.KeysFile); got != warned {
				t.Errorf("mode %o: warned %v, want %v; log %s", mode, got, warned, &log)
			}
		})
	}
	o := options(t)

	o.KeysFile = filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(o.KeysFile, 0o600); err != nil {
		t.Fatal(err)
	}

	if _, err := api.New(o); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a named pipe: got %v, want \"not a regular file\"", err)
	}
}

func TestErrorsInKeysFilesNameTheLine(t *testing.T) {
	t.Parallel()

	for name, tc := range map[string]struct{ text, says string }{
		"unknown key":   {"keys:\n  - name: a\n    secret: hush\n", "line 3"},
		"top level":     {"key:\n  - name: a\n", "line 1"},
		"no secret":     {"keys:\n  - name: a\n    key: x\n  - name: b\n", `line 4: key "b" needs either key or sha256`},
		"both":          {"keys: [{name: a, key: hush, sha256: aa}]", "either key or sha256"},
		"bad name":      {"keys: [{name: 'a b', key: hush}]", "line 1: name must be"},
		"bad digest":    {"keys: [{name: a, sha256: zz}]", "64 hex digits"},
		"unset":         {"keys: [{name: a, key: '${NOPE}'}]", "${NOPE}, which is not set"},
		"no tier":       {"keys: [{name: a, key: hush, tiers: [performanc]}]", "did you mean \"performance\""},
		"negative":      {"keys: [{name: a, key: hush, rpm: -1}]", "negative"},
		"wrong type":    {"keys:\n  - name: a\n    key: hush\n    rpm: many\n", "line 4"},
		"same secret":   {"keys:\n  - {name: a, key: hush}\n  - {name: b, key: hush}\n", "line 3: another entry has the same key"},
		"not YAML":      {"keys: [\n  {name: hush", "keys.yaml"},
		"not a mapping": {"- hush", "keys.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			o := options(t)
			keysFile(t, tc.text)(&o)

			_, err := api.New(o)
			if err == nil || !strings.Contains(err.Error(), tc.says) || strings.Contains(err.Error(), "hush") {
				t.Errorf("got %v, want %q and no key", err, tc.says)
			}
		})
	}
}
