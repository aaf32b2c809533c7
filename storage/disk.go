package storage

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"sync"
	"syscall"
	"time"
)

// DiskOptions sets the directory of a Disk and which objects it flushes.
type DiskOptions struct {
	// Dir holds the objects; OpenDisk creates it if it does not exist. Mandatory.
	Dir string
	// Volatile lists key prefixes whose objects are not flushed to the medium: a power
	// cut may lose them, but never damages them. Default: Renders and Passing, which can
	// be computed or sent again. An empty list that is not nil flushes every object.
	Volatile []string
	// Log gets an error for each damaged object that was read. Default: discard.
	Log *slog.Logger
}

// Disk is a Store in a directory. An object is two files: its bytes, for example
// artifacts/ID.pdf, and a hidden header (.ID.pdf.json) with the rest of Info. Both are
// written below .tmp/ and then renamed under an flock on .lock, the header first. Bytes
// are an object only together with a header that has their size. A reader therefore
// never gets a partial object, not even after a crash. The lock is held for the renames
// only, not while bytes are written or flushed.
//
// No descriptor is kept between calls: when the directory of a running server is
// deleted, the next Put creates it again.
type Disk struct {
	DiskOptions
	// mu lets only one goroutine of this process wait in flock, because each wait
	// there occupies a thread.
	mu sync.Mutex
}

var _ Store = (*Disk)(nil)

const (
	// Both names begin with a dot, so that CheckKey allows no object there.
	tempDir  = ".tmp"
	lockFile = ".lock"
	// tempAge is the age from which on a temporary file counts as left by a crashed Put.
	tempAge = time.Hour

	dirMode  = 0o750
	fileMode = 0o640
)

// OpenDisk creates the directory if necessary, checks that it is writable and deletes the temporary files of
// crashed Puts. Errors: Dir is empty, the directory cannot be created or written, or
// temporary files cannot be deleted.
func OpenDisk(o DiskOptions) (*Disk, error) {
	if o.Dir == "" {
		return nil, errors.New("storage: DiskOptions.Dir is empty")
	}

	if o.Volatile == nil {
		o.Volatile = []string{Renders, Passing}
	}

	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}

	d := &Disk{DiskOptions: o}
	if err := d.Health(context.Background()); err != nil {
		return nil, err
	}

	return d, d.deleteTemporary(time.Now().Add(-tempAge))
}

// Put implements Store.
func (d *Disk) Put(ctx context.Context, key string, r io.Reader, size int64, attrs Attrs) (Info, error) {
	if err := errors.Join(CheckKey(key), attrs.Check()); err != nil {
		return Info{}, err
	}

	root, err := d.open()
	if err != nil {
		return Info{}, err
	}
	defer root.Close()
	// Check now, so that a taken key fails before the bytes are read. commit checks again under the lock.
	if err := checkFree(root, key); err != nil {
		return Info{}, fmt.Errorf("put %s: %w", key, err)
	}

	p := d.newPartial(root, key)
	defer p.discard()

	info, err := p.fill(ctx, r, size, attrs)
	if err != nil {
		return Info{}, fmt.Errorf("put %s: %w", key, withErrFull(err))
	}

	if err := d.commit(p); err != nil {
		return Info{}, fmt.Errorf("put %s: %w", key, withErrFull(err))
	}

	return info, nil
}

// withErrFull adds ErrFull to an error that means that there is no space or quota left.
func withErrFull(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w: %w", ErrFull, err)
	}

	return err
}

// Copy implements Store. Objects never change, so a copy is a hard link if the file
// system has hard links.
func (d *Disk) Copy(ctx context.Context, src, dst string) (Info, error) {
	if err := errors.Join(CheckKey(src), CheckKey(dst)); err != nil {
		return Info{}, err
	}

	root, err := d.open()
	if err != nil {
		return Info{}, err
	}
	defer root.Close()

	f, info, err := openObject(root, src)
	if err != nil {
		return Info{}, fmt.Errorf("copy %s: %w", src, err)
	}
	defer f.Close()

	if err := checkFree(root, dst); err != nil {
		return Info{}, fmt.Errorf("copy to %s: %w", dst, err)
	}

	p := d.newPartial(root, dst)
	defer p.discard()
	source := Verified(f, info, d.Log) // before info changes: it logs the key of the source
	info.Key, info.Modified = dst, now()

	linked, err := p.fillLinked(src, f, info)
	if !linked {
		info, err = p.fill(ctx, source, info.Size, info.Attrs)
	}

	if err == nil {
		err = d.commit(p)
	}

	if err != nil {
		return Info{}, fmt.Errorf("copy %s to %s: %w", src, dst, withErrFull(err))
	}

	return info, nil
}

// Delete implements Store. It also removes directories that become empty.
func (d *Disk) Delete(_ context.Context, key string) error {
	if err := CheckKey(key); err != nil {
		return err
	}

	root, err := d.open()
	if err != nil {
		return err
	}
	defer root.Close()

	if _, err := root.Lstat(key); err != nil && errors.Is(notFound(err), ErrNotFound) {
		return nil
	}

	return d.locked(root, func() error {
		for _, name := range []string{key, headerOf(key)} {
			if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("delete %s: %w", key, err)
			}
		}

		// Remove fails for a directory that is not empty, which ends the loop.
		for dir := path.Dir(key); dir != "." && root.Remove(dir) == nil; dir = path.Dir(dir) {
		}

		return nil
	})
}

// Presign implements Store. It returns ErrNotSupported: a disk has no URLs.
func (d *Disk) Presign(context.Context, string, string, time.Duration) (string, error) {
	return "", ErrNotSupported
}

// Health implements Store. It writes a file, so that it fails on a read-only or full disk.
func (d *Disk) Health(context.Context) error {
	root, err := d.open()
	if err != nil {
		return err
	}
	defer root.Close()
	name := path.Join(tempDir, rand.Text())
	err = withErrFull(root.WriteFile(name, []byte("health\n"), fileMode))

	return errors.Join(err, root.Remove(name))
}

// open opens the directory of the store. It creates what does not exist.
func (d *Disk) open() (*os.Root, error) {
	root, err := os.OpenRoot(d.Dir)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(d.Dir, dirMode); err != nil {
			return nil, fmt.Errorf("storage: %w", err)
		}
		root, err = os.OpenRoot(d.Dir)
	}

	if err != nil {
		return nil, fmt.Errorf("storage: %w", err)
	}

	if _, err := root.Lstat(tempDir); errors.Is(err, fs.ErrNotExist) {
		if err := root.Mkdir(tempDir, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
			root.Close()
			return nil, fmt.Errorf("storage: %w", err)
		}
	}

	return root, nil
}

// deleteTemporary deletes temporary files last written before the given time. Younger ones may be those of a Put
// that still runs.
func (d *Disk) deleteTemporary(before time.Time) error {
	root, err := d.open()
	if err != nil {
		return err
	}
	defer root.Close()

	entries, err := fs.ReadDir(root.FS(), tempDir)
	if err != nil {
		return fmt.Errorf("storage: %w", err)
	}

	for _, e := range entries {
		info, err := e.Info()
		if err != nil || info.ModTime().After(before) {
			continue
		}

		if err := root.Remove(path.Join(tempDir, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("storage: %w", err)
		}
	}

	return nil
}
