package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// snapshot writes a snapshot of Redis into a file. It runs redis-cli, which receives the snapshot as a replica
// would. Errors: UsageError for an address of several servers, the output of redis-cli, those of the disk.
func snapshot(ctx context.Context, redisURL, file string) error {
	return replaceFile(file, func(next string) error {
		cli, err := redisCLI(ctx, redisURL, "--rdb", next)
		if err != nil {
			return UsageError{err}
		}
		// redis-cli keeps the mode of a file that exists. A file that redis-cli creates is readable for other users.
		f, err := os.OpenFile(next, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer f.Close()

		if out, err := cli.CombinedOutput(); err != nil {
			return fmt.Errorf("redis-cli --rdb: %w: %s", err, strings.TrimSpace(string(out)))
		}

		return f.Sync()
	})
}

// replaceFile replaces a file atomically: after a crash the file has the old or the new content. write writes the
// new content to another name and syncs it. replaceFile then renames that file and syncs the folder.
func replaceFile(file string, write func(next string) error) error {
	next := file + ".new"
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}

	if err := write(next); err != nil {
		_ = os.Remove(next)
		return err
	}

	if err := os.Rename(next, file); err != nil {
		return err
	}

	dir, err := os.Open(filepath.Dir(file))
	if err != nil {
		return err
	}

	return errors.Join(dir.Sync(), dir.Close())
}

// redisCLI returns the command that sends args to one server. The password is in the environment, which other users
// cannot read.
func redisCLI(ctx context.Context, address string, args ...string) (*exec.Cmd, error) {
	u, err := url.Parse(address)

	// redis-cli takes the parts of an address as flags, for one server only.
	schemes := []string{"redis", "rediss", "unix"}
	if err != nil || strings.Contains(address, ",") || !slices.Contains(schemes, u.Scheme) {
		return nil, errors.New("REDIS_URL names no single server; " +
			"back up one at a time with redis://, rediss:// or unix://")
	}

	target := []string{"-h", u.Hostname(), "-p", cmp.Or(u.Port(), "6379")}
	switch u.Scheme {
	case "unix":
		target = []string{"-s", u.Path}
	case "rediss":
		target = append(target, "--tls")
	}

	if name := u.User.Username(); name != "" {
		target = append(target, "--user", name)
	}
	cmd := exec.CommandContext(ctx, "redis-cli", append(target, args...)...)

	cmd.Env = os.Environ()
	if password, given := u.User.Password(); given {
		cmd.Env = append(cmd.Env, "REDISCLI_AUTH="+password)
	}

	return cmd, nil
}

// copyFile copies a file into a new one that only its owner can read, and forces its bytes to the medium.
func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()

	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)

	return errors.Join(err, out.Sync(), out.Close())
}
