package local

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"presswork/internal/fault"
)

// WriteResult writes data to a path in Options.Roots, or anywhere without them, or to Options.Stdout for Std. If it
// fails, an earlier file stays. Errors: Forbidden, and those of WriteFile.
func (c *Converter) WriteResult(ctx context.Context, path string, data []byte) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	if path == Std {
		return writeWaiting(ctx, "standard output", func() error {
			_, err := c.o.Stdout.Write(data)
			return err
		})
	}

	if c.roots != nil {
		return c.writeInRoots(ctx, path, data)
	}

	return WriteFile(ctx, path, data)
}

// WriteFile writes data to path. If it fails, an earlier file stays. Errors: StoreFull, StoreUnavailable, the
// cause of ctx.
func WriteFile(ctx context.Context, path string, data []byte) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}

	info, err := os.Lstat(path)
	switch {
	case err == nil && isStandard(path):
		return writeWaiting(ctx, path, func() error { return writeThrough(path, data, 0) })
	case err == nil && info.Mode()&os.ModeSymlink != 0:
		// A link in a folder that others can write to could lead the output anywhere.
		return fault.Errorf(fault.StoreUnavailable,
			"cannot write %s: it is a symbolic link; name what it points to, or remove it", path)
	case err == nil && !info.IsDir() && !info.Mode().IsRegular():
		// A device or a pipe is written to, not replaced.
		return writeWaiting(ctx, path, func() error { return writeThrough(path, data, syscall.O_NOFOLLOW) })
	}

	return unwritable(path, writeFile(path, data))
}

// isStandard reports whether path is one of the system's links to the open files of this process. They are symbolic
// links, but lead only to files that this process has already.
func isStandard(path string) bool {
	return path == "/dev/stdout" || path == "/dev/stderr" || strings.HasPrefix(path, "/dev/fd/") ||
		strings.HasPrefix(path, "/proc/self/fd/")
}

// writeWaiting calls write for an output that may block, such as a pipe without a reader. ctx ends the wait.
func writeWaiting(ctx context.Context, path string, write func() error) error {
	_, err := Waiting(ctx, func() (struct{}, error) { return struct{}{}, unwritable(path, write()) })
	return err
}

// Waiting returns the result of do, or the cause of ctx if ctx ends first. do then continues in the background: a read
// or write of a pipe cannot be ended.
func Waiting[T any](ctx context.Context, do func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)

	go func() {
		value, err := do()
		done <- outcome{value, err}
	}()

	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		var none T
		return none, context.Cause(ctx)
	}
}

// writeFile replaces the file at path by a complete one.
func writeFile(path string, data []byte) error {
	folder, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer folder.Close()

	return replaceFile(folder, filepath.Base(path), data)
}

// replaceFile writes data to the file with this name in a folder. If it fails, an earlier file stays.
func replaceFile(folder *os.Root, name string, data []byte) (err error) {
	mode := os.FileMode(0)

	switch info, err := folder.Lstat(name); {
	case err != nil: // the file does not exist, or the steps below return the error
	case info.IsDir():
		return syscall.EISDIR
	default:
		mode = info.Mode().Perm()
	}
	// The file is in the same folder, so that the rename is atomic. It has the umask of the process, unlike a file
	// of os.CreateTemp.
	temp := filepath.Join(filepath.Dir(name), ".presswork-"+rand.Text()+".tmp")

	f, err := folder.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}

	defer func() {
		if err != nil {
			err = errors.Join(err, folder.Remove(temp))
		}
	}()

	_, err = f.Write(data)
	if err == nil && mode != 0 {
		err = f.Chmod(mode)
	}

	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}

	return folder.Rename(temp, name)
}

// writeThrough writes to an existing file, such as a pipe or a device.
func writeThrough(path string, data []byte, flags int) error {
	f, err := os.OpenFile(path, os.O_WRONLY|flags, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)

	return errors.Join(err, f.Close())
}
