package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"presswork/internal/config"
	"presswork/storage"
)

// What a backup holds.
const (
	backupStore = "store"     // objects, as a disk store has them
	backupRedis = "redis.rdb" // a snapshot
)

func newBackupCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "backup DIR",
		Short: "Copy the store and a snapshot of Redis into a directory while Presswork runs",
		Long: "Copy the store and a snapshot of REDIS_URL into a directory while Presswork runs. A directory that\n" +
			"holds a backup gets what is new. The store is copied before and after the snapshot, so that every job\n" +
			"of the snapshot has its sources and its artifact, except one that was accepted after the first copy\n" +
			"had begun and ended before the second. The render cache is left out. It needs redis-cli.",
		Args: exactly("DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.withStore(cmd.Context(), func(ctx context.Context, cfg config.Config, live storage.Store) error {
				if cfg.RedisURL == "" {
					return usageError{errors.New("REDIS_URL is not set: stop `presswork serve` and copy DATA_DIR and PDF_OUTPUT_DIR instead")}
				}
				return p.backup(ctx, cfg.RedisURL, live, args[0])
			})
		},
	}
}

func (p *program) backup(ctx context.Context, redisURL string, live storage.Store, dir string) error {
	kept, err := storage.OpenDisk(storage.DiskOptions{Dir: filepath.Join(dir, backupStore)})
	if err != nil {
		return err
	}
	objects, bytes, err := storage.CopyTo(ctx, kept, live)
	if err != nil {
		return fmt.Errorf("the store: %w", err)
	}
	snapshot := filepath.Join(dir, backupRedis)
	cli, err := redisCLI(ctx, redisURL, "--rdb", snapshot+".new")
	if err != nil {
		return usageError{err}
	}
	out, err := cli.CombinedOutput()
	if err == nil {
		err = os.Rename(snapshot+".new", snapshot)
	}
	if err != nil {
		return fmt.Errorf("redis-cli --rdb: %w: %s", err, printable(string(out)))
	}
	late, lateBytes, err := storage.CopyTo(ctx, kept, live)
	if err != nil {
		return fmt.Errorf("the store: %w", err)
	}
	fmt.Fprintf(p.stdout, "%d new objects (%d bytes) and a snapshot of Redis in %s\n", objects+late, bytes+lateBytes, dir)
	return nil
}

// redisCLI asks one server. Its password travels in the environment, which other
// users do not see.
func redisCLI(ctx context.Context, address string, args ...string) (*exec.Cmd, error) {
	u, err := url.Parse(address)
	if err != nil || strings.Contains(address, ",") || !slices.Contains([]string{"redis", "rediss", "unix"}, u.Scheme) {
		return nil, errors.New("REDIS_URL names no single server; back up one at a time with redis://, rediss:// or unix://")
	}
	where := []string{"-h", u.Hostname(), "-p", cmp.Or(u.Port(), "6379")}
	switch u.Scheme {
	case "unix":
		where = []string{"-s", u.Path}
	case "rediss":
		where = append(where, "--tls")
	}
	if name := u.User.Username(); name != "" {
		where = append(where, "--user", name)
	}
	cmd := exec.CommandContext(ctx, "redis-cli", append(where, args...)...)
	cmd.Env = os.Environ()
	if password, given := u.User.Password(); given {
		cmd.Env = append(cmd.Env, "REDISCLI_AUTH="+password)
	}
	return cmd, nil
}

func newRestoreCommand(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   "restore DIR REDIS_DIR",
		Short: "Put what backup copied back into the store, and make a directory for a new redis-server",
		Long: "Put what backup copied back into the store (S3_ENDPOINT, else PDF_OUTPUT_DIR), whose own objects stay,\n" +
			"and make REDIS_DIR, which must be absent or empty, a directory that a redis-server with `appendonly yes`\n" +
			"starts from. Start that one, then Presswork. For `presswork serve` with its own Redis, REDIS_DIR is\n" +
			"DATA_DIR/redis.",
		Args: exactly("DIR", "REDIS_DIR"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return p.withStore(cmd.Context(), func(ctx context.Context, _ config.Config, live storage.Store) error {
				return p.restore(ctx, args[0], args[1], live)
			})
		},
	}
}

func (p *program) restore(ctx context.Context, dir, redisDir string, live storage.Store) error {
	snapshot := filepath.Join(dir, backupRedis)
	if _, err := os.Stat(snapshot); err != nil {
		return usageError{fmt.Errorf("%s holds no backup: %w", dir, err)}
	}
	if err := os.MkdirAll(redisDir, 0o700); err != nil {
		return err
	}
	switch entries, err := os.ReadDir(redisDir); {
	case err != nil:
		return err
	case len(entries) > 0:
		return usageError{fmt.Errorf("%s is not empty; name a directory for a new Redis", redisDir)}
	}
	kept, err := storage.OpenDisk(storage.DiskOptions{Dir: filepath.Join(dir, backupStore)})
	if err != nil {
		return err
	}
	objects, bytes, err := storage.CopyTo(ctx, live, kept)
	if err != nil {
		return fmt.Errorf("the store: %w", err)
	}
	// A server reads an append-only file that begins with a snapshot, and makes of it
	// whatever its version keeps.
	if err := copyFile(filepath.Join(redisDir, "appendonly.aof"), snapshot); err != nil {
		return err
	}
	fmt.Fprintf(p.stdout, "%d objects (%d bytes) are back in the store; start redis-server --appendonly yes --dir %s\n", objects, bytes, redisDir)
	return nil
}

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

// withStore opens the store that the settings name.
func (p *program) withStore(ctx context.Context, f func(context.Context, config.Config, storage.Store) error) (err error) {
	cfg, err := config.Load(p.getenv)
	if err != nil {
		return usageError{err}
	}
	log := newNotices(p.stderr)
	life := &lifecycle{log: log}
	defer func() { err = errors.Join(err, life.stop(context.WithoutCancel(ctx))) }()
	store, err := openStore(ctx, cfg, log, roles{api: true, worker: true}, life)
	if err != nil {
		return err
	}
	return f(ctx, cfg, store)
}
