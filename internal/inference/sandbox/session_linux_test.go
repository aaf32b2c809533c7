//go:build amd64 || arm64

package sandbox_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"presswork/internal/inference"
	"presswork/internal/inference/sandbox"
	"presswork/internal/test/wait"
)

const (
	// longTimeout is for cells that end by themselves. A busy machine must not interrupt them.
	longTimeout = time.Minute
	// shortTimeout is for cells and interpreters that do not end by themselves.
	shortTimeout = 3 * time.Second
)

// newPool returns a pool of up to four cells at a time. A cell is interrupted after timeout.
func newPool(t testing.TB, box *sandbox.Box, timeout time.Duration) *sandbox.Pool {
	t.Helper()

	p, err := sandbox.NewPool(sandbox.PoolOptions{Box: box, Timeout: timeout, Cells: 4})
	if err != nil {
		t.Fatal(err)
	}
	p.SetTimes(timeout, longTimeout)

	return p
}

// newSession opens a session that is closed after the test.
func newSession(t testing.TB, p *sandbox.Pool, files ...sandbox.File) *sandbox.Session {
	t.Helper()

	s, err := p.Session(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})

	return s
}

// run runs a cell and checks that its output is bounded and valid UTF-8.
func run(t testing.TB, s *sandbox.Session, code string) inference.ToolResult {
	t.Helper()

	r, err := s.Run(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}

	if len(r.Output) > 16<<10 || !utf8.ValidString(r.Output) {
		t.Errorf("output has %d bytes, valid UTF-8: %v; want up to 16 KiB of UTF-8", len(r.Output),
			utf8.ValidString(r.Output))
	}

	return r
}

func TestCellsShareASession(t *testing.T) {
	t.Parallel()
	p := newPool(t, openBox(t), longTimeout)
	s := newSession(t, p)

	// Each cell depends on the cells before it.
	for _, cell := range []struct {
		name, code, output, text string
		failed                   bool
	}{
		{"a value", "x = 6\nx * 7", "42", "42", false},
		{"variables stay", "print('x is', x)", "x is 6", "", false},
		{"output comes before the value", "print('a')\n'b'", "a\n'b'", "'b'", false},
		{"stdout and stderr in order", "import sys\nprint(1)\nprint(2, file=sys.stderr)\nprint(3)", "1\n2\n3", "", false},
		{"a program's output", "import subprocess\nsubprocess.run(['echo', 'hello']).returncode", "hello\n0", "0", false},
		{"no value for None", "None", "", "", false},
		{"no value for a statement", "y = 1", "", "", false},
		{"functions see variables", "def f():\n    global x\n    x += 1\n    return x\nf()", "7", "7", false},
		{"a traceback without frames of the sandbox", "def g():\n    return 1 / 0\n\ng()", "Traceback (most recent call last):\n  File \"<cell 9>\", line 4, in <module>\n    g()\n  File \"<cell 9>\", line 2, in g\n    return 1 / 0\n           ~~^~~\nZeroDivisionError: division by zero", "", true},
		{"variables before a failure stay", "z = 5\nraise ValueError('no')", "Traceback (most recent call last):\n  File \"<cell 10>\", line 2, in <module>\n    raise ValueError('no')\nValueError: no", "", true},
		{"variables after a failure", "z", "5", "5", false},
		{"a syntax error", "x = = 1", "  File \"<cell 12>\", line 1\n    x = = 1\n        ^\nSyntaxError: invalid syntax", "", true},
		{"input has ended", "input('name? ')", "name? Traceback (most recent call last):\n  File \"<cell 13>\", line 1, in <module>\n    input('name? ')\nEOFError: EOF when reading a line", "", true},
		{"exit ends the cell only", "exit()", "", "", false},
		{"the status of sys.exit is shown", "import sys\nsys.exit('too bad')", "SystemExit: too bad", "", true},
		{"classes can be pickled", "import pickle\nclass C: pass\ntype(pickle.loads(pickle.dumps(C()))) is C", "True", "True", false},
		{"text that is not UTF-8", "print('\\ud800 \\x1b[31m \\x00 ü')\nsys.stdout.buffer.write(b'\\xff\\n')", "\\ud800 [31m  ü\n\uFFFD\n2", "2", false},
		{"modules in the folder", "open('mine.py', 'w').write('a = 4')\nimport mine\nmine.a", "4", "4", false},
		{"an empty cell", "", "", "", false},
		{"a comment", "# nothing", "", "", false},
	} {
		t.Run(cell.name, func(t *testing.T) {
			got := run(t, s, cell.code)
			if got.Output != cell.output || got.Failed != cell.failed {
				t.Errorf("failed: %v, output:\n%s\nwant failed: %v, output:\n%s", got.Failed, got.Output,
					cell.failed, cell.output)
			}

			var text string
			if len(got.Code) > 0 {
				text = got.Code[0].Text
			}

			if text != cell.text {
				t.Errorf("the value is %q, want %q", text, cell.text)
			}
		})
	}

	other := newSession(t, p)
	if got := run(t, other, "x"); !strings.Contains(got.Output, "NameError") {
		t.Errorf("another session has the output %s, want a NameError", got.Output)
	}
}

