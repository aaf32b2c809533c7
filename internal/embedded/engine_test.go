package embedded_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"presswork/internal/embedded"
	"presswork/internal/test/public"
	"presswork/internal/test/wait"
)

// fakeEngine is the environment variable that makes this test binary a model server.
const fakeEngine = "PRESSWORK_FAKE_ENGINE"

// serveEngine reports its name, its arguments and whether it sees secrets.
func serveEngine() {
	args := os.Args[1:]

	after := func(name string) string { return args[slices.Index(args, name)+1] }
	if after("-m") == "/dev/null" {
		fmt.Fprintln(os.Stderr, "that is no model")
		os.Exit(3)
	}
	http.HandleFunc("/health", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, os.Getpid(), " ", strings.Join(args, " "), " ", os.Getenv("TOKEN_SECRET"))
	})
	fmt.Fprintln(os.Stderr, http.ListenAndServe(after("--host")+":"+after("--port"), nil))
	os.Exit(1)
}

// program creates a script named like an engine. The script runs the server with or without exec.
func program(t *testing.T, name, how string) string {
	t.Helper()

	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), name)
	public.Program(t, path, "#!/bin/sh\n"+fakeEngine+"=1 "+how+" "+self+" \"$@\"\n")

	return path
}

func health(address string) (pid int, args string) {
	res, err := http.Get("http://" + address + "/health")
	if err != nil {
		return 0, ""
	}
	defer res.Body.Close()

	b, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, ""
	}
	id, args, _ := strings.Cut(string(b), " ")
	pid, _ = strconv.Atoi(id)

	return pid, args
}

func TestAnEngineIsStartedAgainAndEnded(t *testing.T) {
	t.Setenv("TOKEN_SECRET", "hush")

	model := filepath.Join(t.TempDir(), "m.gguf")
	if err := os.WriteFile(model, nil, 0o600); err != nil {
		t.Fatal(err)
	}

	for name, want := range map[string]string{"llama-server": "--jinja", "whisper-server": "--inference-path /v1/audio/transcriptions"} {
		t.Run(name, func(t *testing.T) {
			e, err := embedded.NewEngine(embedded.EngineOptions{Program: program(t, name, "exec"), Model: model})
			if err == nil {
				err = e.Start(t.Context())
			}

			if err != nil {
				t.Fatal(err)
			}

			first, args := health(e.Address())
			if !strings.HasPrefix(args, "-m "+model+" --host 127.0.0.1 --port ") || !strings.Contains(args, want) ||
				strings.Contains(args, "hush") {
				t.Errorf("%s runs with %s", name, args)
			}

			if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			var second int
			wait.Until(t, "it is started again", func() bool {
				second, _ = health(e.Address())
				return second != 0 && second != first
			})

			if err := e.Stop(context.Background()); err != nil {
				t.Error(err)
			}

			if syscall.Kill(second, 0) == nil {
				t.Errorf("%s runs on", name)
			}
		})
	}
}

// Without exec, the server is a child of the shell. The shell does not end it, and it keeps the output open.
func TestAnEngineInAScriptEndsWithIt(t *testing.T) {
	t.Parallel()

	model := filepath.Join(t.TempDir(), "m.gguf")
	if err := os.WriteFile(model, nil, 0o600); err != nil {
		t.Fatal(err)
	}

	e, err := embedded.NewEngine(embedded.EngineOptions{Program: program(t, "llama-server", ""), Model: model})
	if err == nil {
		err = e.Start(t.Context())
	}

	if err != nil {
		t.Fatal(err)
	}
	first, _ := health(e.Address())

	shell, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", first))
	if err != nil {
		t.Fatal(err)
	}

	parent, err := strconv.Atoi(strings.Fields(string(shell[bytes.LastIndexByte(shell, ')')+1:]))[1])
	if err != nil {
		t.Fatal(err)
	}

	if err := syscall.Kill(parent, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	var second int
	wait.Until(t, "it is started again", func() bool {
		second, _ = health(e.Address())
		return second != 0 && second != first
	})

	stopped := make(chan error, 1)
	go func() { stopped <- e.Stop(t.Context()) }()

	if err := wait.Receive(t, "it is stopped", stopped); err != nil {
		t.Error(err)
	}

	for _, pid := range []int{first, second} {
		wait.Until(t, "the server is gone", func() bool { return gone(pid) })
	}
}

func TestAnEngineThatDoesNotStartSaysWhy(t *testing.T) {
	t.Parallel()

	e, err := embedded.NewEngine(
		embedded.EngineOptions{Program: program(t, "llama-server", "exec"), Model: "/dev/null"},
	)
	if err == nil {
		err = e.Start(t.Context())
	}

	if err == nil || !strings.Contains(err.Error(), "that is no model") {
		t.Errorf("got %v", err)
	}

	for want, o := range map[string]embedded.EngineOptions{
		`there is no program "no-such-engine"`: {Program: "no-such-engine", Model: "/dev/null"},
		"no such file":                         {Program: "sh", Model: "/no/such.gguf"},
	} {
		if _, err := embedded.NewEngine(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
