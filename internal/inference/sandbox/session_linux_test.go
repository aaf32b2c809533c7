//go:build amd64 || arm64

package sandbox_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"image/png"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"presswork/internal/inference"
	"presswork/internal/inference/sandbox"
	"presswork/internal/test/wait"
)

const (
	// patient is the time for a cell that must end by itself on a busy machine.
	patient = time.Minute
	// short is the time for a cell or interpreter that does not end by itself.
	short = 3 * time.Second
)

func newPool(t testing.TB, box *sandbox.Box, timeout time.Duration) *sandbox.Pool {
	t.Helper()

	p, err := sandbox.NewPool(sandbox.PoolOptions{Box: box, Timeout: timeout, Cells: 4})
	if err != nil {
		t.Fatal(err)
	}
	p.SetTimes(timeout, patient)

	return p
}

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

func run(t testing.TB, s *sandbox.Session, code string) inference.ToolResult {
	t.Helper()

	r, err := s.Run(t.Context(), code)
	if err != nil {
		t.Fatal(err)
	}

	if len(r.Output) > 16<<10 || !utf8.ValidString(r.Output) {
		t.Errorf("%d bytes of output, valid: %v", len(r.Output), utf8.ValidString(r.Output))
	}

	return r
}

func TestCellsShareASession(t *testing.T) {
	t.Parallel()
	p := newPool(t, openBox(t), patient)

	s := newSession(t, p)
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
		{"a traceback without our frames", "def g():\n    return 1 / 0\n\ng()", "Traceback (most recent call last):\n  File \"<cell 9>\", line 4, in <module>\n    g()\n  File \"<cell 9>\", line 2, in g\n    return 1 / 0\n           ~~^~~\nZeroDivisionError: division by zero", "", true},
		{"what ran before a failure stays", "z = 5\nraise ValueError('no')", "Traceback (most recent call last):\n  File \"<cell 10>\", line 2, in <module>\n    raise ValueError('no')\nValueError: no", "", true},
		{"and is there", "z", "5", "5", false},
		{"a mistake of syntax", "x = = 1", "  File \"<cell 12>\", line 1\n    x = = 1\n        ^\nSyntaxError: invalid syntax", "", true},
		{"input has ended", "input('name? ')", "name? Traceback (most recent call last):\n  File \"<cell 13>\", line 1, in <module>\n    input('name? ')\nEOFError: EOF when reading a line", "", true},
		{"exit ends the cell only", "exit()", "", "", false},
		{"the status of sys.exit is shown", "import sys\nsys.exit('too bad')", "SystemExit: too bad", "", true},
		{"classes can be pickled", "import pickle\nclass C: pass\ntype(pickle.loads(pickle.dumps(C()))) is C", "True", "True", false},
		{"text that is no UTF-8", "print('\\ud800 \\x1b[31m \\x00 ü')\nsys.stdout.buffer.write(b'\\xff\\n')", "\\ud800 [31m  ü\n\uFFFD\n2", "2", false},
		{"modules in the folder", "open('mine.py', 'w').write('a = 4')\nimport mine\nmine.a", "4", "4", false},
		{"nothing", "", "", "", false},
		{"a comment", "# nothing", "", "", false},
	} {
		t.Run(cell.name, func(t *testing.T) {
			got := run(t, s, cell.code)
			// Python 3.11 and later mark the place; 3.13 does so for statements as well.
			if got.Output != cell.output || got.Failed != cell.failed {
				t.Errorf("%s: output is\n%s\nfailed: %v; want\n%s", cell.name, got.Output, got.Failed, cell.output)
			}

			var text string
			if len(got.Code) > 0 {
				text = got.Code[0].Text
			}

			if text != cell.text {
				t.Errorf("%s: the value is %q, want %q", cell.name, text, cell.text)
			}
		})
	}

	other := newSession(t, p)
	if got := run(t, other, "x"); !strings.Contains(got.Output, "NameError") {
		t.Errorf("another session sees the variables: %s", got.Output)
	}
}

func TestFilesOfASessionAreReadOnly(t *testing.T) {
	t.Parallel()
	p := newPool(t, openBox(t), patient)

	s := newSession(t, p, sandbox.File{Name: "a b.csv", Data: []byte("1,2\n")})
	if got := run(t, s, "open('/data/a b.csv').read()"); got.Output != `'1,2\n'` {
		t.Errorf("the file is %s", got.Output)
	}

	for _, code := range []string{"open('/data/a b.csv', 'w')", "import os; os.remove('/data/a b.csv')", "os.chmod('/data/a b.csv', 0o666)", "open('/data/other', 'w')"} {
		t.Run(code, func(t *testing.T) {
			if got := run(t, s, code); !strings.Contains(got.Output, "Error") {
				t.Errorf("%s: %s", code, got.Output)
			}
		})
	}

	if _, err := p.Session(t.Context(), []sandbox.File{{Name: "../x"}}); err == nil {
		t.Error("a file name with a folder was accepted")
	}
}

