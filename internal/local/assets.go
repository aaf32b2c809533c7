package local

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"presswork/internal/fault"
)

// maxAsset bounds the bytes that are read of an image. The renderer refuses images well below that.
const maxAsset = 32 << 20

// allowedDir is a folder from which files are allowed.
type allowedDir struct {
	// path is absolute, without symbolic links. named is absolute, as the user wrote it.
	path, named string
	root        *os.Root
}

// openDir opens a folder for reading, with its symbolic links resolved.
func openDir(dir string) (allowedDir, error) {
	named, err := filepath.Abs(dir)
	if err != nil {
		return allowedDir{}, err
	}

	path, err := filepath.EvalSymlinks(named)
	if err != nil {
		return allowedDir{}, err
	}
	root, err := os.OpenRoot(path)

	return allowedDir{path, named, root}, err
}

// assets opens the images of one document.
type assets struct {
	own  allowedDir
	dirs []allowedDir // own and those of Options.Allow
	// folder is the folder of a chapter in the book that own is. In a book, paths that begin with a slash start at
	// own.
	folder string
	inBook bool
	// flag is the flag that allows further folders, for errors.
	flag string

	mu      sync.Mutex // the renderer opens several at once
	sources Snapshot
}

// openAssets opens the folder of a document. For standard input it is the working directory.
func (c *Converter) openAssets(document string, sources Snapshot) (*assets, error) {
	dir := "."
	if document != Std {
		dir = filepath.Dir(document)
	}

	own, err := c.openFolder(dir)
	if err != nil {
		return nil, err
	}

	return c.newAssets(own, sources), nil
}

// newAssets returns the files that a document in the folder own may show.
func (c *Converter) newAssets(own allowedDir, sources Snapshot) *assets {
	a := &assets{
		own:     own,
		dirs:    slices.Concat([]allowedDir{own}, c.allowed, c.roots),
		sources: sources,
		flag:    "--allow",
	}
	if c.roots != nil {
		a.flag = "--root"
	}

	return a
}

// close closes the document's own folder. Nothing was written there, so the error is ignored.
func (a *assets) close() { _ = a.own.root.Close() }

// openImage reads the image with this name in the document. Symbolic links are resolved first.
func (a *assets) openImage(name string) ([]byte, error) {
	full := filepath.FromSlash(name)

	switch {
	case a.inBook && filepath.IsAbs(full):
		full = filepath.Join(a.own.path, full)
	case !filepath.IsAbs(full):
		full = filepath.Join(a.own.path, a.folder, full)
	}
	// --watch waits for a change of the file, also if it does not exist yet.
	a.mu.Lock()
	a.sources.add(full)
	a.mu.Unlock()

	target, err := filepath.EvalSymlinks(full)
	if err != nil {
		target = full
	}

	for _, dir := range a.dirs {
		if rel, err := filepath.Rel(dir.path, target); err == nil && filepath.IsLocal(rel) {
			return readFile(dir.root, rel)
		}
	}

	return nil, fault.Errorf(fault.Forbidden,
		"it is outside the document's folder; %s %s allows it", a.flag, filepath.Dir(target))
}

// include reads a text file below the document's folder. No part of its path may be a link, so that a document can
// only include files that are in its folder.
func (a *assets) include(name string) ([]byte, error) {
	rel := filepath.FromSlash(name)
	if !filepath.IsLocal(rel) {
		return nil, fault.Errorf(fault.Forbidden, "files are included from the document's folder only")
	}
	a.mu.Lock()
	a.sources.add(filepath.Join(a.own.path, rel))
	a.mu.Unlock()

	for at := rel; at != "."; at = filepath.Dir(at) {
		if info, err := a.own.root.Lstat(at); err == nil && info.Mode()&fs.ModeSymlink != 0 {
			return nil, fault.Errorf(fault.Forbidden, "files are not included through symbolic links: %s is one",
				filepath.ToSlash(at))
		}
	}

	return readFile(a.own.root, rel)
}

// readFile reads a regular file below root, up to maxAsset bytes.
func readFile(root *os.Root, name string) ([]byte, error) {
	info, err := root.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.Errorf(fault.NotFound, "there is no such file")
	}

	if err == nil && !info.Mode().IsRegular() {
		return nil, fault.Errorf(fault.InvalidRequest, "it is not a file")
	}

	var f *os.File
	if err == nil {
		f, err = root.Open(name)
	}

	if err != nil {
		return nil, unreadable(err)
	}

	defer f.Close()

	data, err := io.ReadAll(io.LimitReader(f, maxAsset))
	if err != nil {
		return nil, unreadable(err)
	}

	return data, nil
}