func TestFilesOfASessionAreReadOnly(t *testing.T) {
	t.Parallel()
	p := newPool(t, openBox(t), longTimeout)

	s := newSession(t, p, sandbox.File{Name: "a b.csv", Data: []byte("1,2\n")})
	if got := run(t, s, "open('/data/a b.csv').read()"); got.Output != `'1,2\n'` {
		t.Errorf("the file has the content %s, want '1,2\\n'", got.Output)
	}

	for _, code := range []string{"open('/data/a b.csv', 'w')", "import os; os.remove('/data/a b.csv')", "os.chmod('/data/a b.csv', 0o666)", "open('/data/other', 'w')"} {
		t.Run(code, func(t *testing.T) {
			if got := run(t, s, code); !strings.Contains(got.Output, "Error") {
				t.Errorf("output is %s, want an error", got.Output)
			}
		})
	}

	if _, err := p.Session(t.Context(), []sandbox.File{{Name: "../x"}}); err == nil {
		t.Error("a file name with a folder: got no error, want one")
	}
}

func TestLongOutputIsShortened(t *testing.T) {
	t.Parallel()
	s := newSession(t, newPool(t, openBox(t), longTimeout))

	got := run(t, s, "for i in range(20000): print('line ü', i)")
	for _, want := range []string{"line ü 0\n", "line ü 19999", "bytes left out"} {
		if !strings.Contains(got.Output, want) {
			t.Errorf("want %q in the output of %d bytes", want, len(got.Output))
		}
	}

	got = run(t, s, "'é' * 100000")
	if len(got.Code) != 1 || len(got.Code[0].Text) > 16<<10 || !strings.HasPrefix(got.Output, "'ééé") {
		t.Errorf("got the value %.100s, want its beginning in up to 16 KiB", got.Output)
	}
}

// runStubborn runs a cell that ignores interrupts. It repeats the cell if the interrupt came before the cell's own code.
func runStubborn(t testing.TB, p *sandbox.Pool, s *sandbox.Session, code string) inference.ToolResult {
	t.Helper()

	p.SetTimes(shortTimeout, shortTimeout)
	defer p.SetTimes(longTimeout, longTimeout)

	got := run(t, s, code)
	for deadline := time.Now().Add(wait.Patience); strings.Contains(got.Output, "KeyboardInterrupt") && time.Now().Before(deadline); {
		got = run(t, s, code)
	}

	return got
}

func TestACellThatTakesTooLongIsInterrupted(t *testing.T) {
	t.Parallel()
	p := newPool(t, openBox(t), longTimeout)
	s := newSession(t, p)
	run(t, s, "x = 6")
	p.SetTimes(shortTimeout, longTimeout)

	got := run(t, s, "import time\ntime.sleep(1000)")
	if !got.Failed || !strings.Contains(got.Output, "KeyboardInterrupt") ||
		!strings.Contains(got.Output, "it ran for 3s") {
		t.Errorf("output is %s, want a KeyboardInterrupt after 3s", got.Output)
	}
	p.SetTimes(longTimeout, longTimeout)

	if got := run(t, s, "x"); got.Output != "6" {
		t.Errorf("after the interrupt the variable is %s, want 6", got.Output)
	}

	got = runStubborn(t, p, s, "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass")
	if !got.Failed || !strings.Contains(got.Output, "did not end when it was interrupted") ||
		!strings.Contains(got.Output, "files are gone") {
		t.Errorf("output of the stubborn cell is %s, want the end of the interpreter and its files", got.Output)
	}

	got = run(t, s, "'x' in globals()")
	if !strings.Contains(got.Output, "earlier calls are gone") || !strings.HasSuffix(got.Output, "\nFalse") {
		t.Errorf("output is %s, want a note about the lost variables, and False", got.Output)
	}
}

func TestASessionEndsWithItsContext(t *testing.T) {
	t.Parallel()
	p := newPool(t, openBox(t), longTimeout)
	s := newSession(t, p)
	run(t, s, "1")
	ctx, cancel := context.WithCancelCause(t.Context())
	errLeft := errors.New("the caller left")
	time.AfterFunc(50*time.Millisecond, func() { cancel(errLeft) })

	if _, err := s.Run(ctx, "import time\ntime.sleep(1000)"); !errors.Is(err, errLeft) {
		t.Errorf("error is %v, want %v", err, errLeft)
	}

	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}

	if _, err := s.Run(t.Context(), "1"); err == nil {
		t.Error("a closed session: got no error, want one")
	}
}

func TestPoolRunsItsNumberOfCellsAtATime(t *testing.T) {
	t.Parallel()

	p, err := sandbox.NewPool(sandbox.PoolOptions{Box: openBox(t), Cells: 1, Timeout: longTimeout})
	if err != nil {
		t.Fatal(err)
	}

	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup

	for range 5 {
		s := newSession(t, p)
		wg.Go(func() {
			if r, err := s.Run(t.Context(), "40 + 2"); err != nil || r.Output != "42" {
				t.Errorf("got %q, %v; want 42", r.Output, err)
			}
		})
	}
	wg.Wait()
	busy, idle := newSession(t, p), newSession(t, p)
	ctx, cancel := context.WithCancel(t.Context())

	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = busy.Run(ctx, "import time\ntime.sleep(1000)")
	}()
	wait.Until(t, "the busy cell has begun, and no other cell runs at the same time", func() bool {
		waitCtx, stopWaiting := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer stopWaiting()
		_, err := idle.Run(waitCtx, "1")

		return errors.Is(err, context.DeadlineExceeded)
	})
	cancel()
	<-ended

	if err := errors.Join(p.Stop(t.Context()), p.Stop(t.Context())); err != nil {
		t.Error(err)
	}
}