func TestFiguresBecomePictures(t *testing.T) {
	t.Parallel()

	s := newSession(t, newPool(t, openBox(t), patient))
	if got := run(t, s, "import matplotlib.pyplot as plt"); strings.Contains(got.Output, "ModuleNotFoundError") {
		t.Fatal("needs matplotlib; `make setup-tools` installs it")
	}

	for _, cell := range []struct {
		name, code string
		pictures   int
		output     string
	}{
		{"left open", "_ = plt.plot([1, 2])", 1, ""},
		{"shown", "_ = plt.plot([1, 2])\nplt.show()\nprint('after')", 1, "after"},
		{"closed", "_ = plt.plot([1, 2])\nplt.close()", 0, ""},
		{"saved and closed", "_ = plt.plot([1, 2])\nplt.savefig('a.png')\nplt.close()", 1, ""},
		{"saved before", "1", 0, "1"},
		{"saved and open", "_ = plt.plot([1, 2])\nplt.savefig('b.png')", 1, ""},
		{"with a value", "_ = plt.plot([1, 2])\n7", 1, "7"},
		{"with a failure", "_ = plt.plot([1, 2])\n1 / 0", 1, "ZeroDivisionError"},
		{"several", "for i in range(6):\n    plt.figure()", 4, "left out: 2"},
		{"too large a figure", "_ = plt.figure(figsize=(200, 100))", 1, ""},
		{"draws itself", "class P:\n    def _repr_png_(self): return open('a.png', 'rb').read()\nP()", 1, ""},
	} {
		t.Run(cell.name, func(t *testing.T) {
			got := run(t, s, cell.code)
			n := 0

			for _, c := range got.Code {
				if c.PNG == "" {
					continue
				}
				n++

				b, err := base64.StdEncoding.DecodeString(c.PNG)
				if err != nil {
					t.Fatal(err)
				}

				if _, err := png.Decode(bytes.NewReader(b)); err != nil {
					t.Errorf("%s: %v", cell.name, err)
				}
			}

			if n != cell.pictures || !strings.Contains(got.Output, cell.output) {
				t.Errorf("%s: %d pictures, want %d; output %s", cell.name, n, cell.pictures, got.Output)
			}
		})
	}
}

func TestWaitingInterpretersHaveFontList(t *testing.T) {
	t.Parallel()

	p, err := sandbox.NewPool(sandbox.PoolOptions{Box: openBox(t), Waiting: 1, Timeout: patient})
	if err == nil {
		err = p.Start(t.Context())
	}

	if err != nil {
		t.Fatal(err)
	}

	defer p.Stop(t.Context())
	known := func(files ...sandbox.File) bool {
		s := newSession(t, p, files...)
		defer s.Close()

		return strings.Contains(run(t, s, "import glob\nglob.glob('/tmp/matplotlib/fontlist*')").Output, "fontlist")
	}
	// A session with files starts its own interpreter, so the waiting one remains.
	listed := func() bool {
		if known(sandbox.File{Name: "a"}) {
			return true
		}
		// The process that lists the fonts runs at the lowest priority, and other tests keep the machine busy.
		for _, member := range descendants(fmt.Sprint(os.Getpid())) {
			if pid, _, _ := strings.Cut(member, " "); strings.Contains(commandLine(member), "font_manager") {
				id, _ := strconv.Atoi(pid)
				_ = syscall.Setpriority(syscall.PRIO_PROCESS, id, 0)
			}
		}

		return false
	}
	wait.Until(t, "matplotlib has listed the fonts (`make setup-tools` installs it)", listed)

	if !known() {
		t.Error("the interpreter that waited has no list of fonts")
	}
}

