// Package plainfile reads configured files: regular ones of a bounded size. A
// pipe would hang its reader for as long as nobody writes to it, and a device
// may have no end.
package plainfile

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// ErrNotRegular: a pipe, a device, a socket or a folder lies there.
var ErrNotRegular = errors.New("it is not a regular file")

// Flags open a file without waiting for a pipe's other end, and without taking a
// terminal; ReadAll then says whether it is one to read.
const Flags = os.O_RDONLY | syscall.O_NONBLOCK | syscall.O_NOCTTY

// Read returns the content of the file at path, or of the one a link there leads
// to. Errors: ErrNotRegular, one that names the limit, the system's.
func Read(path string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(path, Flags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, limit)
}

// ReadAll is Read of a file that was opened with Flags.
func ReadAll(f *os.File, limit int64) ([]byte, error) {
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
