package cache

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// All keys share one hash tag, so that a script can access them together in a Redis Cluster.
const (
	redisPrefix  = "presswork:{cache}:"
	redisUsed    = redisPrefix + "used"    // zset: "kind/key" by last use, ms
	redisSizes   = redisPrefix + "sizes"   // hash: "kind/key" → bytes; "" → their sum
	redisLookups = redisPrefix + "lookups" // hash: "kind/hits" and so on
)

// redisEntry returns the Redis key of an entry, and member its name in the index.
func redisEntry(kind Kind, key string) string { return redisPrefix + "entry:" + member(kind, key) }
func member(kind Kind, key string) string     { return string(kind) + "/" + key }

// redisPut stores an entry and removes the least recently used entries until the caps are met. KEYS: entry, used,
// sizes. ARGV: member, value, ttl ms, now ms, entry prefix, bytes, max entries, max bytes.
var redisPut = redis.NewScript(`
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
redis.call('ZADD', KEYS[2], ARGV[4], ARGV[1])
local before = tonumber(redis.call('HGET', KEYS[3], ARGV[1]) or '0')
redis.call('HSET', KEYS[3], ARGV[1], ARGV[6])
local sum = redis.call('HINCRBY', KEYS[3], '', tonumber(ARGV[6]) - before)
local entries = redis.call('ZCARD', KEYS[2])
local maxEntries, maxBytes = tonumber(ARGV[7]), tonumber(ARGV[8])
while entries > 0 and (maxEntries > 0 and entries > maxEntries or maxBytes > 0 and sum > maxBytes) do
	local oldest = redis.call('ZPOPMIN', KEYS[2])[1]
	redis.call('DEL', ARGV[5] .. oldest)
	local size = tonumber(redis.call('HGET', KEYS[3], oldest) or '0')
	redis.call('HDEL', KEYS[3], oldest)
	sum = redis.call('HINCRBY', KEYS[3], '', -size)
	entries = entries - 1
end
return entries`)

// redisDrop removes an entry if its value is unchanged. KEYS as for redisPut. ARGV: member, value.
var redisDrop = redis.NewScript(`
local value = redis.call('GET', KEYS[1])
if value and value ~= ARGV[2] then return 0 end
redis.call('DEL', KEYS[1])
redis.call('ZREM', KEYS[2], ARGV[1])
local size = tonumber(redis.call('HGET', KEYS[3], ARGV[1]) or '0')
redis.call('HDEL', KEYS[3], ARGV[1])
redis.call('HINCRBY', KEYS[3], '', -size)
return 1`)

// redisValue is the stored form of an entry. Redis expires it as well, but a process may be configured with a shorter
// TTL, and clocks may be changed.
type redisValue struct {
	Made  int64           `json:"made"` // Unix ms
	TTL   int64           `json:"ttl"`  // ms
	Value json.RawMessage `json:"value"`
}

// Redis is a cache that every node of a fleet shares.
type Redis struct {
	client redis.UniversalClient
	o      Options
}

// NewRedis returns a cache in Redis. Close does not close the client.
func NewRedis(client redis.UniversalClient, o Options) *Redis {
	return &Redis{client: client, o: o.withDefaults()}
}

// Get implements Cache.
func (r *Redis) Get(ctx context.Context, kind Kind, key string) (json.RawMessage, bool, error) {
	if err := checkKey(kind, key); err != nil {
		return nil, false, err
	}

	raw, err := r.client.Get(ctx, redisEntry(kind, key)).Result()
	if errors.Is(err, redis.Nil) {
		return nil, false, r.recordLookup(ctx, kind, key, miss)
	}

	if err != nil {
		return nil, false, err
	}

	var v redisValue
	if err := json.Unmarshal([]byte(raw), &v); err != nil || len(v.Value) == 0 {
		r.o.Log.WarnContext(ctx, "removed a damaged cache entry", "kind", kind, "key", key, "error", err)
		return nil, false, errors.Join(r.removeEntry(ctx, kind, key, raw), r.recordLookup(ctx, kind, key, miss))
	}

	if !r.o.isFresh(kind, time.UnixMilli(v.Made), time.Duration(v.TTL)*time.Millisecond, r.o.Now()) {
		return nil, false, errors.Join(r.removeEntry(ctx, kind, key, raw), r.recordLookup(ctx, kind, key, expired))
	}

	return v.Value, true, r.recordLookup(ctx, kind, key, hit)
}

// recordLookup counts a lookup and, for a hit, updates the last use, in one round trip.
func (r *Redis) recordLookup(ctx context.Context, kind Kind, key string, l lookup) error {
	_, err := r.client.Pipelined(ctx, func(p redis.Pipeliner) error {
		switch l {
		case hit:
			p.HIncrBy(ctx, redisLookups, string(kind)+"/hits", 1)
			p.ZAddXX(ctx, redisUsed, redis.Z{Score: float64(r.o.Now().UnixMilli()), Member: member(kind, key)})
		case expired:
			p.HIncrBy(ctx, redisLookups, string(kind)+"/expired", 1)
			fallthrough
		case miss:
			p.HIncrBy(ctx, redisLookups, string(kind)+"/misses", 1)
		}

		return nil
	})

	return err
}

