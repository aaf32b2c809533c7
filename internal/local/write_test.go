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

func TestAReplacedOutputKeepsItsMode(t *testing.T) {
	t.Parallel()
	c := startConverter(t, local.Options{Output: presswork.HTML})
	dir := writeFiles(t, map[string]string{"a.md": "# New", "target.html": "older"})

	target := filepath.Join(dir, "target.html")
	if err := os.Chmod(target, 0o600); err != nil {
		t.Fatal(err)
	}

	if _, err := c.Convert(t.Context(), local.Input{Path: filepath.Join(dir, "a.md"), Output: target}); err != nil {
		t.Fatal(err)
	}

	info, err := os.Stat(target)
	if err != nil || info.Mode().Perm() != 0o600 || !strings.Contains(readFile(t, target), "New") {
		t.Errorf("got %v, %v; want the new content with mode 600", info, err)
	}
}

func TestNothingIsWrittenThroughALink(t *testing.T) {
	t.Parallel()
	c := startConverter(t, local.Options{Output: presswork.HTML})
	dir := writeFiles(t, map[string]string{"a.md": "# New", "outside/target": "older"})

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
				t.Errorf("got error %v, want one about symbolic links", err)
			}

			if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
				t.Errorf("the link was replaced: %v, %v", info, err)
			}
		})
	}

	got := listFolder(t, filepath.Join(dir, "outside"))
	if len(got) != 2 || readFile(t, filepath.Join(dir, "outside/target")) != "older" {
		t.Errorf("the folder outside has %q, want the pipe and the older target", got)
	}
}

func TestAnUnwritableOutputIsAnError(t *testing.T) {
	t.Parallel()
	c := startConverter(t, local.Options{Output: presswork.HTML})

	dir := writeFiles(t, map[string]string{"a.md": "x", "folder/x": ""})
	for output, want := range map[string]struct {
		code fault.Code
		text string
	}{
		filepath.Join(dir, "none", "a.html"):         {fault.StoreUnavailable, "no such file or directory"},
		filepath.Join(dir, "folder"):                 {fault.StoreUnavailable, "is a directory"},
		filepath.Join(dir, strings.Repeat("n", 300)): {fault.StoreUnavailable, "name too long"},
	} {
		t.Run(output, func(t *testing.T) {
			_, err := c.Convert(t.Context(), local.Input{Path: filepath.Join(dir, "a.md"), Output: output})
			if fault.CodeOf(err) != want.code || !strings.Contains(local.Message(err), want.text) ||
				!strings.Contains(local.Message(err), output) {
				t.Errorf("got error %v, want %s with %q and the path", err, want.code, want.text)
			}
		})
	}

	if got := listFolder(t, dir); len(got) != 2 {
		t.Errorf("the folder has %v, want nothing new", got)
	}
}

// The test uses a pipe of its own instead of a device, which a mistake could replace when it runs as root.
func TestAPipeOrDeviceIsWrittenToAndNeverReplaced(t *testing.T) {
	t.Parallel()
	c := startConverter(t, local.Options{Output: presswork.HTML})
	dir := writeFiles(t, map[string]string{"a.md": "# Hello"})

	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	// Open both ends, so that no side blocks until the other is opened.
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
		t.Errorf("read %q, %v from the pipe; want the head of the document", head, err)
	}
	go io.Copy(io.Discard, reader)
	<-out

	if info, err := os.Lstat(pipe); err != nil || info.Mode()&os.ModeNamedPipe == 0 {
		t.Errorf("the pipe was replaced: %v, %v", info, err)
	}
}

func TestAnInterruptionEndsTheWaitForAReader(t *testing.T) {
	t.Parallel()
	_, blockedWriter := io.Pipe() // nothing is read
	dir := writeFiles(t, map[string]string{"a.md": "# Hello"})

	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}

	for _, output := range []string{pipe, local.Std} {
		ctx, cancel := context.WithCancelCause(t.Context())
		cause := errors.New("interrupted")

		c := startConverter(
			t,
			local.Options{
				Output: presswork.HTML,
				Stdout: blockedWriter,
				Progress: func(_ string, stage presswork.Stage) {
					if stage == presswork.StageStoring { // cancel a moment later, when the write blocks
						time.AfterFunc(20*time.Millisecond, func() { cancel(cause) })
					}
				},
			},
		)

		_, err := c.Convert(ctx, local.Input{Path: filepath.Join(dir, "a.md"), Output: output})
		if !errors.Is(err, cause) {
			t.Errorf("%s: got error %v, want %v", output, err, cause)
		}
	}
}

// fullDisk fails each write, as a full disk does.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) {
	return 0, &os.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}
}

func TestAFullDiskIsNamed(t *testing.T) {
	t.Parallel()
	c := startConverter(t, local.Options{Output: presswork.HTML, Stdin: strings.NewReader("x"), Stdout: fullDisk{}})

	_, err := c.Convert(t.Context(), local.Input{Path: local.Std, Output: local.Std})
	if fault.CodeOf(err) != fault.StoreFull ||
		local.Message(err) != "cannot write standard output: no space left on device" {
		t.Errorf("got error %v, want %s", err, fault.StoreFull)
	}
}

// The test runs itself in a process that may only write files of a few kilobytes, as on a disk that is nearly full.
func TestAPartialWriteKeepsTheOlderResult(t *testing.T) {
	t.Parallel()

	const child = "PRESSWORK_TEST_LIMITED"
	if dir := os.Getenv(child); dir != "" {
		c := startConverter(t, local.Options{Output: presswork.HTML})

		_, err := c.Convert(t.Context(),
			local.Input{Path: filepath.Join(dir, "a.md"), Output: filepath.Join(dir, "a.html")})
		if fault.CodeOf(err) != fault.StoreUnavailable || !strings.Contains(local.Message(err), "file too large") {
			t.Errorf("got error %v, want that the file is too large", err)
		}

		return
	}
	dir := writeFiles(t, map[string]string{"a.md": strings.Repeat("word ", 10_000), "a.html": "older"})
	// Ignore the signal of the limit, so that the write fails instead.
	limited := exec.Command("sh", "-c", `trap "" XFSZ; ulimit -f 16; exec "$0" "$@"`, os.Args[0],
		"-test.run=^"+t.Name()+"$")

	limited.Env = append(os.Environ(), child+"="+dir)
	if output, err := limited.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, output)
	}

	if got := readFile(t, filepath.Join(dir, "a.html")); got != "older" {
		t.Errorf("the older result has %d bytes, want it unchanged", len(got))
	}

	if got := listFolder(t, dir); len(got) != 2 {
		t.Errorf("the folder has %v, want nothing new", got)
	}
}
