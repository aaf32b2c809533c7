package fonts

import (
	"archive/zip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

const (
	configName = "fonts.conf"
	cacheName  = "cache"
)

// Install writes the fonts to a folder below dir and returns the path of the fontconfig file
// that names them. If they are there already, it only checks them.
//
// If dir is "", root uses /var/cache/presswork, because its browser runs as another user.
// Other users use their cache directory. If that cannot be written, Install uses the
// system's temporary directory.
//
// On macOS there is no fontconfig and config is "". Errors: a directory that cannot be
// written, or that other users can write.
func Install(dir string) (config string, err error) {
	if runtime.GOOS == "darwin" {
		return "", nil
	}

	dirs := []string{dir}
	if dir == "" {
		dirs = places()
	}
	var errs []error

	for _, dir := range dirs {
		config, err := installIn(dir)
		if err == nil {
			return config, nil
		}
		errs = append(errs, err)
	}

	return "", fmt.Errorf("the fonts cannot be installed: %w", errors.Join(errs...))
}

// places returns the directories to try for the fonts, in order.
func places() []string {
	if os.Geteuid() == 0 {
		return []string{"/var/cache/presswork", os.TempDir()}
	}

	if dir, err := os.UserCacheDir(); err == nil {
		return []string{filepath.Join(dir, "presswork"), os.TempDir()}
	}

	return []string{os.TempDir()}
}

// installIn writes the missing files to base/presswork-fonts-<digest>. The digest covers the
// faces and the configuration. So existing files are correct, as long as no other user can
// write there.
func installIn(base string) (string, error) {
	base, err := filepath.Abs(base)
	if err != nil {
		return "", err
	}

	if err := makeBase(base); err != nil {
		return "", err
	}

	if err := reachable(base); err != nil {
		return "", err
	}
	system := systemDirs()

	root := filepath.Join(base, "presswork-fonts-"+digest(base, system))
	for _, name := range []string{"", fontDir, licenseDir, cacheName} {
		if err := ownDir(filepath.Join(root, name)); err != nil {
			return "", err
		}
	}
	fresh := false

	for _, f := range open().File {
		path := filepath.Join(root, filepath.FromSlash(f.Name))
		if holds(path, int64(f.UncompressedSize64)) {
			continue
		}
		fresh = true

		if err := unpack(f, path); err != nil {
			return "", err
		}
	}

	config, text := filepath.Join(root, configName), configuration(root, system)
	if !holds(config, int64(len(text))) {
		fresh = true

		if err := write(config, []byte(text)); err != nil {
			return "", err
		}
	}

	if fresh && os.Geteuid() == 0 {
		buildCache(config)
	}

	return config, nil
}

// digest identifies the contents of an installation below base: all files of the archive, and the configuration.
func digest(base string, system []string) string {
	h := sha256.New()
	for _, f := range open().File {
		fmt.Fprintln(h, f.Name, f.UncompressedSize64, f.CRC32)
	}
	h.Write([]byte(configuration(base, system)))

	return hex.EncodeToString(h.Sum(nil))[:16]
}

// makeBase creates dir and its missing parents. As root it creates them with mode 0755, whatever the umask, so
// that the browser's user can pass through them. An existing directory keeps its mode. A lock on the parent
// prevents other processes from seeing a directory before its mode is final.
func makeBase(dir string) error {
	if os.Geteuid() != 0 {
		return os.MkdirAll(dir, 0o755)
	}

	if info, err := os.Stat(dir); err == nil && passable(info) {
		return nil
	}

	path := filepath.Dir(dir)
	if path == dir {
		return nil
	}

	if err := makeBase(path); err != nil {
		return err
	}

	parent, err := os.Open(path)
	if err != nil {
		return err
	}
	defer parent.Close()

	if err := syscall.Flock(int(parent.Fd()), syscall.LOCK_EX); err != nil {
		return err
	}

	err = os.Mkdir(dir, 0o755)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}

	if err != nil {
		return err
	}

	return os.Chmod(dir, 0o755)
}

// reachable returns an error if this process is root and the browser's user cannot pass through dir.
func reachable(dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}

	for d := dir; ; d = filepath.Dir(d) {
		info, err := os.Stat(d)
		if err != nil {
			return err
		}

		if !passable(info) {
			return fmt.Errorf(
				"%s: the browser's user cannot pass through %s, which allows %v",
				dir,
				d,
				info.Mode().Perm(),
			)
		}

		if d == filepath.Dir(d) {
			return nil
		}
	}
}

// passable reports whether every user can pass through the directory.
func passable(dir fs.FileInfo) bool { return dir.Mode().Perm()&0o001 != 0 }

// ownDir creates dir if it does not exist. It returns an error for a directory that another user created or can
// write to, because the browser parses the fonts and caches in it.
func ownDir(dir string) error {
	err := os.Mkdir(dir, 0o755)
	if err == nil {
		return os.Chmod(dir, 0o755) // whatever the umask
	}

	if !errors.Is(err, fs.ErrExist) {
		return err
	}

	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}

	owner, ok := info.Sys().(*syscall.Stat_t)
	if !info.IsDir() || !ok || int(owner.Uid) != os.Geteuid() || info.Mode().Perm()&0o022 != 0 {
		return fmt.Errorf("%s must be a directory that only this user can change; delete it", dir)
	}

	return nil
}

// holds reports whether path is a regular file of this size. Each file is checked, because programs that clean
// temporary directories delete files one by one.
func holds(path string, size int64) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular() && info.Size() == size
}

// unpack writes a file of the archive to path.
func unpack(f *zip.File, path string) error {
	r, err := f.Open()
	if err != nil {
		return fmt.Errorf("fonts: %s: %w", f.Name, err)
	}
	defer r.Close()

	data, err := io.ReadAll(r)
	if err != nil {
		return fmt.Errorf("fonts: %s: %w", f.Name, err)
	}

	return write(path, data)
}

// write creates a complete file at path, readable for every user. Until then the file's name begins with a dot,
// which fontconfig ignores.
func write(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-")
	if err != nil {
		return err
	}
	_, err = f.Write(data)

	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}

	if err != nil {
		err = errors.Join(err, os.Remove(f.Name()))
	}

	return err
}

// buildCache writes fontconfig's cache, because the browser's user may not write there. Without the cache each
// launch scans all fonts and takes 20 ms more.
func buildCache(config string) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "fc-cache")
	cmd.Env = []string{"FONTCONFIG_FILE=" + config, "PATH=" + os.Getenv("PATH"), "HOME=/nonexistent"}
	_ = cmd.Run() // a machine without fc-cache works as well
}
