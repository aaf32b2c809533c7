//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sys/unix"
)

// stderrBytes is how many bytes of a program's stderr are kept. The rest is read and dropped, so that the program
// does not block.
const stderrBytes = 64 << 10

// gateScript waits until this process allows the start of the program. If this process was killed, the program
// does not start: bwrap notices the death of its parent only when the sandbox is complete.
const gateScript = `echo >&3; exec 3>&-; read -r go <&4 && exec "$@" 4<&-`

// Run runs one program to its end. An exit code other than 0 is no error. When Run returns, nothing of the program
// is left. Errors:
//   - *LimitError when the program exceeded a limit, with the Output until then
//   - the error of ctx
//   - exec.ErrNotFound when the program is not installed
//   - others when the sandbox could not be set up
func (b *Box) Run(ctx context.Context, c Command) (Output, error) {
	l, err := c.Limits.withDefaults()
	if err != nil {
		return Output{}, err
	}

	program, err := findProgram(c.Program)
	if err != nil {
		return Output{}, err
	}
	var given []*os.File
	pipe := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
		}

		return r, w
	}
	outR, outW := pipe()
	errR, errW := pipe()
	helloR, helloW := pipe()

	goR, goW := pipe()
	defer func() { closeAll([]*os.File{helloR, goW}) }()
	given = append(given, outW, errW, helloW, goR)

	var inR, inW *os.File
	if c.StdinFile != nil && err == nil {
		inR, err = memoryFile("stdin", c.StdinFile)
	} else if c.Stdin != nil {
		inR, inW = pipe()
	}

	given = append(given, inR)
	if err != nil {
		closeAll(append(given, outR, errR, inW))
		return Output{}, err
	}

	p, err := b.start(ctx, startOptions{
		program: program, argv: append([]string{"/bin/sh", "-c", gateScript, "sh", program}, c.Args...), env: c.Env,
		stdin: inR, stdout: outW, stderr: errW, more: []*os.File{helloW, goR}, inputs: c.Files, limits: l,
	})
	closeAll(given)

	if err != nil {
		err = withStderr(err, errR)
		closeAll([]*os.File{outR, errR, inW})

		return Output{}, err
	}

	defer context.AfterFunc(ctx, p.kill)()

	// The program may start only while this process lives: see gateScript.
	if _, err := helloR.Read(make([]byte, 1)); err == nil {
		_, _ = goW.Write([]byte{'\n'}) // an error means that the program has ended
	}

	if inW != nil {
		go func() {
			// The write fails if the program ends before it has read all of its input.
			_, _ = io.Copy(inW, c.Stdin)
			inW.Close()
		}()
	}
	out, writeErr := p.readOutputs(c.Stdout, l.Output, outR, errR)
	<-p.exited
	out.ExitCode = p.code
	out.Files, err = collect(p.folders[0], l.Disk)
	p.stop()

	switch over := p.exceededLimit(); {
	case over != nil:
		return out, over
	case ctx.Err() != nil:
		return out, context.Cause(ctx)
	case writeErr != nil:
		return out, writeErr
	default:
		return out, err
	}
}

// readOutputs reads stdout and stderr of the program to their ends, and closes them. It writes up to limit bytes of
// stdout to the writer, or into the result if that is nil. The error is that of the writer; it kills the program.
func (p *process) readOutputs(stdout io.Writer, limit int64, outR, errR *os.File) (out Output, writeErr error) {
	var read sync.WaitGroup
	read.Go(func() {
		defer outR.Close()
		var buf bytes.Buffer

		if stdout == nil {
			stdout = &buf
		}

		n, err := io.Copy(stdout, io.LimitReader(outR, limit+1)) // ends when all writers have closed the pipe
		if err != nil {
			writeErr = err
			p.kill()
		}

		if n > limit {
			p.killForLimit("output", size(limit))
		}
		out.Stdout = buf.Bytes()[:min(buf.Len(), int(limit))]
	})
	read.Go(func() {
		defer errR.Close()
		var buf bytes.Buffer
		_, _ = io.Copy(&buf, io.LimitReader(errR, stderrBytes))
		_, _ = io.Copy(io.Discard, errR)
		out.Stderr = buf.Bytes()
	})
	read.Wait()

	return out, writeErr
}

// memoryFile returns an anonymous file with content, to be read from its start. It is sealed against writes: a sandbox
// that could write to it would have memory that no limit counts.
func memoryFile(name string, content io.Reader) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("sandbox: memfd_create: %w", err)
	}

	f := os.NewFile(uintptr(fd), name)
	if _, err = io.Copy(f, content); err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}

	if err == nil {
		_, err = unix.FcntlInt(
			f.Fd(),
			unix.F_ADD_SEALS,
			unix.F_SEAL_WRITE|unix.F_SEAL_GROW|unix.F_SEAL_SHRINK|unix.F_SEAL_SEAL,
		)
	}

	if err != nil {
		f.Close()
		return nil, fmt.Errorf("sandbox: %w", err)
	}

	return f, nil
}

// withStderr adds the text that bwrap wrote to stderr to the error of start.
func withStderr(err error, stderr *os.File) error {
	words, _ := io.ReadAll(io.LimitReader(stderr, 4<<10))
	if text := strings.TrimSpace(string(words)); text != "" {
		return fmt.Errorf("%w: %s", err, text)
	}

	return err
}

// collect reads the regular files of a folder that a program has filled. It does not follow links, and opens other
// files only to see their type.
func collect(dir *os.File, limit int64) ([]File, error) {
	if _, err := dir.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}

	names, err := dir.Readdirnames(maxFiles)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("sandbox: read the outputs: %w", err)
	}
	slices.Sort(names)
	var files []File

	for _, name := range names {
		data, err := readRegular(dir, name, limit)
		if errors.Is(err, errNotRegular) || errors.Is(err, fs.ErrPermission) {
			continue
		}

		if err != nil {
			return nil, fmt.Errorf("sandbox: read the outputs: %w", err)
		}
		// limit is for all files together.
		files, limit = append(files, File{Name: name, Data: data}), limit-int64(len(data))
	}

	return files, nil
}

// maxFiles is the largest number of names in WorkDir that are read.
const maxFiles = 1000

var errNotRegular = errors.New("not a regular file")

// readRegular reads a file of a folder. Errors: errNotRegular, a *LimitError for more than limit bytes.
func readRegular(dir *os.File, name string, limit int64) ([]byte, error) {
	fd, err := unix.Openat(int(dir.Fd()), name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENXIO) {
		return nil, errNotRegular
	}

	if err != nil {
		return nil, err
	}

	f := os.NewFile(uintptr(fd), name)
	defer f.Close()

	info, err := f.Stat()
	if err != nil {
		return nil, err
	}

	if !info.Mode().IsRegular() {
		return nil, errNotRegular
	}
	// Sparse files are larger than the folder.
	if info.Size() > limit {
		return nil, &LimitError{Limit: "output", Allowed: size(limit)}
	}

	return io.ReadAll(io.LimitReader(f, limit))
}
