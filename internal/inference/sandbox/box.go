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

// ErrUnavailable is wrapped by the errors of Open where programs cannot be run
// behind the wall. The message says why, and how the machine's owner can allow it.
var ErrUnavailable = errors.New("no sandbox on this machine")

// Options are of a Box. The zero value is usable.
type Options struct {
	// Bubblewrap is the program bwrap, a file or a name in PATH. Default "bwrap".
	Bubblewrap string
	// UID is the user and group that a process running as root gives to what it
	// runs here. Nothing of the machine should belong to it, nor the browser to it.
	// Default 60912. Other processes keep their user.
	UID int
}

// defaultUID follows those of the two browsers, in the range that Debian's policy and
// systemd leave alone (60514 to 61183).
const defaultUID = 60912

func (o Options) withDefaults() (Options, error) {
	o.Bubblewrap = cmp.Or(o.Bubblewrap, "bwrap")

	o.UID = cmp.Or(o.UID, defaultUID)
	if o.UID < 1 {
		return o, fmt.Errorf("sandbox: UID is %d; allowed is 1 or more", o.UID)
	}

	return o, nil
}

// Limits of one program and all that it starts. A field that is 0 has its default.
type Limits struct {
	// Memory is what all processes have together, in bytes. Files in the sandbox
	// are memory, too, and come on top: see Disk. Default 512 MiB.
	Memory int64
	// CPU is the processor time of each process. Default 30 s.
	CPU time.Duration
	// Wall is the whole time. Default 60 s.
	Wall time.Duration
	// Processes is the number of processes and threads. Default 64.
	Processes int
	// Disk is what the folder of outputs may hold, in bytes, and the folder of
	// temporary files as much again. Default 64 MiB.
	Disk int64
	// Output is what is taken of stdout, in bytes; a program that writes more is
	// ended. Default 1 MiB.
	Output int64
}

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
			return l, fmt.Errorf("sandbox: limit %s is %d; the least is %d", f.name, f.n, f.least)
		}
	}

	return l, nil
}

// total returns the most memory that the processes and the files take together, in bytes.
func (l Limits) total() int64 { return l.Memory + 2*l.Disk + shmBytes }

// shmBytes is the size of /dev/shm: semaphores of multiprocessing lie there, and nothing large.
const shmBytes = 1 << 20

// File is a file that a program is given, or that it left.
type File struct {
	// Name is the file's, without a folder.
	Name string
	// Data is the content.
	Data []byte
}

// Paths that a program sees beside the system's.
const (
	// InputDir holds Command.Files, read-only.
	InputDir = "/data"
	// WorkDir is where the program starts, empty and writable. The regular files in
	// it at the end are Output.Files.
	WorkDir = "/work"
	// StdinPath is what a program opens to read Command.StdinFile.
	StdinPath = "/proc/self/fd/0"
)

// Command is one program to run.
type Command struct {
	// Program is a name in /usr/bin, /bin or /usr/local/bin, or a path below /usr.
	Program string
	Args    []string
	// Env is added to PATH, HOME, TMPDIR and LANG, each as NAME=value.
	Env []string
	// Stdin is what the program reads; nil is nothing.
	Stdin io.Reader
	// StdinFile is given in the place of Stdin: the program can seek in it, and open it again as
	// StdinPath. It is copied into memory once.
	StdinFile *io.SectionReader
	// Stdout is where the program's stdout goes as it comes, in the place of
	// Output.Stdout; Limits.Output bounds it all the same. Its error ends the program and is that of Run.
	Stdout io.Writer
	// Files are put into InputDir.
	Files  []File
	Limits Limits
}

// Output is what came of a program that was started.
type Output struct {
	// Stdout and Stderr are what it wrote, the latter up to 64 KiB.
	Stdout, Stderr []byte
	// Files are what it left in WorkDir, by name.
	Files []File
	// ExitCode is the program's; 128 and more is the signal that ended it.
	ExitCode int
}

// LimitError says that a program was ended because it was over a limit.
type LimitError struct {
	// Limit is "memory", "time", "processes", "files", "locks" or "output".
	Limit string
	// Allowed is the limit as a person reads it.
	Allowed string
}

// Error names the limit.
func (e *LimitError) Error() string {
	return fmt.Sprintf("the program was ended: more %s than %s", e.Limit, e.Allowed)
}

// Box runs programs behind the wall. It is safe for concurrent use.
type Box struct {
	wall
}

// Open finds the wall and tries it once. An error wraps ErrUnavailable where this
// machine has none.
func Open(ctx context.Context, opt Options) (*Box, error) {
	opt, err := opt.withDefaults()
	if err != nil {
		return nil, err
	}

	w, err := findWall(ctx, opt)
	if err != nil {
		return nil, err
	}
	b := &Box{wall: *w}

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

// probeTime is long for a machine that is busy: a probe takes 20 ms.
const probeTime = 30 * time.Second

// checkFiles reports names that are not those of files in one folder.
func checkFiles(files []File) error {
	seen := map[string]bool{}

	for _, f := range files {
		if f.Name == "" || f.Name == "." || f.Name == ".." || len(f.Name) > 255 || path.Base(f.Name) != f.Name ||
			strings.ContainsRune(f.Name, 0) {
			return fmt.Errorf("sandbox: %q is no name of a file", f.Name)
		}

		if seen[f.Name] {
			return fmt.Errorf("sandbox: two files are named %q", f.Name)
		}
		seen[f.Name] = true
	}

	return nil
}

// size is n bytes for a person to read.
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
