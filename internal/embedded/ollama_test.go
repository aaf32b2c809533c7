package embedded

import (
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presswork/internal/test/freeport"
	"presswork/internal/test/public"
)

// FakeOllama is the environment variable that makes this test binary behave like `ollama serve`.
const FakeOllama = "PRESSWORK_FAKE_OLLAMA"

// ServeOllama is the main function of the fake `ollama serve`.
func ServeOllama() {
	http.HandleFunc("/api/version",
		func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`{"version":"0.17.0"}`)) })

	if os.Getenv("TOKEN_SECRET") != "" {
		panic("the child sees a secret of its parent")
	}

	if err := http.ListenAndServe(os.Getenv("OLLAMA_HOST"), nil); err != nil {
		panic(err)
	}
}

func TestOllamaIsStartedAndStopped(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script := "#!/bin/sh\n[ \"$1\" = serve ] && " + FakeOllama + "=1 exec " + self + "\n"
	public.Program(t, filepath.Join(dir, "ollama"), script)
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))
	t.Setenv("TOKEN_SECRET", "hush")
	address := "127.0.0.1:" + freeport.Take(t)

	o := &Ollama{address: address, log: slog.New(slog.DiscardHandler)}
	if err := o.Start(t.Context()); err != nil {
		t.Fatal(err)
	}

	if !answers(t.Context(), address) || !OllamaInstalled() {
		t.Error("Ollama does not answer, or is not installed")
	}

	second := &Ollama{address: address, log: slog.New(slog.DiscardHandler)}
	if err := second.Start(t.Context()); err != nil || second.child != nil {
		t.Errorf("a second Start: got %v, and a child: %v; want neither", err, second.child != nil)
	}

	if err := o.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}

	if answers(t.Context(), address) {
		t.Error("Ollama still answers after Stop")
	}
}

func TestStartReturnsTheOutputOfAFailedOllama(t *testing.T) {
	dir := t.TempDir()
	public.Program(t, filepath.Join(dir, "ollama"), "#!/bin/sh\necho no room left; exit 3\n")
	t.Setenv("PATH", dir+":"+os.Getenv("PATH"))

	o := &Ollama{address: "127.0.0.1:1", log: slog.New(slog.DiscardHandler)}
	if err := o.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "no room left") {
		t.Errorf("got %v, want the output \"no room left\"", err)
	}
	t.Setenv("PATH", t.TempDir())

	if err := o.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "not installed") {
		t.Errorf("got %v, want \"not installed\"", err)
	}
}
