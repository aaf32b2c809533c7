package storage

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
)

// Get implements Store.
func (d *Disk) Get(ctx context.Context, key string, rng Range) (io.ReadCloser, Info, error) {
	f, info, err := d.find(ctx, key)
	if err != nil {
		return nil, Info{}, err
	}

	off, n, err := rng.Within(info.Size)
	if err != nil {
		f.Close()
		return nil, Info{}, fmt.Errorf("get %s: %w", key, err)
	}

	// Only a whole object can be compared with its digest.
	r := io.Reader(io.NewSectionReader(f, off, n))
	if n == info.Size {
		r = Verified(r, info, d.Log)
	}

	return object{r, f}, info, nil
}

// object is an open object: its reader may cover a range of the file.
type object struct {
	io.Reader
	io.Closer
}

// Stat implements Store.
func (d *Disk) Stat(ctx context.Context, key string) (Info, error) {
	f, info, err := d.find(ctx, key)
	if err != nil {
		return Info{}, err
	}

	return info, f.Close()
}

// find opens an object and reads its header. The caller must close the file. A later Delete does not disturb the
// reader: its descriptor keeps the bytes.
func (d *Disk) find(ctx context.Context, key string) (*os.File, Info, error) {
	if err := CheckKey(key); err != nil {
		return nil, Info{}, err
	}

	if ctx.Err() != nil {
		return nil, Info{}, context.Cause(ctx)
	}

	root, err := d.open()
	if err != nil {
		return nil, Info{}, err
	}
	defer root.Close()

	f, info, err := openObject(root, key)
	if err != nil {
		return nil, Info{}, fmt.Errorf("get %s: %w", key, err)
	}

	return f, info, nil
}

// List implements Store.
func (d *Disk) List(ctx context.Context, prefix string) iter.Seq2[Info, error] {
	return func(yield func(Info, error) bool) {
		if err := CheckPrefix(prefix); err != nil {
			yield(Info{}, err)
			return
		}

		root, err := d.open()
		if err != nil {
			yield(Info{}, err)
			return
		}
		defer root.Close()
		w := walk{ctx: ctx, disk: d, root: root, prefix: prefix, yield: yield}

		dir := "."
		if i := strings.LastIndexByte(prefix, '/'); i >= 0 {
			dir = prefix[:i]
		}
		w.dir(dir)
	}
}

// walk is one call of List.
type walk struct {
	ctx    context.Context
	disk   *Disk
	root   *os.Root
	prefix string
	// yield is the loop body of the caller. It returns false when the caller stops.
	yield func(Info, error) bool
}

// dir yields the objects below dir. It returns false when the walk must end.
func (w *walk) dir(dir string) bool {
	entries, err := fs.ReadDir(w.root.FS(), dir)
	if errors.Is(err, fs.ErrNotExist) {
		return true
	}

	if err != nil {
		return w.yield(Info{Key: dir + "/"}, fmt.Errorf("list %s: %w", dir, err))
	}
	// List yields keys in order, so a directory sorts by its name with the slash.
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(listName(a), listName(b)) })

	for _, e := range entries {
		key := path.Join(dir, e.Name())
		switch {
		case strings.HasPrefix(e.Name(), "."):
			continue
		case w.ctx.Err() != nil:
			w.yield(Info{}, context.Cause(w.ctx))
			return false
		case e.IsDir():
			folder := key + "/"
			mayHaveKeys := strings.HasPrefix(folder, w.prefix) || strings.HasPrefix(w.prefix, folder)

			if mayHaveKeys && !w.dir(key) {
				return false
			}
		case strings.HasPrefix(key, w.prefix):
			info, err := statObject(w.root, key)

			switch {
			case errors.Is(err, errPartial) && w.disk.durable(key):
				err = fmt.Errorf("%w: its header and its size differ", ErrCorrupt)
			case errors.Is(err, ErrNotFound):
				continue // deleted since ReadDir, or a file without a header
			}

			info.Key = key
			if !w.yield(info, err) {
				return false
			}
		}
	}

	return true
}

// listName returns the name by which List sorts an entry.
func listName(e fs.DirEntry) string {
	if e.IsDir() {
		return e.Name() + "/"
	}

	return e.Name()
}

// openObject opens the bytes of an object and reads its header. They belong together if
// the key names the same file before and after the header is read. A header is replaced
// only while its key has no bytes.
func openObject(root *os.Root, key string) (*os.File, Info, error) {
	for {
		f, err := root.Open(key)
		if err != nil {
			return nil, Info{}, notFound(err)
		}

		info, err := statObject(root, key)
		if err != nil {
			f.Close()
			return nil, Info{}, err
		}

		opened, err := f.Stat()
		if err != nil {
			f.Close()
			return nil, Info{}, err
		}

		if current, err := root.Lstat(key); err == nil && os.SameFile(current, opened) {
			return f, info, nil
		}
		// The object was deleted or replaced in between: try again.
		f.Close()
	}
}

// errPartial is the ErrNotFound of a key whose header and bytes do not match. A power
// cut leaves a volatile object like this. A durable object like this is damaged.
var errPartial = fmt.Errorf("%w: only a part of it is there", ErrNotFound)

// statObject reads the header of an object. It returns errPartial when the header is
// invalid or the bytes do not have its size.
func statObject(root *os.Root, key string) (Info, error) {
	b, err := root.ReadFile(headerOf(key))
	if err != nil {
		return Info{}, notFound(err)
	}

	file, err := root.Lstat(key)
	if err != nil {
		return Info{}, notFound(err)
	}

	var h header
	if err := json.Unmarshal(b, &h); err != nil || !file.Mode().IsRegular() || file.Size() != h.Size {
		return Info{}, errPartial
	}

	return Info{
		Key:      key,
		Size:     h.Size,
		SHA256:   h.SHA256,
		Modified: h.Created,
		Attrs:    Attrs{ContentType: h.ContentType, Meta: h.Meta},
	}, nil
}

// checkFree returns nil when the key has no object, and otherwise ErrExists or the error
// that prevents the check.
func checkFree(root *os.Root, key string) error {
	switch _, err := statObject(root, key); {
	case errors.Is(err, ErrNotFound):
		return nil
	case err != nil:
		return err
	}

	return ErrExists
}

// notFound returns ErrNotFound for the errors of a missing file. ENOTDIR is one of
// them: the key is below the file of another key.
func notFound(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return ErrNotFound
	}

	return err
}
