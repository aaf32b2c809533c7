package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"

	"presswork/internal/config"
	"presswork/storage"
)

// The names of the files and folders in a backup.
const (
	backupStore  = "store"       // objects, in the layout of a disk store
	backupRedis  = "redis.rdb"   // a snapshot
	backupKeys   = "keys.yaml"   // KEYS_CONFIG
	backupModels = "models.yaml" // INFERENCE_CONFIG
)

// BackupResult is what Backup copied.
type BackupResult struct {
	// Objects and Bytes count the objects that were not in the backup.
	Objects int
	Bytes   int64
	// Deleted counts the objects that were deleted since the last backup.
	Deleted int
	// Incomplete names what could not be copied. It is nil if the backup is complete.
	Incomplete error
}

// Backup copies the store, a snapshot of Redis and the files of keys and models into dir while Presswork runs. An error
// means that dir holds no new backup.
func Backup(ctx context.Context, cfg config.Config, log *slog.Logger, dir string) (result BackupResult, err error) {
	live, closeStore, err := singleStore(ctx, cfg, log)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, closeStore()) }()

	if cfg.RedisURL == "" {
		return result, UsageError{errors.New("REDIS_URL is not set: " +
			"stop `presswork serve` and copy DATA_DIR and PDF_OUTPUT_DIR instead")}
	}

	backup, err := storage.OpenDisk(storage.DiskOptions{Dir: filepath.Join(dir, backupStore)})
	if err != nil {
		return result, err
	}

	before, err := storage.CopyTo(ctx, backup, live)
	if err != nil {
		return result, fmt.Errorf("the store: %w", err)
	}

	// Delete before the snapshot: its jobs need no object that was already deleted.
	if result.Deleted, err = storage.Prune(ctx, backup, live); err != nil {
		return result, fmt.Errorf("the store: %w", err)
	}

	if err := snapshot(ctx, cfg.RedisURL, filepath.Join(dir, backupRedis)); err != nil {
		return result, err
	}

	// Copy again, for the objects of jobs that ended since the first copy and are in the snapshot.
	after, err := storage.CopyTo(ctx, backup, live)
	if err != nil {
		return result, fmt.Errorf("the store: %w", err)
	}

	result.Objects, result.Bytes = before.Objects+after.Objects, before.Bytes+after.Bytes
	result.Incomplete = errors.Join(
		copySettings(filepath.Join(dir, backupKeys), "KEYS_CONFIG", cfg.KeysConfig, DefaultKeys),
		copySettings(filepath.Join(dir, backupModels), "INFERENCE_CONFIG", cfg.InferenceConfig, defaultModels),
		incomplete(after.Skipped),
	)

	return result, nil
}

// singleStore opens the store that the settings name for one command. The caller must call closeStore. Errors: as
// openStore.
func singleStore(
	ctx context.Context, cfg config.Config, log *slog.Logger,
) (live storage.Store, closeStore func() error, err error) {
	life := &lifecycle{log: log}
	closeStore = func() error { return life.stop(context.WithoutCancel(ctx)) }

	live, err = openStore(ctx, cfg, Roles{API: true, Worker: true}, log, life)
	if err != nil {
		return nil, nil, errors.Join(err, closeStore())
	}

	return live, closeStore, nil
}

// incomplete returns an error that names the objects that were not copied.
func incomplete(skipped []error) error {
	if len(skipped) == 0 {
		return nil
	}

	return fmt.Errorf("everything else was copied, but not these %d objects:\n%w",
		len(skipped), errors.Join(skipped...))
}

// copySettings copies the file that a setting names, or the usual file, which may be absent. The error names the
// setting.
func copySettings(to, setting, named, usual string) error {
	err := replaceFile(to, func(next string) error { return copyFile(next, cmp.Or(named, usual)) })
	if named == "" && errors.Is(err, fs.ErrNotExist) {
		return nil
	}

	if err != nil {
		return fmt.Errorf("%s: %w", setting, err)
	}

	return nil
}
