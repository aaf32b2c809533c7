package app

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork/internal/config"
	"presswork/internal/embedded"
	"presswork/storage"
	"presswork/storage/minio"
	"presswork/storage/retention"
	"presswork/tasks"
	"presswork/tasks/memory"
	"presswork/tasks/redisdial"
)

// redisAddress returns the address of the operator's Redis, or of a private one that it starts.
func redisAddress(ctx context.Context, cfg config.Config, log *slog.Logger, life *lifecycle) (string, error) {
	if cfg.RedisURL != "" {
		return cfg.RedisURL, nil
	}

	child, err := embedded.New(embedded.Options{
		Dir: filepath.Join(cfg.DataDir, "redis"), Log: log.With("component", "redis"),
	})
	if err != nil {
		return "", err
	}

	if err := life.start(ctx, "redis", child); err != nil {
		if _, ok := errors.AsType[*fs.PathError](err); ok {
			err = fmt.Errorf("DATA_DIR: %w", err)
		}

		return "", err
	}

	return child.URL(), nil
}

// dialRedis connects to Redis and waits until it answers, for up to startLimit. An eviction policy that may lose
// jobs is logged and not fatal.
func dialRedis(
	ctx context.Context, address string, metrics *tasks.Metrics, log *slog.Logger, life *lifecycle,
) (redis.UniversalClient, error) {
	client, err := redisdial.Dial(address, 0)
	if err != nil {
		return nil, UsageError{fmt.Errorf("REDIS_URL: %w", err)}
	}
	metrics.ObserveClient(client)
	life.onStop("index", func(context.Context) error { return client.Close() })

	reach := func(ctx context.Context) (bool, error) { return memory.Reach(ctx, client) }
	if err := awaitService(ctx, log, "REDIS_URL", reach); err != nil {
		return nil, err
	}

	if err := memory.CheckEviction(ctx, client); err != nil {
		log.ErrorContext(ctx, "REDIS_URL: accepted jobs may be lost", "error", err)
	}

	return client, nil
}

// adviceEntries is how many analysed documents the cache holds, a few kilobytes each.
const adviceEntries = 20_000

// dialCache returns the Redis of the analysis cache, which is the given one unless CACHE_REDIS_URL names another.
func dialCache(cfg config.Config, shared redis.UniversalClient, life *lifecycle) (redis.UniversalClient, error) {
	if cfg.CacheRedisURL == "" {
		return shared, nil
	}

	client, err := redisdial.Dial(cfg.CacheRedisURL, 0)
	if err != nil {
		return nil, UsageError{fmt.Errorf("CACHE_REDIS_URL: %w", err)}
	}
	life.onStop("cache", func(context.Context) error { return client.Close() })

	return client, nil
}

// redisLogOnce guards the logger of the Redis client. The process has one such logger, which must not change while a
// client is used.
var redisLogOnce sync.Once

// logRedisClient logs the messages of the Redis client at level debug. The parts that use the client report failures.
func logRedisClient(log *slog.Logger) {
	redisLogOnce.Do(func() { redis.SetLogger(redisLog{log.With("component", "redis")}) })
}

// redisLog is the logger of the Redis client.
type redisLog struct{ log *slog.Logger }

// Printf is called by the Redis client.
func (l redisLog) Printf(ctx context.Context, format string, args ...any) {
	l.log.DebugContext(ctx, "redis client", "said", fmt.Sprintf(format, args...))
}

// openStore opens the operator's S3 or a folder. A fleet that serves completions only needs neither. It waits for
// S3 for up to startLimit. Errors: UsageError for the settings of S3, a store that cannot be used.
func openStore(
	ctx context.Context, cfg config.Config, roles Roles, log *slog.Logger, life *lifecycle,
) (storage.Store, error) {
	if cfg.S3Endpoint == "" && !roles.both() {
		return storage.None{}, nil
	}

	if cfg.S3Endpoint == "" {
		disk := storage.DiskOptions{Dir: cfg.PDFOutputDir, Log: log.With("component", "storage")}

		store, err := storage.OpenDisk(disk)
		if err != nil {
			return nil, fmt.Errorf("PDF_OUTPUT_DIR: %w", err)
		}

		return store, nil
	}

	s3, err := minio.New(minio.Options{
		Endpoint:       cfg.S3Endpoint,
		PublicEndpoint: cfg.S3PublicEndpoint,
		Bucket:         cfg.S3Bucket,
		AccessKey:      cfg.S3AccessKey,
		SecretKey:      cfg.S3SecretKey,
		Region:         cfg.S3Region,
		UseTLS:         cfg.S3UseTLS,
		Log:            log.With("component", "minio"),
	})
	if err != nil {
		return nil, UsageError{err}
	}

	return s3, awaitService(ctx, log, "S3_ENDPOINT", func(ctx context.Context) (bool, error) {
		err := life.start(ctx, "store", s3)
		return minio.Refused(err), err
	})
}