func TestScientificLibrariesFitTheLimits(t *testing.T) {
	t.Parallel()

	s := newSession(t, newPool(t, openBox(t), 2*patient))
	for code, want := range map[string]string{
		"import numpy as np\nint(np.linalg.det(np.eye(100)) * 3)":                                                   "3",
		"import pandas as pd\npd.DataFrame({'a': [1, 2]}).a.sum()":                                                  "3",
		"import scipy.optimize as so\nround(so.brentq(lambda x: x - 3, 0, 9))":                                      "3",
		"import sympy\nsympy.solve(sympy.Symbol('x') - 3)[0]":                                                       "3",
		"from concurrent.futures import ProcessPoolExecutor as P\nwith P(2) as p: print(sum(p.map(abs, [-1, -2])))": "3",
	} {
		t.Run(code, func(t *testing.T) {
			got := run(t, s, code)
			if strings.Contains(got.Output, "ModuleNotFoundError") {
				t.Fatal("needs numpy, pandas, scipy and sympy; `make setup-tools` installs them")
			}

			if got.Output != want {
				t.Errorf("%s\n%s", code, got.Output)
			}
		})
	}
}

func TestLongOutputIsShortened(t *testing.T) {
	t.Parallel()
	s := newSession(t, newPool(t, openBox(t), patient))

	got := run(t, s, "for i in range(20000): print('line ü', i)")
	for _, want := range []string{"line ü 0\n", "line ü 19999", "bytes left out"} {
		if !strings.Contains(got.Output, want) {
			t.Errorf("no %q in output of %d bytes", want, len(got.Output))
		}
	}

	got = run(t, s, "'é' * 100000")
	if len(got.Code) != 1 || len(got.Code[0].Text) > 16<<10 || !strings.HasPrefix(got.Output, "'ééé") {
		t.Errorf("the value is not shortened: %.100s", got.Output)
	}
}

// runStubborn runs a cell that does not end when it is interrupted, once it has begun.
func runStubborn(t testing.TB, p *sandbox.Pool, s *sandbox.Session, code string) inference.ToolResult {
	t.Helper()

	p.SetTimes(short, short)
	defer p.SetTimes(patient, patient)

	got := run(t, s, code)
	for deadline := time.Now().Add(wait.Patience); strings.Contains(got.Output, "KeyboardInterrupt") && time.Now().Before(deadline); {
		got = run(t, s, code) // the interrupt came before the cell began
	}

	return got
}

func TestACellThatTakesTooLongIsInterrupted(t *testing.T) {
	t.Parallel()
	p := newPool(t, openBox(t), patient)
	s := newSession(t, p)
	run(t, s, "x = 6")
	p.SetTimes(short, patient)

	got := run(t, s, "import time\ntime.sleep(1000)")
	if !got.Failed || !strings.Contains(got.Output, "KeyboardInterrupt") ||
		!strings.Contains(got.Output, "it ran for 3s") {
		t.Errorf("output is %s", got.Output)
	}
	p.SetTimes(patient, patient)

	if got := run(t, s, "x"); got.Output != "6" {
		t.Errorf("the variable is %s", got.Output)
	}

	got = runStubborn(t, p, s, "import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nwhile True: pass")
	if !got.Failed || !strings.Contains(got.Output, "did not end when it was interrupted") ||
		!strings.Contains(got.Output, "files are gone") {
		t.Errorf("output is %s", got.Output)
	}

	got = run(t, s, "'x' in globals()")
	if !strings.Contains(got.Output, "earlier calls are gone") || !strings.HasSuffix(got.Output, "\nFalse") {
		t.Errorf("output is %s", got.Output)
	}
}

func TestASessionEndsWithItsContext(t *testing.T) {
	t.Parallel()
	p := newPool(t, openBox(t), patient)
	s := newSession(t, p)
	run(t, s, "1")
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the caller left")
	time.AfterFunc(50*time.Millisecond, func() { cancel(why) })

	if _, err := s.Run(ctx, "import time\ntime.sleep(1000)"); !errors.Is(err, why) {
		t.Errorf("error is %v, want %v", err, why)
	}

	if err := errors.Join(s.Close(), s.Close()); err != nil {
		t.Error(err)
	}

	if _, err := s.Run(t.Context(), "1"); err == nil {
		t.Error("a closed session runs code")
	}
}

func TestOneCellRunsAtATime(t *testing.T) {
	t.Parallel()

	p, err := sandbox.NewPool(sandbox.PoolOptions{Box: openBox(t), Cells: 1, Timeout: patient})
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
				t.Errorf("%q, %v", r.Output, err)
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
		waiting, leave := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer leave()
		_, err := idle.Run(waiting, "1")

		return errors.Is(err, context.DeadlineExceeded)
	})
	cancel()
	<-ended

	if err := errors.Join(p.Stop(t.Context()), p.Stop(t.Context())); err != nil {
		t.Error(err)
	}
}
