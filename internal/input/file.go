package input

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// ErrNotRegular is returned if the path leads to a pipe, a device, a socket or a folder.
var ErrNotRegular = errors.New("it is not a regular file")

// OpenFlags open a file without blocking on a pipe and without acquiring a terminal. A pipe without a writer would
// block its reader, and a device may have no end. ReadOpened then rejects everything but regular files.
const OpenFlags = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOCTTY

// ReadFile returns the content of the file at path and follows links. Errors: ErrNotRegular, an error that names
// the limit in bytes, and those of the system.
func ReadFile(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, OpenFlags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()

	return ReadOpened(f, limit)
}

// ReadOpened is ReadFile for a file that was opened with OpenFlags. It does not close the file. Errors: those of
// ReadFile.
func ReadOpened(f *os.File, limit int64) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}

	if !info.Mode().IsRegular() {
		return nil, ErrNotRegular
	}

	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}

	if int64(len(data)) > limit {
		return nil, fmt.Errorf("it has more than %d bytes", limit)
	}

	return data, nil
}
