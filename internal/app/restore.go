package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"

	"github.com/redis/go-redis/v9"

	"presswork/internal/config"
	"presswork/storage"
	"presswork/storage/retention"
	"presswork/tasks/redisdial"
)

// RestoreResult is what Restore copied.
type RestoreResult struct {
	// Objects and Bytes count the copied objects.
	Objects int
	Bytes   int64
	// Settings are files of the backup that Restore leaves to the operator.
	Settings []string
	// Incomplete names the objects that could not be copied. It is nil if all were copied.
	Incomplete error
}

// Restore copies the objects of the backup in dir into the store, and makes redisDir a directory that a redis-server
// starts from. redisDir must be absent or empty, and the store must not belong to a live deployment. A directory that
// cannot be used is a UsageError.
func Restore(
	ctx context.Context, cfg config.Config, log *slog.Logger, dir, redisDir string,
) (restored RestoreResult, err error) {
	live, closeStore, err := singleStore(ctx, cfg, log)
	if err != nil {
		return restored, err
	}
	defer func() { err = errors.Join(err, closeStore()) }()

	snapshot := filepath.Join(dir, backupRedis)
	if _, err := os.Stat(snapshot); err != nil {
		return restored, UsageError{fmt.Errorf("%s holds no backup: %w", dir, err)}
	}

	if err := makeEmptyDir(redisDir); err != nil {
		return restored, err
	}

	if err := retention.CheckAbandoned(ctx, live); err != nil {
		return restored, err
	}

	backup, err := storage.OpenDisk(storage.DiskOptions{Dir: filepath.Join(dir, backupStore)})
	if err != nil {
		return restored, err
	}

	copied, err := storage.CopyTo(ctx, live, backup)
	if err != nil {
		return restored, fmt.Errorf("the store: %w", err)
	}

	// A server also reads an append-only file that begins with a snapshot, and writes its own format from it.
	file := filepath.Join(redisDir, "appendonly.aof")
	if err := copyFile(file, snapshot); err != nil {
		return restored, err
	}

	if err := forgetFence(file, cfg.RedisURL); err != nil {
		return restored, err
	}

	restored = RestoreResult{Objects: copied.Objects, Bytes: copied.Bytes, Incomplete: incomplete(copied.Skipped)}

	for _, name := range []string{backupKeys, backupModels} {
		file := filepath.Join(dir, name)
		if _, err := os.Stat(file); err == nil {
			restored.Settings = append(restored.Settings, file)
		}
	}

	return restored, nil
}

// makeEmptyDir makes a directory, or accepts an empty one. A directory with files is a UsageError, so that a
// mistyped path never overwrites a Redis.
func makeEmptyDir(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}

	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}

	if len(entries) > 0 {
		return UsageError{fmt.Errorf("%s is not empty; name a directory for a new Redis", dir)}
	}

	return nil
}

// forgetFence appends commands to an append-only file that delete the fence of the deployment that was backed up. The
// Redis that starts from the file then belongs to another deployment.
func forgetFence(file, redisURL string) error {
	database, err := databaseOf(redisURL)
	if err != nil {
		return err
	}

	f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}

	for _, command := range [][2]string{{"SELECT", strconv.Itoa(database)}, {"DEL", retention.FenceKey}} {
		name, arg := command[0], command[1]
		_, writeErr := fmt.Fprintf(f, "*2\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", len(name), name, len(arg), arg)
		err = errors.Join(err, writeErr)
	}

	return errors.Join(err, f.Sync(), f.Close())
}

// databaseOf returns the number of the database that a Redis address names. The private Redis of `presswork serve` has
// no address and uses 0.
func databaseOf(redisURL string) (int, error) {
	if redisURL == "" {
		return 0, nil
	}

	client, err := redisdial.Dial(redisURL, 0)
	if err != nil {
		return 0, UsageError{fmt.Errorf("REDIS_URL: %w", err)}
	}
	defer client.Close()

	if single, ok := client.(*redis.Client); ok {
		return single.Options().DB, nil
	}

	return 0, nil // a cluster has one database
}
