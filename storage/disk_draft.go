package storage

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"
)

// draft is an object in the making: two temporary files on the file system
// they will be renamed on.
type draft struct {
	root    *os.Root
	key     string
	durable bool
	// data and header are the names of the temporary files.
	data, header string
	// late are files of a durable object that are forced to the medium with their
	// names, not before.
	late []*os.File
}

func (d *Disk) newDraft(root *os.Root, key string) *draft {
	name := path.Join(tempDir, rand.Text())
	volatile := slices.ContainsFunc(d.Volatile, func(p string) bool { return strings.HasPrefix(key, p) })

	return &draft{root: root, key: key, durable: !volatile, data: name, header: name + ".json"}
}

// discard deletes what commit has not moved away.
func (w *draft) discard() {
	for _, f := range w.late {
		f.Close()
	}
	_ = w.root.Remove(w.data)
	_ = w.root.Remove(w.header)
}

// fill writes both files from r.
func (w *draft) fill(ctx context.Context, r io.Reader, size int64, attrs Attrs) (info Info, err error) {
	f, err := w.root.OpenFile(w.data, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fileMode)
	if err != nil {
		return Info{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	hash, to := sha256.New(), io.Writer(f)
	// The digest is most of the work.
	digested := !strings.HasPrefix(w.key, Passing)
	if digested {
		to = io.MultiWriter(f, hash)
	}

	n, err := io.Copy(to, Bounded(ctx, r, size))
	switch {
	case err != nil:
		return Info{}, err
	case size >= 0 && n != size:
		return Info{}, fmt.Errorf("%w: %d bytes were announced and %s came", ErrSize, size, count(n, size))
	}

	info = Info{
		Key:      w.key,
		Size:     n,
		Modified: now(),
		Attrs:    Attrs{ContentType: attrs.ContentType, Meta: maps.Clone(attrs.Meta)},
	}
	if digested {
		info.SHA256 = hex.EncodeToString(hash.Sum(nil))
	}

	h, err := w.writeHeader(info)
	if err != nil {
		return Info{}, err
	}

	defer func() { err = errors.Join(err, h.Close()) }()

	if !w.durable {
		return info, nil
	}
	// At once, so that the file system may do it in one go.
	return info, syncAll(f, h)
}

// fillLinked makes the data file a hard link of the object src, open as f, and writes
// the header. False means that the bytes must be copied: the file system has no hard
// links, or another object lies there by now.
//
// The bytes were an object before and a header cut short makes none, so both are
// forced to the medium together with their names: one wait where there would be two.
func (w *draft) fillLinked(src string, f *os.File, info Info) (linked bool, err error) {
	if w.root.Link(src, w.data) != nil {
		return false, nil
	}

	at, err := w.root.Lstat(w.data)
	if err == nil {
		var opened fs.FileInfo
		opened, err = f.Stat()
		linked = err == nil && os.SameFile(at, opened)
	}

	if !linked {
		_ = w.root.Remove(w.data)
		return false, nil
	}

	h, err := w.writeHeader(info)
	if err != nil {
		return true, err
	}

	if !w.durable {
		return true, h.Close()
	}
	w.late = []*os.File{f, h}

	return true, nil
}

// header is the form of Info on disk.
type header struct {
	Size        int64             `json:"size"`
	SHA256      string            `json:"sha256"`
	Created     time.Time         `json:"created"`
	ContentType string            `json:"content_type,omitempty"`
	Meta        map[string]string `json:"meta,omitempty"`
}

// writeHeader writes the header, and returns its open file.
func (w *draft) writeHeader(info Info) (*os.File, error) {
	b, err := json.Marshal(header{info.Size, info.SHA256, info.Modified, info.ContentType, info.Meta})
	if err != nil {
		return nil, err
	}

	f, err := w.root.OpenFile(w.header, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fileMode)
	if err != nil {
		return nil, err
	}

	if _, err := f.Write(append(b, '\n')); err != nil {
		return nil, errors.Join(err, f.Close())
	}

	return f, nil
}

// syncAll forces files to the medium.
func syncAll(files ...*os.File) error {
	var all errgroup.Group
	for _, f := range files {
		all.Go(f.Sync)
	}

	return all.Wait()
}

// commit moves a draft to its key, or fails with ErrExists.
func (d *Disk) commit(w *draft) error {
	var changed []string

	err := d.locked(w.root, func() error {
		if err := free(w.root, w.key); err != nil {
			return err
		}
		made, err := makeDirs(w.root, path.Dir(w.key))
		changed = append(made, path.Dir(w.key))

		if err != nil {
			return err
		}

		if err := w.root.Rename(w.header, headerOf(w.key)); err != nil {
			return err
		}

		return w.root.Rename(w.data, w.key)
	})
	if err != nil || !w.durable {
		return err
	}
	var all errgroup.Group
	all.Go(func() error {
		err := syncAll(w.late...)
		if err != nil {
			_, _ = w.root.Remove(w.key), w.root.Remove(headerOf(w.key))
		}

		return err
	})

	for _, dir := range changed {
		all.Go(func() error { return syncDir(w.root, dir) })
	}

	return all.Wait()
}

// locked runs f while no other process changes names in the store.
func (d *Disk) locked(root *os.Root, f func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()

	lock, err := root.OpenFile(lockFile, os.O_CREATE|os.O_RDWR, fileMode)
	if err != nil {
		return err
	}
	defer lock.Close() // and with it the lock goes

	for {
		err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
		if err == nil {
			return f()
		}

		if !errors.Is(err, syscall.EINTR) {
			return fmt.Errorf("lock %s: %w", lockFile, err)
		}
	}
}

// makeDirs is MkdirAll that returns in which directories it made one.
func makeDirs(root *os.Root, dir string) (changed []string, err error) {
	if dir == "." {
		return nil, nil
	}

	if _, err := root.Lstat(dir); err == nil {
		return nil, nil
	}

	if changed, err = makeDirs(root, path.Dir(dir)); err != nil {
		return changed, err
	}

	if err := root.Mkdir(dir, dirMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return changed, err
	}

	return append(changed, path.Dir(dir)), nil
}

// syncDir forces the names in a directory to the medium.
func syncDir(root *os.Root, dir string) error {
	f, err := root.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the object was deleted meanwhile, and its directory with it
	}

	if err != nil {
		return err
	}

	defer f.Close()
	// Some network file systems cannot sync a directory, and need not.
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}

	return nil
}

func count(n, size int64) string {
	if n > size {
		return "more"
	}

	return fmt.Sprint(n)
}

// now is the present in the precision that survives a header.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

func headerOf(key string) string {
	dir, base := path.Split(key)
	return dir + "." + base + ".json"
}
