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

// serveEngine is the main function of the fake model server. /health answers with its process id, its arguments and the
// secret that it must not see. The model /dev/null makes it fail.
func serveEngine() {
	args := os.Args[1:]

	option := func(name string) string { return args[slices.Index(args, name)+1] }
	if option("-m") == "/dev/null" {
		fmt.Fprintln(os.Stderr, "that is no model")
		os.Exit(3)
	}
	http.HandleFunc("/health", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, os.Getpid(), " ", strings.Join(args, " "), " ", os.Getenv("TOKEN_SECRET"))
	})
	fmt.Fprintln(os.Stderr, http.ListenAndServe(option("--host")+":"+option("--port"), nil))
	os.Exit(1)
}

// program creates a script with the name of an engine. The script runs the fake server, with how before its path:
// "exec" replaces the shell, "" starts a child of the shell.
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

// health returns the process id and the arguments of the fake server, or 0 if it does not answer.
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

func TestEngineIsRestartedAndStopped(t *testing.T) {
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
				t.Errorf("%s runs with the arguments %s; want model, host, port, %s, and no secret", name, args, want)
			}

			if err := syscall.Kill(first, syscall.SIGKILL); err != nil {
				t.Fatal(err)
			}
			var second int
			wait.Until(t, "the server is restarted", func() bool {
				second, _ = health(e.Address())
				return second != 0 && second != first
			})

			if err := e.Stop(context.Background()); err != nil {
				t.Error(err)
			}

			if syscall.Kill(second, 0) == nil {
				t.Errorf("%s still runs after Stop", name)
			}
		})
	}
}

// TestEngineInAScriptEndsWithTheScript runs the server as a child of a shell. The shell does not end the server, and the
// server keeps the output open.
func TestEngineInAScriptEndsWithTheScript(t *testing.T) {
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
	wait.Until(t, "the server is restarted", func() bool {
		second, _ = health(e.Address())
		return second != 0 && second != first
	})

	stopped := make(chan error, 1)
	go func() { stopped <- e.Stop(t.Context()) }()

	if err := wait.Receive(t, "Stop returns", stopped); err != nil {
		t.Error(err)
	}

	for _, pid := range []int{first, second} {
		wait.Until(t, "the server has ended", func() bool { return hasEnded(pid) })
	}
}

func TestStartReturnsTheOutputOfAFailedEngine(t *testing.T) {
	t.Parallel()

	e, err := embedded.NewEngine(
		embedded.EngineOptions{Program: program(t, "llama-server", "exec"), Model: "/dev/null"},
	)
	if err == nil {
		err = e.Start(t.Context())
	}

	if err == nil || !strings.Contains(err.Error(), "that is no model") {
		t.Errorf("got %v, want the output \"that is no model\"", err)
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
