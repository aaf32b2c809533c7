package process

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

// profilePrefix and lockName mark a directory as a profile.
const (
	profilePrefix = "presswork-chromium-"
	lockName      = "presswork.lock"
)

// profile is the private directory of one browser: a lock file that this process holds, and the browser's home. The
// kernel releases the lock when this process ends, so a profile with a free lock is stale.
type profile struct {
	dir  string
	lock *os.File
	// remove deletes the directory once and returns the same error to each caller. A browser that is about to end may
	// still write there, so remove tries again for a second.
	remove func() error
}

// newProfile creates a profile below base. uid is the browser's user, or -1 if that is the user of this process.
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

// fill creates the lock and the browser's directories.
func (p *profile) fill(uid int) error {
	// The lock file gets its name after it is locked, so that Sweep of another process
	// never finds it free.
	unlocked := filepath.Join(p.dir, "new")

	lock, err := os.OpenFile(unlocked, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}

	p.lock = lock
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("lock %s: %w", unlocked, err)
	}

	if err := os.Rename(unlocked, filepath.Join(p.dir, lockName)); err != nil {
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
		return os.Chmod(p.dir, 0o711) // the browser passes through it, but cannot list it
	}

	return nil
}

// data is the browser's home, and temp its directory for temporary files.
func (p *profile) data() string { return filepath.Join(p.dir, "data") }
func (p *profile) temp() string { return filepath.Join(p.dir, "tmp") }

// delete removes the directory and releases the lock.
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

// removeProfile deletes the directory of a profile, its lock last. If this process ends or fails in between, Sweep of a
// later process recognises the rest by the lock. A directory that does not exist is no error.
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

// Sweep deletes the profiles below base whose process has ended. It logs failures, because no start depends on it.
func Sweep(base string, log *slog.Logger) {
	entries, err := os.ReadDir(base)
	if err != nil {
		log.Warn("stale browser profiles not removed", "dir", base, "error", err)
		return
	}

	for _, e := range entries {
		if !e.IsDir() || !strings.HasPrefix(e.Name(), profilePrefix) {
			continue
		}

		dir := filepath.Join(base, e.Name())
		if !isStale(dir) {
			continue
		}

		if err := removeProfile(dir); err != nil {
			log.Warn("stale browser profile not removed", "dir", dir, "error", err)
			continue
		}
		log.Info("removed a stale browser profile", "dir", dir)
	}
}

// isStale reports whether dir is a profile of this user whose process has ended. A directory
// without a lock, or of another user, is not.
func isStale(dir string) bool {
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
