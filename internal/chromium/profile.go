package chromium

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// profilePrefix and lockName mark a directory as ours.
const (
	profilePrefix = "presswork-chromium-"
	lockName      = "presswork.lock"
)

// profile is one browser's private directory: a lock that this process holds,
// and data, the browser's home. The lock ends with the process however that
// ends, so a directory whose lock can be had is stale.
type profile struct {
	dir  string
	lock *os.File
	// remove deletes the directory, once. A dying process may still write there, so
	// it tries for a while.
	remove func() error
}

// newProfile makes a profile below base. uid is the browser's user when it is
// not this process's own, else -1.
func newProfile(base string, uid int) (*profile, error) {
	dir, err := os.MkdirTemp(base, profilePrefix)
	if err != nil {
		return nil, err
	}
	p := &profile{dir: dir}

	p.remove = sync.OnceValue(p.delete)
	if err := p.fill(uid); err != nil {
		return nil, errors.Join(err, p.remove())
	}

	return p, nil
}

func (p *profile) fill(uid int) error {
	// The lock appears under its name only when it is held: a sweeper never
	// finds it free in between.
	fresh := filepath.Join(p.dir, "new")

	lock, err := os.OpenFile(fresh, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}

	p.lock = lock
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("lock %s: %w", fresh, err)
	}

	if err := os.Rename(fresh, filepath.Join(p.dir, lockName)); err != nil {
		return err
	}

	for _, dir := range []string{p.data(), p.temp()} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return err
		}

		if uid >= 0 {
			if err := os.Chown(dir, uid, uid); err != nil {
				return err
			}
		}
	}

	if uid >= 0 {
		return os.Chmod(p.dir, 0o711)
	}

	return nil
}

func (p *profile) data() string { return filepath.Join(p.dir, "data") }
func (p *profile) temp() string { return filepath.Join(p.dir, "tmp") }

func (p *profile) delete() error {
	err := removeProfile(p.dir)
	for wait := time.Millisecond; err != nil && wait < time.Second; wait *= 2 {
		time.Sleep(wait)
		err = removeProfile(p.dir)
	}

	if p.lock != nil {
		err = errors.Join(err, p.lock.Close())
	}

	return err
}

// removeProfile deletes the directory of a profile, its lock last: without that
// nobody would know later what is left when this process dies, or fails, meanwhile.
func removeProfile(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}

	for _, e := range entries {
		if e.Name() == lockName {
			continue
		}

		if err := os.RemoveAll(filepath.Join(dir, e.Name())); err != nil {
			return err
		}
	}

	return os.RemoveAll(dir)
}

// sweep deletes the profiles below base whose process is gone.
func sweep(base string, log *slog.Logger) {
	entries, err := os.ReadDir(base)
	if err != nil {
		log.Warn("stale browser profiles not swept", "dir", base, "error", err)
		return
	}

	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), profilePrefix) {
			continue
		}

		dir := filepath.Join(base, e.Name())
		if !stale(dir) {
			continue
		}

		if err := removeProfile(dir); err != nil {
			log.Warn("stale browser profile not swept", "dir", dir, "error", err)
			continue
		}
		log.Info("stale browser profile swept", "dir", dir)
	}
}

// stale reports whether dir is a profile of ours whose process is gone. Anything
// doubtful (another user's, no lock) is not.
func stale(dir string) bool {
	info, err := os.Lstat(dir)
	if err != nil {
		return false
	}

	if st, ok := info.Sys().(*syscall.Stat_t); !ok || int(st.Uid) != os.Getuid() {
		return false
	}

	lock, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer lock.Close()

	return syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}
