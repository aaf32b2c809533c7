package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"time"
)

// ErrUnavailable is wrapped by the errors of Open when this machine cannot run programs in the sandbox. The
// message has the reason and how to allow it.
var ErrUnavailable = errors.New("no sandbox on this machine")

// Options configures a Box. The zero value is usable.
type Options struct {
	// Bubblewrap is the program bwrap, a file or a name in PATH. Default "bwrap".
	Bubblewrap string
	// UID is the user and group of sandboxed programs if this process runs as root. It should own no files, and
	// the browser should not use it. Default 60912. Otherwise programs run as the user of this process.
	UID int
}

// defaultUID follows the users of the two browsers. Debian's policy and systemd do not use this range (60514 to
// 61183).
const defaultUID = 60912

// withDefaults replaces zero values by their defaults, and checks the UID.
func (o Options) withDefaults() (Options, error) {
	o.Bubblewrap = cmp.Or(o.Bubblewrap, "bwrap")

	o.UID = cmp.Or(o.UID, defaultUID)
	if o.UID < 1 {
		return o, fmt.Errorf("sandbox: UID is %d; allowed is 1 or more", o.UID)
	}

	return o, nil
}

// Limits bounds one program with all its processes. A field that is 0 has its default.
type Limits struct {
	// Memory bounds the memory of all processes together, in bytes. Files in the sandbox also take memory, in
	// addition to this: see Disk. Default 512 MiB.
	Memory int64
	// CPU is the processor time of each process. Default 30 s.
	CPU time.Duration
	// Wall is the total time. Default 60 s.
	Wall time.Duration
	// Processes is the number of processes and threads. Default 64.
	Processes int
	// Disk bounds the folder of outputs in bytes, and the folder of temporary files separately. Default 64 MiB.
	Disk int64
	// Output bounds stdout in bytes. A program that writes more is killed. Default 1 MiB.
	Output int64
}

// withDefaults replaces zero values by their defaults. The error names a limit that is too small.
func (l Limits) withDefaults() (Limits, error) {
	l.Memory = cmp.Or(l.Memory, 512<<20)
	l.CPU = cmp.Or(l.CPU, 30*time.Second)
	l.Wall = cmp.Or(l.Wall, time.Minute)
	l.Processes = cmp.Or(l.Processes, 64)
	l.Disk = cmp.Or(l.Disk, 64<<20)

	l.Output = cmp.Or(l.Output, 1<<20)
	for _, f := range []struct {
		name     string
		n, least int64
	}{
		{"Memory", l.Memory, 16 << 20},
		{"CPU", int64(l.CPU), int64(time.Second)},
		{"Wall", int64(l.Wall), 1},
		{"Processes", int64(l.Processes), 4},
		{"Disk", l.Disk, 4 << 10},
		{"Output", l.Output, 1},
	} {
		if f.n < f.least {
			return l, fmt.Errorf("sandbox: limit %s is %d; the minimum is %d", f.name, f.n, f.least)
		}
	}

	return l, nil
}

// total returns the most memory that processes and files take together, in bytes.
func (l Limits) total() int64 { return l.Memory + 2*l.Disk + shmBytes }

// shmBytes is the size of /dev/shm, which holds semaphores of multiprocessing and nothing large.
const shmBytes = 1 << 20

// File is an input or an output of a program.
type File struct {
	// Name is the file name without a folder.
	Name string
	// Data is the content.
	Data []byte
}

// Paths in the sandbox in addition to those of the system.
const (
	// InputDir holds Command.Files, read-only.
	InputDir = "/data"
	// WorkDir is the working directory of the program, empty and writable. The regular files in it at the end are
	// Output.Files.
	WorkDir = "/work"
	// StdinPath is the path of Command.StdinFile for the program.
	StdinPath = "/proc/self/fd/0"
)

// Command is one program to run.
type Command struct {
	// Program is a name in /usr/bin, /bin or /usr/local/bin, or a path below /usr.
	Program string
	Args    []string
	// Env is added to PATH, HOME, TMPDIR and LANG, each as NAME=value.
	Env []string
	// Stdin is the input of the program; nil is empty.
	Stdin io.Reader
	// StdinFile replaces Stdin with a file in which the program can seek, and which it can open again as
	// StdinPath. It is copied into memory once.
	StdinFile *io.SectionReader
	// Stdout receives the program's stdout instead of Output.Stdout, within Limits.Output. If a write fails, Run
	// kills the program and returns the error.
	Stdout io.Writer
	// Files are placed in InputDir.
	Files  []File
	Limits Limits
}

// Output is the result of a program that was started.
type Output struct {
	// Stdout and Stderr are its outputs, Stderr up to 64 KiB.
	Stdout, Stderr []byte
	// Files are its files in WorkDir, sorted by name.
	Files []File
	// ExitCode is that of the program; 128 and more is the signal that ended it.
	ExitCode int
}

// LimitError reports that a program was ended because it exceeded a limit.
type LimitError struct {
	// Limit is "memory", "time", "processes", "files", "locks" or "output".
	Limit string
	// Allowed is the limit in readable form.
	Allowed string
}

// Error returns a message with the limit.
func (e *LimitError) Error() string {
	return fmt.Sprintf("the program was ended: more %s than %s", e.Limit, e.Allowed)
}

// Box runs programs in a sandbox. It is safe for concurrent use.
type Box struct {
	bubblewrap
}

// Open sets up the sandbox and tests it once. The error wraps ErrUnavailable if this machine cannot run one.
func Open(ctx context.Context, opt Options) (*Box, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return nil, err
	}

	w, err := findBubblewrap(ctx, opt)
	if err != nil {
		return nil, err
	}
	b := &Box{bubblewrap: *w}

	ctx, cancel := context.WithTimeout(ctx, probeTime)
	defer cancel()

	out, err := b.Run(ctx, Command{Program: "true"})
	if err != nil {
		return nil, b.unavailable(err)
	}

	if out.ExitCode != 0 {
		return nil, b.unavailable(fmt.Errorf("exit status %d: %s", out.ExitCode, strings.TrimSpace(string(out.Stderr))))
	}

	return b, nil
}

// probeTime bounds the start of a sandbox. That takes 20 ms, but the machine may be busy.
const probeTime = 30 * time.Second

// checkFiles returns an error for names that are not file names in one folder.
func checkFiles(files []File) error {
	seen := map[string]bool{}

	for _, f := range files {
		// A name must be one element of a path, so that the file is inside /data.
		if f.Name == "" || f.Name == "." || f.Name == ".." || len(f.Name) > 255 || path.Base(f.Name) != f.Name ||
			strings.ContainsRune(f.Name, 0) {
			return fmt.Errorf("sandbox: %q is not a file name", f.Name)
		}

		if seen[f.Name] {
			return fmt.Errorf("sandbox: two files are named %q", f.Name)
		}
		seen[f.Name] = true
	}

	return nil
}

// size returns n bytes in readable form.
func size(n int64) string {
	switch {
	case n >= 1<<20:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10:
		return fmt.Sprintf("%d KiB", n>>10)
	default:
		return fmt.Sprintf("%d bytes", n)
	}
}