// removeEntry removes an entry if its value is still raw: another node may have replaced it.
func (r *Redis) removeEntry(ctx context.Context, kind Kind, key, raw string) error {
	return redisDrop.Run(ctx, r.client, []string{redisEntry(kind, key), redisUsed, redisSizes}, member(kind, key), raw).
		Err()
}

// Put implements Cache.
func (r *Redis) Put(ctx context.Context, kind Kind, key string, value json.RawMessage) error {
	if err := checkKey(kind, key); err != nil {
		return err
	}

	if err := checkValue(value); err != nil {
		return err
	}
	ttl, now := max(r.o.ttl(kind), time.Millisecond), r.o.Now().UnixMilli()

	b, err := json.Marshal(redisValue{now, ttl.Milliseconds(), value})
	if err != nil {
		return err
	}

	keys := []string{redisEntry(kind, key), redisUsed, redisSizes}

	return redisPut.Run(ctx, r.client, keys, member(kind, key), b, ttl.Milliseconds(), now, redisPrefix+"entry:",
		len(value), r.o.MaxEntries, r.o.MaxBytes).Err()
}

// eachEntry calls f for every member of the index of a known kind, in batches. stored is false for an entry that Redis
// has expired. f must not change the index, because the batches are read by their positions.
func (r *Redis) eachEntry(ctx context.Context, f func(kind Kind, key string, raw string, stored bool) error) error {
	const batch = 200
	for at := int64(0); ; at += batch {
		members, err := r.client.ZRange(ctx, redisUsed, at, at+batch-1).Result()
		if err != nil || len(members) == 0 {
			return err
		}
		reads := make([]*redis.StringCmd, len(members))

		if _, err := r.client.Pipelined(ctx, func(p redis.Pipeliner) error {
			for i, m := range members {
				reads[i] = p.Get(ctx, redisPrefix+"entry:"+m)
			}

			return nil
		}); err != nil && !errors.Is(err, redis.Nil) {
			return err
		}

		for i, m := range members {
			kind, key, known := cutMember(m)
			if !known {
				continue
			}

			raw, err := reads[i].Result()
			if err != nil && !errors.Is(err, redis.Nil) {
				return err
			}

			if err := f(kind, key, raw, err == nil); err != nil {
				return err
			}
		}
	}
}

// cutMember splits a member of the index, "kind/key". ok is false for a kind that this version does not know.
func cutMember(m string) (kind Kind, key string, ok bool) {
	for _, k := range Kinds() {
		if key, ok := strings.CutPrefix(m, string(k)+"/"); ok {
			return k, key, true
		}
	}

	return "", "", false
}

// Stats implements Cache.
func (r *Redis) Stats(ctx context.Context) (Stats, error) {
	counts, err := r.client.HGetAll(ctx, redisLookups).Result()
	if err != nil {
		return Stats{}, err
	}
	kinds := map[Kind]KindStats{}

	for _, k := range Kinds() {
		number := func(name string) int64 {
			n, _ := strconv.ParseInt(counts[string(k)+"/"+name], 10, 64) // absent is 0
			return n
		}
		kinds[k] = KindStats{Hits: number("hits"), Misses: number("misses"), Expired: number("expired")}
	}
	err = r.eachEntry(ctx, func(kind Kind, _ string, raw string, stored bool) error {
		var v redisValue
		if stored && json.Unmarshal([]byte(raw), &v) == nil {
			s := kinds[kind]
			s.Entries++
			s.Bytes += int64(len(v.Value))
			kinds[kind] = s
		}

		return nil
	})

	return newStats("redis", redisPrefix, kinds), err
}

// Clean implements Cache. Entries that Redis has expired count as removed.
func (r *Redis) Clean(ctx context.Context) (int, error) {
	type stale struct {
		kind Kind
		key  string
		raw  string
	}
	var all []stale
	now := r.o.Now()

	err := r.eachEntry(ctx, func(kind Kind, key, raw string, stored bool) error {
		var v redisValue
		if !stored || json.Unmarshal([]byte(raw), &v) != nil ||
			!r.o.isFresh(kind, time.UnixMilli(v.Made), time.Duration(v.TTL)*time.Millisecond, now) {
			all = append(all, stale{kind, key, raw})
		}

		return nil
	})
	if err != nil {
		return 0, err
	}

	for n, e := range all {
		if err := r.removeEntry(ctx, e.kind, e.key, e.raw); err != nil {
			return n, err
		}
	}

	return len(all), nil
}

// Clear implements Cache.
func (r *Redis) Clear(ctx context.Context) error {
	var keys []string

	err := r.eachEntry(ctx, func(kind Kind, key, _ string, _ bool) error {
		keys = append(keys, redisEntry(kind, key))
		return nil
	})
	if err != nil {
		return fmt.Errorf("cannot list the entries of the cache: %w", err)
	}

	return r.client.Del(ctx, append(keys, redisUsed, redisSizes, redisLookups)...).Err()
}

// Close implements Cache. It leaves the client open.
func (r *Redis) Close() error { return nil }
