//go:build amd64 || arm64

package sandbox_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image/png"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"presswork/internal/inference/sandbox"
	"presswork/internal/test/wait"
)

func TestFiguresBecomePictures(t *testing.T) {
	t.Parallel()

	s := newSession(t, newPool(t, openBox(t), longTimeout))
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
		{"a value with a picture", "class P:\n    def _repr_png_(self): return open('a.png', 'rb').read()\nP()", 1, ""},
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
					t.Errorf("a picture is not a PNG: %v", err)
				}
			}

			if n != cell.pictures || !strings.Contains(got.Output, cell.output) {
				t.Errorf("%d pictures, want %d; output %s, want %q", n, cell.pictures, got.Output, cell.output)
			}
		})
	}
}

// Listing the fonts takes matplotlib seconds, so it is done before a session needs them.
func TestWaitingInterpretersHaveTheFontList(t *testing.T) {
	t.Parallel()

	p, err := sandbox.NewPool(sandbox.PoolOptions{Box: openBox(t), Waiting: 1, Timeout: longTimeout})
	if err == nil {
		err = p.Start(t.Context())
	}

	if err != nil {
		t.Fatal(err)
	}

	defer p.Stop(t.Context())
	// hasFontList reports whether a session with the files sees matplotlib's list of fonts.
	hasFontList := func(files ...sandbox.File) bool {
		s := newSession(t, p, files...)
		defer s.Close()

		return strings.Contains(run(t, s, "import glob\nglob.glob('/tmp/matplotlib/fontlist*')").Output, "fontlist")
	}
	// A session with files starts its own interpreter, so the waiting one remains.
	listed := func() bool {
		if hasFontList(sandbox.File{Name: "a"}) {
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

	if !hasFontList() {
		t.Error("a session with the waiting interpreter has no font list, want one")
	}
}

func TestScientificLibrariesFitTheLimits(t *testing.T) {
	t.Parallel()

	s := newSession(t, newPool(t, openBox(t), 2*longTimeout))
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
				t.Errorf("%s\nprints %s, want %s", code, got.Output, want)
			}
		})
	}
}
