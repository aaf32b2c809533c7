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

// partial is an object that is not yet visible: two temporary files below tempDir, so
// on the file system on which they will be renamed.
type partial struct {
	root *os.Root
	key  string
	// durable is set if the object must survive a power cut.
	durable bool
	// data and header are the names of the temporary files.
	data, header string
	// unflushed holds open files of a durable object that commit flushes together with
	// their names.
	unflushed []*os.File
}

// newPartial returns an object without files. Call discard when done, also after commit.
func (d *Disk) newPartial(root *os.Root, key string) *partial {
	name := path.Join(tempDir, rand.Text())

	return &partial{root: root, key: key, durable: d.durable(key), data: name, header: name + ".json"}
}

// durable reports whether an object survives a power cut once Put has returned.
func (d *Disk) durable(key string) bool {
	return !slices.ContainsFunc(d.Volatile, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
}

// discard closes and deletes the files that commit has not renamed. After commit there are none to delete.
func (p *partial) discard() {
	for _, f := range p.unflushed {
		f.Close()
	}
	_ = p.root.Remove(p.data)
	_ = p.root.Remove(p.header)
}

// fill writes both files with the bytes of r. size is their number, or -1.
func (p *partial) fill(ctx context.Context, r io.Reader, size int64, attrs Attrs) (info Info, err error) {
	f, err := p.root.OpenFile(p.data, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fileMode)
	if err != nil {
		return Info{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	hash, dest := sha256.New(), io.Writer(f)
	// Objects under Passing get no digest: they are read once, and the digest would take most of the time.
	hasDigest := !strings.HasPrefix(p.key, Passing)
	if hasDigest {
		dest = io.MultiWriter(f, hash)
	}

	n, err := io.Copy(dest, Bounded(ctx, r, size))
	switch {
	case err != nil:
		return Info{}, err
	case size >= 0 && n != size:
		return Info{}, fmt.Errorf("%w: %d bytes were announced and %s arrived", ErrSize, size, arrived(n, size))
	}

	info = Info{
		Key:      p.key,
		Size:     n,
		Modified: now(),
		Attrs:    Attrs{ContentType: attrs.ContentType, Meta: maps.Clone(attrs.Meta)},
	}
	if hasDigest {
		info.SHA256 = hex.EncodeToString(hash.Sum(nil))
	}

	h, err := p.writeHeader(info)
	if err != nil {
		return Info{}, err
	}

	defer func() { err = errors.Join(err, h.Close()) }()

	if !p.durable {
		return info, nil
	}
	// Both files in parallel: the file system may write them in one transaction.
	return info, syncAll(f, h)
}

// fillLinked makes the data file a hard link to the object src, open as f, and writes
// the header. It returns false when the caller must copy the bytes: the file system has
// no hard links, or src has been replaced by another object.
//
// It leaves the flush to commit, which then waits once for files and names. A power cut
// before that leaves at worst a partial object, because the linked bytes are complete.
func (p *partial) fillLinked(src string, f *os.File, info Info) (linked bool, err error) {
	if p.root.Link(src, p.data) != nil {
		return false, nil
	}

	link, err := p.root.Lstat(p.data)
	if err == nil {
		var opened fs.FileInfo
		opened, err = f.Stat()
		linked = err == nil && os.SameFile(link, opened)
	}

	if !linked {
		_ = p.root.Remove(p.data)
		return false, nil
	}

	h, err := p.writeHeader(info)
	if err != nil {
		return true, err
	}

	if !p.durable {
		return true, h.Close()
	}
	p.unflushed = []*os.File{f, h}

	return true, nil
}

// header is the form of Info on disk.
type header struct {
	Size int64 `json:"size"`
	// SHA256 is "" for objects under Passing.
	SHA256 string `json:"sha256"`
	// Created is Info.Modified.
	Created     time.Time         `json:"created"`
	ContentType string            `json:"content_type,omitempty"`
	Meta        map[string]string `json:"meta,omitempty"`
}

// writeHeader writes the header file and returns it open.
func (p *partial) writeHeader(info Info) (*os.File, error) {
	b, err := json.Marshal(header{info.Size, info.SHA256, info.Modified, info.ContentType, info.Meta})
	if err != nil {
		return nil, err
	}

	f, err := p.root.OpenFile(p.header, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fileMode)
	if err != nil {
		return nil, err
	}

	if _, err := f.Write(append(b, '\n')); err != nil {
		return nil, errors.Join(err, f.Close())
	}

	return f, nil
}

// syncAll flushes files to the medium in parallel.
func syncAll(files ...*os.File) error {
	var all errgroup.Group
	for _, f := range files {
		all.Go(f.Sync)
	}

	return all.Wait()
}

// commit renames the files of a partial object to its key. It returns ErrExists when the
// key is taken. A durable object is on the medium when commit returns nil.
func (d *Disk) commit(p *partial) error {
	var changed []string // the directories to flush

	err := d.locked(p.root, func() error {
		if err := checkFree(p.root, p.key); err != nil {
			return err
		}
		parents, err := makeDirs(p.root, path.Dir(p.key))
		changed = append(parents, path.Dir(p.key))

		if err != nil {
			return err
		}

		// The header goes first: bytes under a key must never lack their header.
		if err := p.root.Rename(p.header, headerOf(p.key)); err != nil {
			return err
		}

		return p.root.Rename(p.data, p.key)
	})
	if err != nil || !p.durable {
		return err
	}
	var all errgroup.Group
	all.Go(func() error {
		err := syncAll(p.unflushed...)
		if err != nil { // commit must not leave an object that may be lost
			_, _ = p.root.Remove(p.key), p.root.Remove(headerOf(p.key))
		}

		return err
	})

	for _, dir := range changed {
		all.Go(func() error { return syncDir(p.root, dir) })
	}

	return all.Wait()
}

// locked calls f while it holds the lock of the store: only one process at a time renames or deletes objects. It
// returns the error of f, or that of taking the lock.
func (d *Disk) locked(root *os.Root, f func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()

	lock, err := root.OpenFile(lockFile, os.O_CREATE|os.O_RDWR, fileMode)
	if err != nil {
		return err
	}
	defer lock.Close() // releases the lock

	for {
		err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX)
		if err == nil {
			return f()
		}

		if !errors.Is(err, syscall.EINTR) { // a signal has ended the wait
			return fmt.Errorf("lock %s: %w", lockFile, err)
		}
	}
}

// makeDirs is MkdirAll. It returns the directories in which it created one.
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

// syncDir flushes the names in a directory to the medium.
func syncDir(root *os.Root, dir string) error {
	f, err := root.Open(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the object and its directory have been deleted
	}

	if err != nil {
		return err
	}

	defer f.Close()
	// Some network file systems store names at once and refuse to sync a directory.
	if err := f.Sync(); err != nil && !errors.Is(err, syscall.EINVAL) && !errors.Is(err, syscall.ENOTSUP) {
		return err
	}

	return nil
}

// arrived describes how many bytes of a reader arrived. Bounded ends one byte after size, so their number is not known
// beyond that.
func arrived(n, size int64) string {
	if n > size {
		return "more"
	}

	return fmt.Sprint(n)
}

// now returns the current time in milliseconds, the precision of a header.
func now() time.Time { return time.Now().UTC().Truncate(time.Millisecond) }

// headerOf returns the name of the header of an object.
func headerOf(key string) string {
	dir, base := path.Split(key)
	return dir + "." + base + ".json"
}
