package keyfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// target is a file that one command edits at a time.
type target struct {
	path   string
	folder *os.File // its lock
}

// lock waits until no other command edits a file in the folder. It follows symbolic links, so that write replaces
// the file and not the link.
func lock(path string) (*target, error) {
	whole, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		whole, err = path, nil
	}

	if err != nil {
		return nil, fmt.Errorf("KEYS_CONFIG: %w", err)
	}

	folder, err := os.Open(filepath.Dir(whole))
	if err != nil {
		return nil, fmt.Errorf("KEYS_CONFIG: the folder of %s: %w", path, err)
	}

	for {
		err = syscall.Flock(int(folder.Fd()), syscall.LOCK_EX)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}

	if err != nil {
		return nil, errors.Join(fmt.Errorf("KEYS_CONFIG: the lock of the folder of %s: %w", path, err), folder.Close())
	}

	return &target{whole, folder}, nil
}

// unlock lets other commands edit files in the folder. Closing the folder releases its lock.
func (t *target) unlock() { t.folder.Close() }

// write replaces the file atomically: a reader, or a crash, finds either the old text or the new one. The new file
// has the owner and the mode of the old one.
func (t *target) write(data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(t.path), ".keys-*")
	if err != nil {
		return fmt.Errorf("KEYS_CONFIG: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("KEYS_CONFIG: %s was not changed: %w", t.path, err), os.Remove(f.Name()))
		}
	}()

	if err = errors.Join(t.keepRights(f), fill(f, data)); err != nil {
		return err
	}

	if err = os.Rename(f.Name(), t.path); err != nil {
		return err
	}

	return t.folder.Sync()
}

// keepRights gives f the owner, group and mode of the file that it replaces, because the server may run as another
// user than this command. A new file is readable by its owner only.
func (t *target) keepRights(f *os.File) error {
	old, err := os.Stat(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil // os.CreateTemp sets mode 0600
	}

	if err != nil {
		return err
	}

	made, err := f.Stat()
	if err != nil {
		return err
	}
	was, ok := old.Sys().(*syscall.Stat_t)

	is, too := made.Sys().(*syscall.Stat_t)
	if ok && too && (was.Uid != is.Uid || was.Gid != is.Gid) {
		if err := f.Chown(int(was.Uid), int(was.Gid)); err != nil {
			return err
		}
	}

	return f.Chmod(old.Mode().Perm())
}

// fill writes data to f, syncs it to disk, and closes f.
func fill(f *os.File, data []byte) error {
	_, err := f.Write(data)
	return errors.Join(err, f.Sync(), f.Close())
}
