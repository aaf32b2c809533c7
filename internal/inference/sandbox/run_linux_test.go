//go:build amd64 || arm64

package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"presswork/internal/inference/sandbox"
	"presswork/internal/test/public"
)

// openBox opens the sandbox. It skips the test under -short.
func openBox(t testing.TB) *sandbox.Box {
	t.Helper()

	if testing.Short() {
		t.Skip("needs bubblewrap; `make test` runs this test")
	}

	b, err := sandbox.Open(t.Context(), sandbox.Options{})
	if err != nil {
		t.Fatal(err)
	}

	return b
}

// shell returns a command that runs a shell script.
func shell(script string) sandbox.Command {
	return sandbox.Command{Program: "sh", Args: []string{"-c", script}}
}

func TestProgramReadsInputsAndReturnsFiles(t *testing.T) {
	t.Parallel()
	c := shell(
		"cat /data/a - >both; echo out; echo err >&2; ln -s /etc/ld.so.cache link; mkfifo pipe; mkdir folder; cat link >copy; exit 3",
	)
	c.Stdin = strings.NewReader("stdin\n")
	c.Files = []sandbox.File{{Name: "a", Data: []byte("file\n")}}

	got, err := openBox(t).Run(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}

	cache, err := os.ReadFile("/etc/ld.so.cache")
	if err != nil {
		t.Fatal(err)
	}

	want := sandbox.Output{
		Stdout: []byte("out\n"), Stderr: []byte("err\n"), ExitCode: 3,
		// A program can copy every file that it can read. A link that it creates is not followed here.
		Files: []sandbox.File{{Name: "both", Data: []byte("file\nstdin\n")}, {Name: "copy", Data: cache}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("output (-want +got):\n%s", diff)
	}
}

func TestProgramSeesNothingOfTheMachine(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	t.Run("files", func(t *testing.T) {
		out, err := b.Run(t.Context(), shell(
			"ls -A / /usr /etc /home /root /var /work /data /tmp /proc/self/fd; env; tr '\\0' '\\n' </proc/1/environ; echo /proc/[0-9]*",
		))
		if err != nil {
			t.Fatal(err)
		}

		host, err := os.Hostname()
		if err != nil {
			t.Fatal(err)
		}

		for _, secret := range []string{"passwd", "shadow", "presswork", "local\n", "GOFLAGS", "/proc/3 /proc/4 /proc/5 /proc/6", host + "\n"} {
			if strings.Contains(string(out.Stdout), secret) {
				t.Errorf("a program sees %q, want it hidden:\n%s", secret, out.Stdout)
			}
		}
	})
	t.Run("descriptors", func(t *testing.T) {
		// This process inherited the descriptor, as from a service manager.
		var inherited [2]int
		if err := syscall.Pipe(inherited[:]); err != nil {
			t.Fatal(err)
		}
		defer syscall.Close(inherited[0])
		defer syscall.Close(inherited[1])
		b := openBox(t)

		out, err := b.Run(t.Context(), shell("echo /proc/self/fd/*"))
		if err != nil {
			t.Fatal(err)
		}

		for fd := range strings.FieldsSeq(string(out.Stdout)) {
			n := strings.TrimPrefix(fd, "/proc/self/fd/")
			// The shell itself opens 3 and 10.
			if n != "0" && n != "1" && n != "2" && n != "3" && n != "10" {
				t.Errorf("descriptor %s is open, want only 0, 1, 2 and those of the shell", n)
			}
		}
	})
	t.Run("privileges", func(t *testing.T) {
		out, err := b.Run(t.Context(), shell("nice; grep -E '^(Uid|Gid|Cap|NoNewPrivs|Seccomp:)' /proc/self/status"))
		if err != nil {
			t.Fatal(err)
		}

		raw, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
		if err != nil {
			t.Fatal(err)
		}

		for _, want := range []string{fmt.Sprintf("%d\nUid", min(20-raw+5, 19)), "Uid:\t65534\t65534", "Gid:\t65534\t65534", "CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"} {
			if !strings.Contains(string(out.Stdout), want) {
				t.Errorf("want %q in\n%s", want, out.Stdout)
			}
		}
	})
}

// TestProgramRunsAsAnUnprivilegedUser checks the user on the host, because in the sandbox it is always 65534.
func TestProgramRunsAsAnUnprivilegedUser(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	owner := make(chan uint32, 1)

	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c := shell("read line")
	c.Stdin = r
	c.Files = []sandbox.File{{Name: fmt.Sprintf("owner-%d", os.Getpid())}}

	go func() {
		defer w.Close()

		for t.Context().Err() == nil {
			lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
			for _, line := range lines {
				if text, err := os.ReadFile(line); err != nil || !strings.Contains(string(text), c.Files[0].Name) {
					continue
				}

				if info, err := os.Stat(filepath.Dir(line)); err == nil {
					owner <- info.Sys().(*syscall.Stat_t).Uid
					return
				}
			}
		}
	}()

	if _, err := b.Run(t.Context(), c); err != nil {
		t.Fatal(err)
	}

	want := uint32(os.Geteuid())
	if want == 0 {
		want = 60912 // the user of programs if the server runs as root
	}

	if got := <-owner; got != want {
		t.Errorf("the program is user %d, want %d", got, want)
	}
}

// TestServerKeepsItsUser checks the main thread. A thread that starts a sandbox changes its user, and must not
// be the one that /proc/PID shows.
func TestServerKeepsItsUser(t *testing.T) {
	t.Parallel()
	b := openBox(t)

	var wg sync.WaitGroup
	for range 30 {
		wg.Go(func() {
			if _, err := b.Run(t.Context(), shell("true")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()

	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}

	if want := fmt.Sprintf("\nUid:\t%d\t%[1]d\t", os.Getuid()); !strings.Contains(string(status), want) {
		t.Errorf("want %q in\n%s", want, status)
	}
}

func TestLimitsEndAProgram(t *testing.T) {
	t.Parallel()

	b := openBox(t)
	for name, test := range map[string]struct {
		script string
		limits sandbox.Limits
		want   string
	}{
		"time":                  {"trap '' TERM INT HUP; while :; do sleep 1; done", sandbox.Limits{Wall: 200 * time.Millisecond}, "time"},
		"time in a new session": {"setsid sh -c 'setsid sleep 1000 & setsid sleep 1000' & wait", sandbox.Limits{Wall: 200 * time.Millisecond}, "time"},
		"stdout":                {"yes", sandbox.Limits{Output: 1000}, "output"},
		"memory of several":     {"for i in 1 2 3 4 5 6 7 8 9 10 11 12; do (x=$(head -c 4000000 /dev/zero | tr '\\0' x); sleep 1000; :) & done; wait", sandbox.Limits{Memory: 32 << 20}, "memory"},
		"files":                 {"cd /tmp; i=0; while :; do : >$i; i=$((i+1)); done", sandbox.Limits{}, "files"},
		"files in /dev/shm":     {"cd /dev/shm; i=0; while :; do : >$i; i=$((i+1)); done", sandbox.Limits{}, "files"},
		"a sparse file":         {"truncate -s 60M a; truncate -s 60M b", sandbox.Limits{}, "output"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := shell(test.script)
			c.Limits = test.limits

			out, err := b.Run(t.Context(), c)
			if over, ok := errors.AsType[*sandbox.LimitError](err); !ok || over.Limit != test.want {
				t.Errorf("error is %v, want that of the limit %q; output %.200q, stderr %.200q", err, test.want,
					out.Stdout, out.Stderr)
			}

			if test.limits.Output > 0 && int64(len(out.Stdout)) != test.limits.Output {
				t.Errorf("%d bytes of stdout, want %d", len(out.Stdout), test.limits.Output)
			}
		})
	}

	// These limits do not end the program. It sees an error instead.
	for name, test := range map[string]struct {
		script, want string
		limits       sandbox.Limits
	}{
		"disk":              {"head -c 2000000 /dev/zero >a; head -c 2000000 /dev/zero >/tmp/a; head -c 2000000 /dev/zero >/dev/shm/a; cat a /tmp/a /dev/shm/a | wc -c", "3145728", sandbox.Limits{Disk: 1 << 20}},
		"processor time":    {"(while :; do :; done); echo $?", "137", sandbox.Limits{CPU: time.Second}},
		"processes":         {"for i in 1 2 3 4 5 6 7 8 9; do sleep 100 & done; echo never", "", sandbox.Limits{Processes: 6}},
		"read-only folders": {"for d in / /data /usr/bin /etc /dev /proc; do : 2>/dev/null >$d/x && echo $d; done", "", sandbox.Limits{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := shell(test.script)
			c.Limits = test.limits

			out, err := b.Run(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}

			if got := strings.TrimSpace(string(out.Stdout)); got != test.want {
				t.Errorf("output is %q, want %q; stderr %.300q", got, test.want, out.Stderr)
			}
		})
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	b := openBox(t)
	ctx, cancel := context.WithCancelCause(t.Context())

	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	c := shell("read line; sleep 1000")
	c.Stdin = r
	errLeft := errors.New("the caller left")

	go func() {
		_, _ = w.WriteString("it runs\n")
		cancel(errLeft)
		w.Close()
	}()

	if _, err := b.Run(ctx, c); !errors.Is(err, errLeft) {
		t.Errorf("error is %v, want %v", err, errLeft)
	}

	if _, err := b.Run(ctx, shell("true")); !errors.Is(err, errLeft) {
		t.Errorf("a run with an ended context: error is %v, want %v", err, errLeft)
	}
}

func TestProgramsThatCannotRunAreNamed(t *testing.T) {
	t.Parallel()
	b := openBox(t)

	outside := t.TempDir() + "/tool"
	if err := os.WriteFile(outside, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}

	for _, test := range []struct {
		c    sandbox.Command
		want string
	}{
		{sandbox.Command{Program: "no-such-program"}, "not in /usr/bin"},
		{sandbox.Command{Program: outside}, "only programs in /usr can run"},
		{sandbox.Command{Program: "true", Files: []sandbox.File{{Name: "../x"}}}, "not a file name"},
		{sandbox.Command{Program: "true", Files: []sandbox.File{{Name: "x"}, {Name: "x"}}}, "two files"},
		{sandbox.Command{Program: "true", Limits: sandbox.Limits{Memory: 1}}, "limit Memory"},
	} {
		if _, err := b.Run(t.Context(), test.c); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error is %v, want one with %q", test.c.Program, err, test.want)
		}
	}

	if _, err := b.Run(t.Context(), sandbox.Command{Program: "no-such-program"}); !errors.Is(err, exec.ErrNotFound) {
		t.Errorf("error is %v, want exec.ErrNotFound", err)
	}
}

func TestOpenSaysWhySandboxIsUnavailable(t *testing.T) {
	t.Parallel()

	if testing.Short() {
		t.Skip("starts programs; `make test` runs this test")
	}
	broken := public.Dir(t) + "/bwrap"
	public.Program(t, broken,
		"#!/bin/sh\n[ $1 = --help ] || { echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1; }\n")

	for program, want := range map[string]string{
		"/no/such/bwrap": "apt install bubblewrap",
		broken:           "uid map: Permission denied",
	} {
		t.Run(want, func(t *testing.T) {
			_, err := sandbox.Open(t.Context(), sandbox.Options{Bubblewrap: program})
			if !errors.Is(err, sandbox.ErrUnavailable) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error is %v, want ErrUnavailable with %q", program, err, want)
			}
		})
	}
}
