package storage

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// The index. All keys share a hash tag, so that a script may touch several of
// them on a cluster. Times are Unix milliseconds.
const (
	sizeKey    = "pw:{keep}:size"    // hash: capped object → bytes
	madeKey    = "pw:{keep}:made"    // sorted set: capped object by the time it was stored
	usedKey    = "pw:{keep}:used"    // sorted set: capped object by its last use
	untilKey   = "pw:{keep}:until"   // sorted set: capped object that goes early, by when
	sourcesKey = "pw:{keep}:sources" // sorted set: source by the time it was stored
	totalKey   = "pw:{keep}:total"   // the sum of sizeKey
	readyKey   = "pw:{keep}:ready"   // when the index was last compared with the store
	lockKey    = "pw:{keep}:lock"    // the token of the node that sweeps
)

// capped tells whether an object counts towards the cap: sources do not, since
// a job needs them until it has ended.
func capped(key string) bool {
	return strings.HasPrefix(key, Artifacts) || strings.HasPrefix(key, Renders)
}

// recordScript adds objects and returns the total. ARGV: "absent" to leave
// alone what is in the index already, then key, size, time and, 0 for none, the
// time to go of each.
var recordScript = redis.NewScript(`
for i = 2, #ARGV, 4 do
  local key, size, time, gone = ARGV[i], ARGV[i+1], ARGV[i+2], ARGV[i+3]
  local old = redis.call('HGET', KEYS[1], key)
  if not old or ARGV[1] ~= 'absent' then
    redis.call('HSET', KEYS[1], key, size)
    redis.call('ZADD', KEYS[2], time, key)
    redis.call('ZADD', KEYS[3], 'GT', time, key)
    redis.call('INCRBY', KEYS[4], size - (old or 0))
    if gone ~= '0' then redis.call('ZADD', KEYS[5], gone, key) end
  end
end
return tonumber(redis.call('GET', KEYS[4]) or '0')`)

// forgetScript removes objects. ARGV: their keys.
var forgetScript = redis.NewScript(`
for _, key in ipairs(ARGV) do
  local old = redis.call('HGET', KEYS[1], key)
  if old then
    redis.call('HDEL', KEYS[1], key)
    redis.call('DECRBY', KEYS[4], old)
  end
  redis.call('ZREM', KEYS[2], key)
  redis.call('ZREM', KEYS[3], key)
  redis.call('ZREM', KEYS[5], key)
end
return 0`)

// renewScript keeps a lock that is still ours; releaseScript gives it back.
var (
	renewScript   = redis.NewScript(`return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('PEXPIRE', KEYS[1], ARGV[2]) or 0`)
	releaseScript = redis.NewScript(`return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1]) or 0`)
)

// entry is an object as the index knows it.
type entry struct {
	key  string
	size int64
	made time.Time
	// until is when it goes, if that is before its retention ends.
	until time.Time
}

func cappedKeys() []string { return []string{sizeKey, madeKey, usedKey, totalKey, untilKey} }

// add puts objects into the index; with absent, only those it lacks.
func (k *Keeper) add(ctx context.Context, absent bool, entries ...entry) (total int64, err error) {
	args := []any{""}
	if absent {
		args[0] = "absent"
	}
	var sources []redis.Z
	for _, e := range entries {
		if capped(e.key) {
			gone := int64(0)
			if !e.until.IsZero() {
				gone = e.until.UnixMilli()
			}
			args = append(args, e.key, e.size, e.made.UnixMilli(), gone)
		} else {
			sources = append(sources, redis.Z{Score: float64(e.made.UnixMilli()), Member: e.key})
		}
	}
	if len(sources) > 0 {
		if err := k.Redis.ZAddNX(ctx, sourcesKey, sources...).Err(); err != nil {
			return 0, err
		}
	}
	if len(args) == 1 {
		return 0, nil
	}
	return recordScript.Run(ctx, k.Redis, cappedKeys(), args...).Int64()
}

// lacking gives those of the entries that the index does not have.
func (k *Keeper) lacking(ctx context.Context, entries []entry) ([]entry, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	var keys []string
	for _, e := range entries {
		keys = append(keys, e.key)
	}
	sizes, err := k.Redis.HMGet(ctx, sizeKey, keys...).Result()
	if err != nil {
		return nil, err
	}
	var out []entry
	for i, e := range entries {
		if sizes[i] == nil {
			out = append(out, e)
		}
	}
	return out, nil
}

func (k *Keeper) remove(ctx context.Context, key string) error {
	if !capped(key) {
		return k.Redis.ZRem(ctx, sourcesKey, key).Err()
	}
	return forgetScript.Run(ctx, k.Redis, cappedKeys(), key).Err()
}

// level returns what the capped objects sum up to, and when the oldest of them
// was stored.
func (k *Keeper) level(ctx context.Context) (total int64, oldest time.Time, err error) {
	total, err = k.Redis.Get(ctx, totalKey).Int64()
	if err != nil && !errors.Is(err, redis.Nil) {
		return 0, time.Time{}, err
	}
	first, err := k.Redis.ZRangeWithScores(ctx, madeKey, 0, 0).Result()
	if err != nil || len(first) == 0 {
		return total, time.Time{}, err
	}
	return total, time.UnixMilli(int64(first[0].Score)), nil
}

// lockFor is how long a sweeper that died keeps the others out.
const lockFor = time.Minute

// errLockLost ends a sweep that another node has taken over.
var errLockLost = errors.New("another node sweeps by now")

func (k *Keeper) acquire(ctx context.Context, token string) (bool, error) {
	ok, err := k.Redis.SetNX(ctx, lockKey, token, lockFor).Result()
	if err != nil {
		return false, fmt.Errorf("sweep: %w", err)
	}
	return ok, nil
}

func (k *Keeper) renew(ctx context.Context, token string) error {
	kept, err := renewScript.Run(ctx, k.Redis, []string{lockKey}, token, lockFor.Milliseconds()).Int()
	if err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	if kept == 0 {
		return errLockLost
	}
	return nil
}

func (k *Keeper) release(ctx context.Context, token string) {
	if err := releaseScript.Run(ctx, k.Redis, []string{lockKey}, token).Err(); err != nil {
		k.Log.WarnContext(ctx, "the sweeper's lock was not given back; it ends by itself", "after", lockFor, "error", err)
	}
}
