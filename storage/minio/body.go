package minio

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"presswork/storage"
)

// spoolMemory is the longest stream that is kept in memory, in bytes. Longer streams go
// to a temporary file.
const spoolMemory = 1 << 20

// body is the body of a Put with its size and digest.
type body struct {
	io.ReadSeeker
	size   int64
	sha256 string   // of the whole body, in hex
	file   *os.File // the spool, or nil
}

// close frees the temporary file, if there is one.
func (b body) close() {
	if b.file != nil {
		b.file.Close()
	}
}

// readBody reads r to its end and returns a body that can be read again. size is the
// expected number of bytes, or -1.
func readBody(ctx context.Context, r io.Reader, size int64) (_ body, err error) {
	hash := sha256.New()
	limited := storage.Bounded(ctx, r, size)

	var b body
	if seeker, start, ok := seekable(r); ok {
		if b.size, err = io.Copy(hash, limited); err == nil {
			b.ReadSeeker = section{seeker, start}
			_, err = b.Seek(0, io.SeekStart)
		}
	} else {
		err = b.spool(io.TeeReader(limited, hash))
	}

	if err == nil && size >= 0 && b.size != size {
		err = fmt.Errorf("%w: %d bytes were announced and another number arrived", storage.ErrSize, size)
	}

	if err != nil {
		b.close()
		return body{}, err
	}
	b.sha256 = hex.EncodeToString(hash.Sum(nil))

	return b, nil
}

// spool sets the bytes of the body to those of r, in memory or in a temporary file.
func (b *body) spool(r io.Reader) error {
	var head bytes.Buffer

	n, err := io.CopyN(&head, r, spoolMemory)
	if errors.Is(err, io.EOF) {
		b.ReadSeeker, b.size = bytes.NewReader(head.Bytes()), n
		return nil
	}

	if err != nil {
		return err
	}

	if b.file, err = os.CreateTemp("", "presswork-upload-"); err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	// The system frees a file without a name when its descriptor is closed, also after a crash.
	if err := os.Remove(b.file.Name()); err != nil {
		return fmt.Errorf("spool: %w", err)
	}

	if b.size, err = io.Copy(b.file, io.MultiReader(&head, r)); err != nil {
		return err
	}
	b.ReadSeeker = b.file
	_, err = b.Seek(0, io.SeekStart)

	return err
}

// seekable reports whether r can be read again, and returns its current offset. The file
// of a pipe has the method Seek, but Seek fails.
func seekable(r io.Reader) (_ io.ReadSeeker, start int64, ok bool) {
	s, ok := r.(io.ReadSeeker)
	if !ok {
		return nil, 0, false
	}
	start, err := s.Seek(0, io.SeekCurrent)

	return s, start, err == nil
}

// section is a seeker whose offset 0 is start.
type section struct {
	io.ReadSeeker
	start int64
}

// Seek implements io.Seeker.
func (s section) Seek(offset int64, whence int) (int64, error) {
	if whence == io.SeekStart {
		offset += s.start
	}
	n, err := s.ReadSeeker.Seek(offset, whence)

	return n - s.start, err
}
