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

// The index. All keys share a hash tag, so that a script may touch several of
// them on a cluster. Times are Unix milliseconds.
const (
	sizeKey    = "pw:{keep}:size"    // hash: object → bytes, and the comparison that last saw it
	madeKey    = "pw:{keep}:made"    // sorted set: capped object by the time it was stored
	usedKey    = "pw:{keep}:used"    // sorted set: capped object by its last use
	untilKey   = "pw:{keep}:until"   // sorted set: capped object that goes early, by when
	sourcesKey = "pw:{keep}:sources" // sorted set: source by the time it was stored
	totalKey   = "pw:{keep}:total"   // the sum of sizeKey
	readyKey   = "pw:{keep}:ready"   // when the index was last compared with the store
	lockKey    = "pw:{keep}:lock"    // the token of the node that sweeps
)

// capped reports whether the cap may take an object. storage.Sources it may not, since a
// job needs them until it has ended, but they count towards it.
func capped(key string) bool {
	return strings.HasPrefix(key, storage.Artifacts) || strings.HasPrefix(key, storage.Renders)
}

// bytesOf is how scripts read a value of sizeKey.
const bytesOf = `
local function bytes(value) return value and string.match(value, '^%d+') or '0' end
`

// recordScript adds objects and returns the total. KEYS: see indexKeys. ARGV: the
// comparison that found them, then key, size, time, time to go (0 for none) and
// "1" for what the cap may take, of each. A comparison adds what the index lacks
// and marks what it has.
var recordScript = redis.NewScript(bytesOf + `
local mark = ARGV[1] ~= '' and ' ' .. ARGV[1] or ''
for i = 2, #ARGV, 5 do
  local key, size, time, gone, capped = ARGV[i], ARGV[i+1], ARGV[i+2], ARGV[i+3], ARGV[i+4]
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
      if gone ~= '0' then redis.call('ZADD', KEYS[5], gone, key) end
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

// renewScript keeps a lock that is still ours; releaseScript gives it back.
var (
	renewScript = redis.NewScript(
		`return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('PEXPIRE', KEYS[1], ARGV[2]) or 0`,
	)
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

func indexKeys() []string {
	return []string{sizeKey, madeKey, usedKey, totalKey, untilKey, sourcesKey}
}

// add puts objects into the index. When a comparison with the store found them,
// those that are there are only marked with it.
func (k *Keeper) add(ctx context.Context, comparison string, entries ...entry) (total int64, err error) {
	args := make([]any, 1, 1+5*len(entries))
	args[0] = comparison

	for _, e := range entries {
		gone, taken := int64(0), "0"
		if !e.until.IsZero() {
			gone = e.until.UnixMilli()
		}

		if capped(e.key) {
			taken = "1"
		}
		args = append(args, e.key, e.size, e.made.UnixMilli(), gone, taken)
	}

	return recordScript.Run(ctx, k.Redis, indexKeys(), args...).Int64()
}

// known reports of each of the entries whether the index has it.
func (k *Keeper) known(ctx context.Context, entries []entry) ([]bool, error) {
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

func (k *Keeper) remove(ctx context.Context, key string) error {
	return forgetScript.Run(ctx, k.Redis, indexKeys(), key).Err()
}

// level returns what the objects sum up to, and when the oldest of those that
// the cap may take was stored.
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
var errLockLost = errors.New("another node or deployment sweeps by now")

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
		k.Log.WarnContext(
			ctx,
			"the sweeper's lock was not given back; it ends by itself",
			"after",
			lockFor,
			"error",
			err,
		)
	}
}
