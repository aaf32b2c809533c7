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

// DiskOptions are where a Disk lies and how careful it is.
type DiskOptions struct {
	// Dir holds the objects; it is made when missing. Mandatory.
	Dir string
	// Volatile lists key prefixes whose objects are not forced to the medium:
	// a power cut may lose them, and never damages them. Default: Renders, the
	// cache of what can be printed again, and Passing. An empty non-nil list is none.
	Volatile []string
	// Log gets an error for each damaged object that was read. Default: discard.
	Log *slog.Logger
}

// Disk is a Store in a directory. An object is two files: the bytes under the
// key itself, so that a person finds artifacts/ID.pdf, and a hidden header
// beside it (.ID.pdf.json) with the rest of Info. Both are written under
// .tmp/, then renamed into place under an flock on .lock, header first: bytes
// make an object only together with a header that holds their size, so
// neither a crash nor a reader ever meets half of one. The lock is held for
// the renames alone, never while bytes are written or forced to the medium.
//
// No descriptor is kept between calls: a directory deleted under a running
// server is made anew by the next Put.
type Disk struct {
	DiskOptions
	// mu spares goroutines of this process the wait in flock, which would hold
	// a thread each.
	mu sync.Mutex
}

var _ Store = (*Disk)(nil)

const (
	tempDir  = ".tmp"
	lockFile = ".lock"
	// tempAge is when a temporary file can belong to no living Put.
	tempAge = time.Hour

	dirMode  = 0o750
	fileMode = 0o640
)

// OpenDisk makes the directory ready and deletes what crashed Puts left.
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

	return d, d.sweep(time.Now().Add(-tempAge))
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
	// A key already taken is seen before the bytes are read, for speed; what
	// counts is the same question in commit.
	if err := free(root, key); err != nil {
		return Info{}, fmt.Errorf("put %s: %w", key, err)
	}

	draft := d.newDraft(root, key)
	defer draft.discard()

	info, err := draft.fill(ctx, r, size, attrs)
	if err != nil {
		return Info{}, fmt.Errorf("put %s: %w", key, full(err))
	}

	if err := d.commit(draft); err != nil {
		return Info{}, fmt.Errorf("put %s: %w", key, full(err))
	}

	return info, nil
}

// full adds ErrFull to an error that means a lack of space or quota.
func full(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return fmt.Errorf("%w: %w", ErrFull, err)
	}

	return err
}

// Copy implements Store. Objects never change, so a copy is a hard link where
// the file system has them.
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

	if err := free(root, dst); err != nil {
		return Info{}, fmt.Errorf("copy to %s: %w", dst, err)
	}

	draft := d.newDraft(root, dst)
	defer draft.discard()
	source := Verified(f, info, d.Log)
	info.Key, info.Modified = dst, now()

	linked, err := draft.fillLinked(src, f, info)
	if !linked {
		info, err = draft.fill(ctx, source, info.Size, info.Attrs)
	}

	if err == nil {
		err = d.commit(draft)
	}

	if err != nil {
		return Info{}, fmt.Errorf("copy %s to %s: %w", src, dst, full(err))
	}

	return info, nil
}

// Delete implements Store. Directories left empty go as well.
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

		for dir := path.Dir(key); dir != "." && root.Remove(dir) == nil; dir = path.Dir(dir) {
		}

		return nil
	})
}

// Presign implements Store; a disk has no URLs.
func (d *Disk) Presign(context.Context, string, string, time.Duration) (string, error) {
	return "", ErrNotSupported
}

// Health implements Store: it writes, so that a read-only or full disk shows.
func (d *Disk) Health(context.Context) error {
	root, err := d.open()
	if err != nil {
		return err
	}
	defer root.Close()
	name := path.Join(tempDir, rand.Text())
	err = full(root.WriteFile(name, []byte("health\n"), fileMode))

	return errors.Join(err, root.Remove(name))
}

// open returns the store's directory, making what is missing of it.
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

// sweep deletes temporary files last written before the given time.
func (d *Disk) sweep(before time.Time) error {
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
