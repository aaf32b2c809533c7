package local_test

import (
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"presswork"
	"presswork/internal/fault"
	"presswork/internal/local"
	"presswork/internal/test/wait"
)

func TestTheOutputIsReplacedAsItWas(t *testing.T) {
	t.Parallel()
	c := start(t, local.Options{Output: presswork.HTML})
	dir := files(t, map[string]string{"a.md": "# New", "target.html": "older"})

	target := filepath.Join(dir, "target.html")
	if err := os.Chmod(target, 0o600); err != nil {
		t.Fatal(err)
	}

	if _, err := c.Convert(t.Context(), local.Input{Path: filepath.Join(dir, "a.md"), Output: target}); err != nil {
		t.Fatal(err)
	}

	if info, err := os.Stat(target); err != nil || info.Mode().Perm() != 0o600 ||
		!strings.Contains(readFile(t, target), "New") {
		t.Errorf("the target: %v, %v", info, err)
	}
}

func TestNothingIsWrittenThroughALink(t *testing.T) {
	t.Parallel()
	c := start(t, local.Options{Output: presswork.HTML})
	dir := files(t, map[string]string{"a.md": "# New", "outside/target": "older"})

	pipe := filepath.Join(dir, "outside/pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}

	for name, target := range map[string]string{"file": "outside/target", "nothing": "outside/new", "pipe": pipe} {
		t.Run(name, func(t *testing.T) {
			link := filepath.Join(dir, name+".html")
			if err := os.Symlink(target, link); err != nil {
				t.Fatal(err)
			}

			_, err := c.Convert(t.Context(), local.Input{Path: filepath.Join(dir, "a.md"), Output: link})
			if err == nil || !strings.Contains(local.Message(err), "symbolic link") {
				t.Errorf("%s: %v", name, err)
			}

			if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
				t.Errorf("%s: the link was replaced: %v, %v", name, info, err)
			}
		})
	}

	if got := names(t, filepath.Join(dir, "outside")); len(got) != 2 ||
		readFile(t, filepath.Join(dir, "outside/target")) != "older" {
		t.Errorf("outside has %q", got)
	}
}

func TestOutputsThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	c := start(t, local.Options{Output: presswork.HTML})

	dir := files(t, map[string]string{"a.md": "x", "folder/x": ""})
	for output, want := range map[string]struct {
		code fault.Code
		says string
	}{
		filepath.Join(dir, "none", "a.html"):         {fault.StoreUnavailable, "no such file or directory"},
		filepath.Join(dir, "folder"):                 {fault.StoreUnavailable, "is a directory"},
		filepath.Join(dir, strings.Repeat("n", 300)): {fault.StoreUnavailable, "name too long"},
	} {
		t.Run(output, func(t *testing.T) {
			_, err := c.Convert(t.Context(), local.Input{Path: filepath.Join(dir, "a.md"), Output: output})
			if fault.CodeOf(err) != want.code || !strings.Contains(local.Message(err), want.says) ||
				!strings.Contains(local.Message(err), output) {
				t.Errorf("%s: error %v, want %s that says %q", output, err, want.code, want.says)
			}
		})
	}

	if got := names(t, dir); len(got) != 2 {
		t.Errorf("left behind: %v", got)
	}
}

// The test uses a pipe of its own: a mistake here, run as root, would replace
// the machine's devices.
func TestAPipeOrDeviceIsWrittenToAndNeverReplaced(t *testing.T) {
	t.Parallel()
	c := start(t, local.Options{Output: presswork.HTML})
	dir := files(t, map[string]string{"a.md": "# Hello"})

	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	// Opened for both ends, so that neither side waits for the other.
	reader, err := os.OpenFile(pipe, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	out := make(chan local.Output, 1)

	go func() {
		o, err := c.Convert(t.Context(), local.Input{Path: filepath.Join(dir, "a.md"), Output: pipe})
		if err != nil {
			t.Error(err)
		}
		out <- o
	}()

	if err := reader.SetReadDeadline(time.Now().Add(wait.Patience)); err != nil {
		t.Fatal(err)
	}

	head := make([]byte, len("<!DOCTYPE html>"))

	if _, err := io.ReadFull(reader, head); err != nil || string(head) != "<!DOCTYPE html>" {
		t.Errorf("the pipe gave %q, %v", head, err)
	}
	go io.Copy(io.Discard, reader)
	<-out

	if info, err := os.Lstat(pipe); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe was replaced: %v, %v", info, err)
	}
}

func TestAnInterruptionEndsTheWaitForAReader(t *testing.T) {
	t.Parallel()
	_, nobodyReads := io.Pipe()
	dir := files(t, map[string]string{"a.md": "# Hello"})

	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}

	for _, output := range []string{pipe, local.Std} {
		ctx, cancel := context.WithCancelCause(t.Context())
		why := errors.New("enough")

		c := start(
			t,
			local.Options{Output: presswork.HTML, Stdout: nobodyReads, Progress: func(_ string, stage presswork.Stage) {
				if stage == presswork.StageStoring { // and a moment later, when the write waits
					time.AfterFunc(20*time.Millisecond, func() { cancel(why) })
				}
			}},
		)
		if _, err := c.Convert(ctx, local.Input{Path: filepath.Join(dir, "a.md"), Output: output}); !errors.Is(
			err,
			why,
		) {
			t.Errorf("%s: %v", output, err)
		}
	}
}

// full is a disk without space.
type full struct{}

func (full) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
}

func TestAFullDiskIsNamed(t *testing.T) {
	t.Parallel()
	c := start(t, local.Options{Output: presswork.HTML, Stdin: strings.NewReader("x"), Stdout: full{}})

	_, err := c.Convert(t.Context(), local.Input{Path: local.Std, Output: local.Std})
	if fault.CodeOf(err) != fault.StoreFull ||
		local.Message(err) != "cannot write standard output: no space left on device" {
		t.Errorf("error %v", err)
	}
}

// TestAWriteThatFailsHalfWayLeavesTheOlderResult runs itself in a process that may write files of a
// few kilobytes only, as on a disk that is nearly full.
func TestAWriteThatFailsHalfWayLeavesTheOlderResult(t *testing.T) {
	t.Parallel()

	const child = "PRESSWORK_TEST_LIMITED"
	if dir := os.Getenv(child); dir != "" {
		c := start(t, local.Options{Output: presswork.HTML})

		_, err := c.Convert(t.Context(),
			local.Input{Path: filepath.Join(dir, "a.md"), Output: filepath.Join(dir, "a.html")})
		if fault.CodeOf(err) != fault.StoreUnavailable || !strings.Contains(local.Message(err), "file too large") {
			t.Errorf("error %v", err)
		}

		return
	}
	dir := files(t, map[string]string{"a.md": strings.Repeat("word ", 10_000), "a.html": "older"})
	// The signal that comes with the limit is ignored, so that writes fail.
	limited := exec.Command("sh", "-c", `trap "" XFSZ; ulimit -f 16; exec "$0" "$@"`, os.Args[0],
		"-test.run=^"+t.Name()+"$")

	limited.Env = append(os.Environ(), child+"="+dir)
	if said, err := limited.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}

	if got := readFile(t, filepath.Join(dir, "a.html")); got != "older" {
		t.Errorf("the older result is now %d bytes", len(got))
	}

	if got := names(t, dir); len(got) != 2 {
		t.Errorf("left behind: %v", got)
	}
}
