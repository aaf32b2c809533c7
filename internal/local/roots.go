package local

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"presswork/internal/fault"
)

// openRoots opens the folders of Options.Roots. Errors: InvalidOption.
func (c *Converter) openRoots() error {
	for _, dir := range c.o.Roots {
		root, err := openDir(dir)
		if err != nil {
			return fault.Errorf(fault.InvalidOption, "--root %s: %s", dir, reason(err))
		}
		c.roots = append(c.roots, root)
	}

	return nil
}

// Place returns the absolute path of a file that the user names. Errors: Forbidden for a path outside Options.Roots.
// Symbolic links are followed, and refused, when the file is opened.
func (c *Converter) Place(path string) (string, error) {
	if c.roots == nil {
		return filepath.Abs(path)
	}
	root, rel, err := c.inRoots(path)

	return filepath.Join(root.named, rel), err
}

// inRoots returns the root that contains a path, and the path in it.
func (c *Converter) inRoots(path string) (root allowedDir, rel string, err error) {
	full := path
	if !filepath.IsAbs(full) {
		full = filepath.Join(c.roots[0].named, full)
	}
	names := make([]string, 0, len(c.roots))

	for _, root := range c.roots {
		for _, dir := range []string{root.named, root.path} {
			if rel, err := filepath.Rel(dir, full); err == nil && filepath.IsLocal(rel) {
				return root, rel, nil
			}
		}
		names = append(names, root.named)
	}

	return allowedDir{}, "", fault.Errorf(fault.Forbidden,
		"%q is outside the allowed folders: %s; name a file in them, or start with --root DIR for another folder",
		path, strings.Join(names, ", "))
}

// OpenFile opens a file in Options.Roots, or anywhere without them. Errors: NotFound, Forbidden, InvalidRequest.
func (c *Converter) OpenFile(path string) (*os.File, error) {
	if c.roots == nil {
		f, err := os.Open(path)
		if err != nil {
			return nil, unreadable(err)
		}

		return f, nil
	}

	root, rel, err := c.inRoots(path)
	if err != nil {
		return nil, err
	}

	info, err := root.root.Stat(rel)
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		// Opening a pipe would wait for its writer.
		return nil, fault.Errorf(fault.InvalidRequest, "%q is not a file", path)
	}

	var f *os.File
	if err == nil {
		f, err = root.root.Open(rel)
	}

	if err != nil {
		return nil, c.outside(path, err, unreadable)
	}

	return f, nil
}

// openFolder opens the folder of a document, or of a book. Errors: Forbidden.
func (c *Converter) openFolder(dir string) (allowedDir, error) {
	refused := func(err error) error {
		return fault.Errorf(fault.Forbidden, "the folder %q cannot be opened: %s", dir, reason(err)).WithCause(err)
	}

	if c.roots == nil {
		own, err := openDir(dir)
		if err != nil {
			return own, refused(err)
		}

		return own, nil
	}

	root, rel, err := c.inRoots(dir)
	if err != nil {
		return allowedDir{}, err
	}

	own, err := root.root.OpenRoot(rel)
	if err != nil {
		return allowedDir{}, c.outside(dir, err, refused)
	}
	named := filepath.Join(root.named, rel)

	path, err := filepath.EvalSymlinks(named)
	if err != nil {
		path = named
	}

	return allowedDir{path, named, own}, nil
}

// source returns the path from which a file is read. A Word document has its Markdown in a temporary folder.
func (c *Converter) source(ctx context.Context, path string, word *wordFiles) (string, error) {
	if c.roots == nil || path == Std {
		return word.markdown(ctx, path)
	}

	if strings.EqualFold(filepath.Ext(path), ".docx") {
		return "", fault.Errorf(fault.InvalidRequest,
			"Word documents are not read here; convert it with `pandoc %s -o document.md` first", filepath.Base(path))
	}

	return c.Place(path)
}

// writeInRoots is WriteFile for a path in Options.Roots. It makes missing folders.
func (c *Converter) writeInRoots(ctx context.Context, path string, data []byte) error {
	root, rel, err := c.inRoots(path)
	if err != nil {
		return err
	}

	if info, err := root.root.Lstat(rel); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return fault.Errorf(fault.Forbidden,
			"cannot write %q: it is a symbolic link or a device; choose another name", path)
	}

	refused := func(err error) error { return unwritable(path, err) }
	if err := root.root.MkdirAll(filepath.Dir(rel), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return c.outside(path, err, refused)
	}

	_, err = Waiting(ctx, func() (struct{}, error) {
		return struct{}{}, c.outside(path, replaceFile(root.root, rel, data), refused)
	})

	return err
}

// outside returns the error for a path that a symbolic link leads out of the roots. For any other error it returns the
// result of other. os.Root exports no error for such a link, so its text is compared.
func (c *Converter) outside(path string, err error, other func(error) error) error {
	if err != nil && strings.Contains(err.Error(), "escapes from parent") {
		return fault.Errorf(fault.Forbidden, "%q leads out of the allowed folders by a symbolic link", path).
			WithCause(err)
	}

	return other(err)
}
