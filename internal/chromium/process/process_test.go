package process_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"presswork/internal/chromium/process"
	"presswork/internal/test/public"
	"presswork/internal/test/wait"
)

// program writes a shell script that is started instead of the browser, and returns its path.
func program(t *testing.T, text string) (exe string) {
	t.Helper()
	exe = filepath.Join(public.Dir(t), "browser")
	public.Program(t, exe, "#!/bin/sh\n"+text)

	return exe
}

// start starts exe with a profile below dir.
func start(t *testing.T, exe, dir string) (*process.Process, error) {
	t.Helper()

	return process.Start(exe, process.Options{
		Confinement: process.Confinement{Unprivileged: true},
		UID:         60910,
		Dir:         dir,
		Log:         slog.New(slog.DiscardHandler),
	})
}

// profiles returns the files and directories in dir.
func profiles(t *testing.T, dir string) []string {
	t.Helper()

	found, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil {
		t.Fatal(err)
	}

	return found
}

func TestKillEndsTheProcessAndDeletesItsProfile(t *testing.T) {
	t.Parallel()
	dir := public.Dir(t)

	p, err := start(t, program(t, "echo last words >&2\nread command <&3\necho answer >&4\nread command <&3"), dir)
	if err != nil {
		t.Fatal(err)
	}

	if n := len(profiles(t, dir)); n != 1 {
		t.Errorf("%d profiles while the browser runs, want 1", n)
	}

	if _, err := p.In.WriteString("command\n"); err != nil {
		t.Fatal(err)
	}

	answer := make([]byte, len("answer"))
	if _, err := p.Out.Read(answer); err != nil || string(answer) != "answer" {
		t.Errorf("got %q, %v; want answer", answer, err)
	}
	p.Kill()
	wait.Receive(t, "the end of the browser", p.Exited)

	if left := profiles(t, dir); len(left) > 0 {
		t.Errorf("profiles %v, want none", left)
	}

	if p.StderrEnd() != "last words" {
		t.Errorf("StderrEnd() = %q, want last words; stderr %q", p.StderrEnd(), p.Stderr())
	}
	p.Kill() // a second Kill does nothing
}

func TestFailedStartLeavesNoProfile(t *testing.T) {
	t.Parallel()
	dir := public.Dir(t)

	_, err := start(t, filepath.Join(dir, "missing"), dir)
	if err == nil || !strings.Contains(err.Error(), "missing does not start") {
		t.Errorf("error %v, want one that the program does not start", err)
	}

	if left := profiles(t, dir); len(left) > 0 {
		t.Errorf("profiles %v, want none", left)
	}
}

func TestSweepDeletesOnlyStaleProfiles(t *testing.T) {
	t.Parallel()
	dir := public.Dir(t)

	p, err := start(t, program(t, "read command <&3"), dir)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		p.Kill()
		<-p.Exited
	}()
	living := profiles(t, dir)
	stale := filepath.Join(dir, "presswork-chromium-stale")
	unknown := filepath.Join(dir, "presswork-chromium-unknown")

	err = errors.Join(os.Mkdir(stale, 0o700), os.WriteFile(filepath.Join(stale, "presswork.lock"), nil, 0o600),
		os.Mkdir(unknown, 0o700))
	if err != nil {
		t.Fatal(err)
	}
	process.Sweep(dir, slog.New(slog.DiscardHandler))

	if _, err := os.Stat(stale); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("stale profile: Stat error %v, want it deleted", err)
	}

	for _, path := range append(living, unknown) {
		if _, err := os.Stat(path); err != nil {
			t.Errorf("%v, want this profile kept", err)
		}
	}
}

func TestErrorOfFindNamesTheSetupCommand(t *testing.T) {
	t.Parallel()

	_, err := process.Find("/nonexistent/chromium")
	if !errors.Is(err, process.ErrNotFound) || !strings.Contains(err.Error(), "make setup") {
		t.Errorf("error %v, want ErrNotFound with `make setup`", err)
	}
	exe := program(t, "")

	if found, err := process.Find(exe); err != nil || found != exe {
		t.Errorf("Find(%q) = %q, %v; want the path itself", exe, found, err)
	}
}
