// Package memory checks a Redis: whether it answers, has memory left for new jobs, and never evicts the keys of jobs.
package memory

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork/internal/fault"
	"presswork/internal/recent"
	"presswork/tasks/asynqext"
)

const (
	// submissionShare is the share of Redis' memory that submissions may fill. The rest is for accepted jobs: a
	// step or an end that cannot be written would keep a job, its slot and its memory.
	submissionShare = 0.95
	// maxMemoryAge is the largest age of the memory figure by which a submission is admitted.
	maxMemoryAge = time.Second
)

// Guard checks how full Redis is.
type Guard struct {
	log  *slog.Logger
	full *recent.Value[bool]
}

// NewGuard returns a Guard. log receives changes, and failures to read the memory.
func NewGuard(log *slog.Logger) *Guard {
	return &Guard{log: log, full: recent.NewValue[bool](maxMemoryAge)}
}

// Admit returns QueueUnavailable when Redis is almost full, by a figure at most maxMemoryAge old. A Redis that does
// not report its memory counts as not full.
func (m *Guard) Admit(ctx context.Context, rdb redis.UniversalClient) error {
	full, _ := m.full.Get(func(old bool) (bool, error) {
		servers, err := memoryOf(ctx, rdb)
		if err != nil {
			m.log.Debug("the memory of Redis is not known", "err", err)
		}

		full := slices.ContainsFunc(servers, func(s serverMemory) bool {
			return s.limit > 0 && float64(s.used) > submissionShare*float64(s.limit)
		})
		if full != old {
			m.log.Warn("admission of submissions changed because of Redis memory", "refused", full)
		}

		return full, nil
	})
	if full {
		return fault.Errorf(fault.QueueUnavailable,
			"the queue's memory is almost full, and the rest is reserved for accepted jobs; try again later")
	}

	return nil
}

// serverMemory is the memory that one Redis server reports, in bytes.
type serverMemory struct {
	// limit is maxmemory, 0 for none. policy is maxmemory-policy.
	used, limit int64
	policy      string
}

// memoryOf returns the memory of every server that holds data.
func memoryOf(ctx context.Context, rdb redis.UniversalClient) (servers []serverMemory, err error) {
	var mu sync.Mutex

	read := func(ctx context.Context, server redis.Cmdable) error {
		text, err := server.Info(ctx, "memory").Result()
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		servers = append(servers, readMemory(text))

		return nil
	}
	if cluster, ok := rdb.(*redis.ClusterClient); ok {
		// ForEachMaster calls the function in parallel.
		err = cluster.ForEachMaster(ctx, func(ctx context.Context, server *redis.Client) error {
			return read(ctx, server)
		})

		return servers, err
	}
	err = read(ctx, rdb)

	return servers, err
}

// readMemory parses the answer to INFO memory.
func readMemory(info string) (m serverMemory) {
	var buffers int64

	for line := range strings.Lines(info) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		n, _ := strconv.ParseInt(value, 10, 64)

		switch name {
		case "used_memory":
			m.used = n
		case "mem_not_counted_for_evict":
			buffers = n
		case "maxmemory":
			m.limit = n
		case "maxmemory_policy":
			m.policy = value
		}
	}
	// Redis compares its limit with the used memory without the buffers of its replicas and of the append-only
	// file.
	m.used -= buffers

	return m
}

// Reach returns nil when Redis at rdb answers. final reports that Redis answers but will never serve this client,
// for example because the password is wrong. Without final, the caller may try again.
func Reach(ctx context.Context, rdb redis.UniversalClient) (final bool, err error) {
	err = rdb.Ping(ctx).Err()
	_, answered := errors.AsType[redis.Error](err)

	return answered && !asynqext.IsOutage(err), err
}

// CheckEviction returns an error when the eviction policy of Redis may delete keys that jobs need, or when the
// policy cannot be read.
func CheckEviction(ctx context.Context, rdb redis.UniversalClient) error {
	servers, err := memoryOf(ctx, rdb)
	if err != nil {
		return fmt.Errorf("the eviction policy of Redis is not known: %w", err)
	}

	for _, s := range servers {
		if s.policy != "" && s.policy != "noeviction" {
			return fmt.Errorf(
				"maxmemory-policy is %s: a full Redis would drop accepted jobs; set maxmemory-policy noeviction",
				s.policy,
			)
		}
	}

	return nil
}
