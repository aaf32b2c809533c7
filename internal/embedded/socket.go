package embedded

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// maxSocket is the longest socket path that works everywhere: 104 bytes on macOS and 108 on Linux, with a final
// zero.
const maxSocket = 103

// socketName is the name of Redis' socket in its directory.
const socketName = "redis.sock"

// socketPath returns a path in the data directory. If that is too long, it returns a path in a directory below
// temp named after the data directory and the user. The name is always the same, so a killed process leaves only
// one.
func socketPath(dir, temp string) string {
	if path := filepath.Join(dir, socketName); len(path) <= maxSocket {
		return path
	}
	sum := sha256.Sum256([]byte(dir))

	name := "presswork-" + strconv.Itoa(os.Getuid()) + "-" + hex.EncodeToString(sum[:6])
	if path := filepath.Join(temp, name, socketName); len(path) <= maxSocket {
		return path
	}

	return filepath.Join("/tmp", name, socketName)
}

// makeSocketDir creates the socket's directory if it is not the data directory. It rejects a directory of another
// user: its owner could answer in the server's place.
func (r *Redis) makeSocketDir() error {
	dir := filepath.Dir(r.socket)
	if dir == r.Dir {
		return nil
	}

	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("embedded: %w", err)
	}

	// Lstat: a symbolic link of another user must not pass the check.
	info, err := os.Lstat(dir)
	if err != nil {
		return fmt.Errorf("embedded: %w", err)
	}

	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || int(stat.Uid) != os.Getuid() || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("embedded: %s is not a directory of this user alone; remove it, or set a shorter DATA_DIR",
			dir)
	}

	return nil
}

// removeSocketDir deletes the temporary directory of the socket, unless the socket is in the data directory.
func (r *Redis) removeSocketDir() error {
	dir := filepath.Dir(r.socket)
	if dir == r.Dir {
		return nil
	}

	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("embedded: %w", err)
	}

	return nil
}