// storeSetting returns the setting that chooses the store.
func storeSetting(cfg config.Config) string {
	if cfg.S3Endpoint != "" {
		return "S3_BUCKET"
	}

	return "PDF_OUTPUT_DIR"
}

// newKeeper makes the keeper that holds the store within its limits. Its Start fails if the store or the Redis belongs
// to another deployment.
func newKeeper(
	cfg config.Config, store storage.Store, client redis.UniversalClient, queue *tasks.Client,
	keep time.Duration, log *slog.Logger,
) *retention.Keeper {
	host, _ := os.Hostname() // the same path may be another disk on another machine

	name := absolute(cfg.PDFOutputDir) + " on " + host
	if cfg.S3Endpoint != "" {
		name = cfg.S3Bucket + " at " + cfg.S3Endpoint
	}

	return retention.New(retention.Options{
		Store:     store,
		Redis:     client,
		MaxBytes:  int64(cfg.CacheMaxSizeGB * (1 << 30)),
		Retention: keep,
		Now:       queue.Now,
		Live:      queue.Needed,
		StoreName: name,
		RedisName: redisName(cfg),
		Alone:     cfg.RedisURL == "",
		Log:       log.With("component", "storage"),
	})
}

// redisName names the Redis for people, without passwords.
func redisName(cfg config.Config) string {
	return cmp.Or(config.RedactURLs(cfg.RedisURL), "the private one in DATA_DIR "+absolute(cfg.DataDir))
}

// absolute returns a directory's absolute path if it is known.
func absolute(dir string) string {
	if whole, err := filepath.Abs(dir); err == nil {
		return whole
	}

	return dir
}

// profileDir returns the folder of browser profiles, "" for the system's temporary directory. The browser of a root
// process runs as another user, which cannot read the folders of root.
func profileDir(cfg config.Config) (string, error) {
	if os.Geteuid() == 0 {
		return "", nil
	}

	dir, err := filepath.Abs(filepath.Join(cfg.CacheDir, "browser"))
	if err != nil {
		return "", fmt.Errorf("CACHE_DIR: %w", err)
	}

	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("CACHE_DIR: %w", err)
	}

	return dir, nil
}

// maxPending returns the bound of a queue for tasks.Options, in which -1 is no bound and 0 the default.
func maxPending(cfg config.Config) int64 {
	if cfg.QueueMaxJobs == 0 {
		return -1
	}

	return cfg.QueueMaxJobs
}

// queues returns the queues that a worker serves. An empty list means all queues.
func queues(cfg config.Config) []tasks.Queue {
	var out []tasks.Queue
	for _, name := range cfg.WorkerQueues {
		out = append(out, tasks.Queue(name))
	}

	return out
}

// shortestSecret is the least length of TOKEN_SECRET, in bytes.
const shortestSecret = 16

// tokenSecretOf returns the secret of the tokens in URLs: the operator's, or the one that the nodes share in Redis.
// With the latter, the loss of Redis makes all tokens invalid.
func tokenSecretOf(ctx context.Context, queue *tasks.Client, given string) ([]byte, error) {
	if given == "" {
		return queue.Secret(ctx, "token")
	}

	return []byte(given), nil
}

// webhookSecret returns the secret that signs webhooks: the operator's, or the one that the nodes share in Redis.
func webhookSecret(ctx context.Context, queue *tasks.Client, given string) (string, error) {
	if given != "" {
		return given, nil
	}
	b, err := queue.Secret(ctx, "webhook")

	return "whsec_" + base64.StdEncoding.EncodeToString(b), err
}

// DefaultKeys is the file of keys where KEYS_CONFIG names none.
const DefaultKeys = "keys.yaml"
