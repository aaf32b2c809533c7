package retention

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"presswork/storage"
)

// The keys of the index. They share a hash tag, so that a script may use several of them
// on a Cluster. Times are Unix milliseconds.
const (
	sizeKey    = "pw:{keep}:size"    // hash: object → bytes, and the mark of the last comparison
	madeKey    = "pw:{keep}:made"    // sorted set: capped object by the time it was stored
	usedKey    = "pw:{keep}:used"    // sorted set: capped object by its last use
	untilKey   = "pw:{keep}:until"   // sorted set: capped object that expires early, by that time
	sourcesKey = "pw:{keep}:sources" // sorted set: source by the time it was stored
	totalKey   = "pw:{keep}:total"   // the sum of sizeKey
	readyKey   = "pw:{keep}:ready"   // when the index was last compared with the store
	lockKey    = "pw:{keep}:lock"    // the token of the node that sweeps
)

// capped reports whether the size cap may delete an object. Sources count towards the
// cap, but it does not delete them: a job needs them until it has ended.
func capped(key string) bool {
	return strings.HasPrefix(key, storage.Artifacts) || strings.HasPrefix(key, storage.Renders)
}

// bytesOf is a Lua function that returns the bytes in a value of sizeKey.
const bytesOf = `
local function bytes(value) return value and string.match(value, '^%d+') or '0' end
`

// recordScript adds objects and returns the total of bytes. KEYS: see indexKeys. ARGV: the
// mark of a comparison or "", then five values for each object. They are its key, its
// size, its time, its early expiry (0 for none), and "1" if it is capped. A comparison
// adds the objects that the index lacks and only marks the others.
var recordScript = redis.NewScript(bytesOf + `
local mark = ARGV[1] ~= '' and ' ' .. ARGV[1] or ''
for i = 2, #ARGV, 5 do
  local key, size, time, expiry, capped = ARGV[i], ARGV[i+1], ARGV[i+2], ARGV[i+3], ARGV[i+4]
  local old = redis.call('HGET', KEYS[1], key)
  if old and mark ~= '' then
    redis.call('HSET', KEYS[1], key, bytes(old) .. mark)
  else
    redis.call('HSET', KEYS[1], key, size .. mark)
    redis.call('INCRBY', KEYS[4], size - bytes(old))
    if capped ~= '1' then
      redis.call('ZADD', KEYS[6], time, key)
    else
      redis.call('ZADD', KEYS[2], time, key)
      redis.call('ZADD', KEYS[3], 'GT', time, key)
      if expiry ~= '0' then redis.call('ZADD', KEYS[5], expiry, key) end
    end
  end
end
return tonumber(redis.call('GET', KEYS[4]) or '0')`)

// forgetScript removes objects. KEYS: see indexKeys. ARGV: the objects' keys.
var forgetScript = redis.NewScript(bytesOf + `
for _, key in ipairs(ARGV) do
  local old = redis.call('HGET', KEYS[1], key)
  if old then
    redis.call('HDEL', KEYS[1], key)
    redis.call('DECRBY', KEYS[4], bytes(old))
  end
  for _, set in ipairs({2, 3, 5, 6}) do redis.call('ZREM', KEYS[set], key) end
end
return 0`)

// renewScript extends the lock if its token is ARGV[1]; releaseScript deletes it.
var (
	renewScript = redis.NewScript(
		`return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('PEXPIRE', KEYS[1], ARGV[2]) or 0`,
	)
	releaseScript = redis.NewScript(`return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1]) or 0`)
)

// entry is an object in the index.
type entry struct {
	key string
	// size is in bytes.
	size int64
	// made is when it was stored.
	made time.Time
	// until is the time at which it expires, if that is before its retention ends; zero otherwise.
	until time.Time
}

// indexKeys returns the keys of the scripts, in their order.
func indexKeys() []string {
	return []string{sizeKey, madeKey, usedKey, totalKey, untilKey, sourcesKey}
}

// addEntries adds objects to the index and returns the total size in bytes. comparison is the mark of the comparison
// with the store that found them, or "".
func (k *Keeper) addEntries(ctx context.Context, comparison string, entries ...entry) (total int64, err error) {
	args := make([]any, 1, 1+5*len(entries))
	args[0] = comparison

	for _, e := range entries {
		expiry, isCapped := int64(0), "0"
		if !e.until.IsZero() {
			expiry = e.until.UnixMilli()
		}

		if capped(e.key) {
			isCapped = "1"
		}
		args = append(args, e.key, e.size, e.made.UnixMilli(), expiry, isCapped)
	}

	return recordScript.Run(ctx, k.Redis, indexKeys(), args...).Int64()
}

// knownEntries reports for each entry whether the index has it.
func (k *Keeper) knownEntries(ctx context.Context, entries []entry) ([]bool, error) {
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

	out := make([]bool, len(entries))
	for i, size := range sizes {
		out[i] = size != nil
	}

	return out, nil
}

// remove removes an object from the index. It does nothing if the index does not have it.
func (k *Keeper) remove(ctx context.Context, key string) error {
	return forgetScript.Run(ctx, k.Redis, indexKeys(), key).Err()
}

// readLevel returns the sum of all sizes in bytes, and the time of the oldest capped object.
func (k *Keeper) readLevel(ctx context.Context) (total int64, oldest time.Time, err error) {
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

// lockTTL is the life of the lock. After the death of the node that sweeps, no other node sweeps for this time.
const lockTTL = time.Minute

// errLockLost ends a sweep whose lock another node has taken.
var errLockLost = errors.New("another node or deployment sweeps now")

// acquireLock takes the lock of the sweep with a token. It returns false when another node has the lock.
func (k *Keeper) acquireLock(ctx context.Context, token string) (bool, error) {
	ok, err := k.Redis.SetNX(ctx, lockKey, token, lockTTL).Result()
	if err != nil {
		return false, fmt.Errorf("sweep: %w", err)
	}

	return ok, nil
}

// renewLock extends the lock. It returns errLockLost when another node has the lock.
func (k *Keeper) renewLock(ctx context.Context, token string) error {
	kept, err := renewScript.Run(ctx, k.Redis, []string{lockKey}, token, lockTTL.Milliseconds()).Int()
	if err != nil {
		return fmt.Errorf("sweep: %w", err)
	}

	if kept == 0 {
		return errLockLost
	}

	return nil
}

// releaseLock gives the lock back. After an error the lock expires.
func (k *Keeper) releaseLock(ctx context.Context, token string) {
	if err := releaseScript.Run(ctx, k.Redis, []string{lockKey}, token).Err(); err != nil {
		k.Log.WarnContext(ctx, "the lock of the sweep was not released; it expires", "after", lockTTL, "error", err)
	}
}
