package local

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// write puts all of data at path, or leaves there what was there.
func (c *Converter) write(ctx context.Context, path string, data []byte) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if path == Std {
		_, err := c.o.Stdout.Write(data)
		return unwritable("standard output", err)
	}
	return unwritable(path, writeFile(path, data))
}

func writeFile(path string, data []byte) (err error) {
	// A link stays a link: what it points to is replaced.
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	mode := os.FileMode(0)
	switch info, err := os.Stat(path); {
	case err != nil: // nothing is there, or the steps below say what is wrong
	case info.IsDir():
		return syscall.EISDIR
	case !info.Mode().IsRegular():
		// A device or a pipe is written to, never replaced.
		return writeThrough(path, data)
	default:
		mode = info.Mode().Perm()
	}
	// In the same folder, so that the rename is one step. Made with the process's
	// umask, which os.CreateTemp would not follow.
	temp := filepath.Join(filepath.Dir(path), ".presswork-"+rand.Text()+".tmp")
	f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(temp))
		}
	}()
	_, err = f.Write(data)
	if err == nil && mode != 0 {
		err = f.Chmod(mode)
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	return os.Rename(temp, path)
}

func writeThrough(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
