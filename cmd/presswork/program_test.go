package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"presswork/cmd/presswork/command"
	"presswork/internal/analysis/finding"
	"presswork/internal/fault"
)

// outcome is the exit status and the output of one run of the program.
type outcome struct {
	code           int
	stdout, stderr string
}

// runCommand runs the program with an empty environment.
func runCommand(t *testing.T, args ...string) outcome {
	t.Helper()

	return runWithEnv(t, nil, args...)
}

// runWithEnv runs the program with these environment variables and no others.
func runWithEnv(t *testing.T, env map[string]string, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	code := run(t.Context(), args, func(name string) string { return env[name] }, &stdout, &stderr)

	return outcome{code, stdout.String(), stderr.String()}
}

// runWithInput runs a command that reads this standard input. It returns the command's error, which run would turn
// into an exit status and a message.
func runWithInput(
	t *testing.T,
	stdin string,
	env map[string]string,
	args ...string,
) (stdout, stderr string, err error) {
	t.Helper()
	var out, errOut bytes.Buffer
	root := newRootCommand(
		&command.Program{Getenv: func(name string) string { return env[name] }, Stdout: &out, Stderr: &errOut},
	)
	root.SetArgs(args)
	root.SetIn(strings.NewReader(stdin))
	err = root.ExecuteContext(t.Context())

	return out.String(), errOut.String(), err
}

func (o outcome) String() string {
	return fmt.Sprintf("exit status %d, stdout %q, stderr %q", o.code, o.stdout, o.stderr)
}

// check fails the test unless the run ended with this exit status and wrote each text to standard error.
func (o outcome) check(t *testing.T, code int, stderr ...string) {
	t.Helper()

	if o.code != code {
		t.Errorf("got %v; want exit status %d", o, code)
	}

	for _, want := range stderr {
		if !strings.Contains(o.stderr, want) {
			t.Errorf("got %v; want %q in stderr", o, want)
		}
	}
}

// checkPrints fails the test unless the run succeeded and wrote each text to standard output.
func (o outcome) checkPrints(t *testing.T, stdout ...string) {
	t.Helper()

	if o.code != exitOK {
		t.Errorf("got %v; want exit status %d", o, exitOK)
	}

	for _, want := range stdout {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("got %v; want %q in stdout", o, want)
		}
	}
}

// checkNoOutput fails the test if the run wrote to standard output.
func (o outcome) checkNoOutput(t *testing.T) {
	t.Helper()

	if o.stdout != "" {
		t.Errorf("stdout is %q, want nothing", o.stdout)
	}
}

// checkOK ends the test unless the run succeeded.
func (o outcome) checkOK(t *testing.T) {
	t.Helper()

	if o.code != exitOK {
		t.Fatalf("got %v; want exit status %d", o, exitOK)
	}
}

// checkQuiet fails the test unless the run succeeded without a word on standard error.
func (o outcome) checkQuiet(t *testing.T) {
	t.Helper()

	if o.code != exitOK || o.stderr != "" {
		t.Errorf("got %v; want exit status %d and nothing in stderr", o, exitOK)
	}
}

// decodeJSON decodes the standard output of a successful run into v.
func (o outcome) decodeJSON(t *testing.T, v any) {
	t.Helper()
	o.checkOK(t)

	if err := json.Unmarshal([]byte(o.stdout), v); err != nil {
		t.Fatalf("%v: %v", err, o)
	}
}

// line is a line of `md2pdf --json`.
type line struct {
	Input    string
	Merged   []string
	Output   string
	Pages    int
	Bytes    int
	Theme    string
	Warnings []fault.Warning
	Analysis *finding.Analysis
	Error    *fault.Error
}

// decodeLines decodes the standard output of `md2pdf --json`, one line for each document.
func (o outcome) decodeLines(t *testing.T) (lines []line) {
	t.Helper()

	for dec := json.NewDecoder(strings.NewReader(o.stdout)); dec.More(); {
		var l line
		if err := dec.Decode(&l); err != nil {
			t.Fatalf("%v: %v", err, o)
		}
		lines = append(lines, l)
	}

	return lines
}

// needsChromium skips a test that prints.
func needsChromium(t *testing.T) {
	t.Helper()

	if testing.Short() {
		t.Skip("needs Chromium; `make test` runs this test")
	}
}

// envWithHome returns an environment with a HOME of its own and these variables.
func envWithHome(t *testing.T, more map[string]string) map[string]string {
	t.Helper()
	env := map[string]string{"HOME": t.TempDir()}
	maps.Copy(env, more)

	return env
}

// writeFiles creates a folder with these files. The keys are paths in it.
func writeFiles(t *testing.T, files map[string]string) string {
	t.Helper()

	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)

		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o644))
		if err != nil {
			t.Fatal(err)
		}
	}

	return dir
}

func readFile(t *testing.T, path string) string {
	t.Helper()

	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}

	return string(b)
}

// syncBuffer is a buffer that the test may read while the program writes to it.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()

	return s.b.String()
}
