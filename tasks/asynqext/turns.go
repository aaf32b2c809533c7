package asynqext

import (
	"context"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"
)

// The owners of waiting tasks take turns, as those of calls do: a thousand
// documents of one key hold up another's by one. Asynq's pending list remains the
// truth on what waits. Beside it, in the same hash slot, each owner with waiting
// tasks has a line, a sorted set of task ids, and a place in the queue's ring, a
// sorted set of owners, the one served longest ago first. Asynq's enqueue and
// dequeue scripts are replaced by ours, which do the same and keep both, in the
// same round trip. A task that no line knows, because Asynq itself put it back,
// goes when it has come to the list's end. Infer has lines of its own: see package stream.
//
// A task's hash names its owner, so how many tasks of an owner run is counted
// over the active list, and no crash makes the count wrong.

func linePrefix(q Queue) string { return "pw:{" + string(q) + "}:line:" }
func ringKey(q Queue) string    { return "pw:{" + string(q) + "}:ring" }

// ownerField names the owner in Asynq's hash of a task.
const ownerField = "x_owner"

// joinRing puts an owner at the end of a ring, unless it is in it.
const joinRing = `
local function join(ring, owner)
  if redis.call('ZSCORE', ring, owner) then return end
  local last = redis.call('ZRANGE', ring, -1, -1, 'WITHSCORES')
  redis.call('ZADD', ring, tonumber(last[2] or 0) + 1, owner)
end
`

// enqueueScript: KEYS task, pending, ring, and perhaps one that must exist; ARGV
// message, id, line's prefix, owner. Answers as Asynq's: 1, or 0 when the task
// exists; -1 without that key.
var enqueueScript = redis.NewScript(serverTime + joinRing + `
if redis.call('EXISTS', KEYS[1]) == 1 then return 0 end
if KEYS[4] and redis.call('EXISTS', KEYS[4]) == 0 then return -1 end
redis.call('HSET', KEYS[1], 'msg', ARGV[1], 'state', 'pending', 'pending_since', nanos(), '` + ownerField + `', ARGV[4])
redis.call('LPUSH', KEYS[2], ARGV[2])
redis.call('ZADD', ARGV[3] .. ARGV[4], clock[1], ARGV[2])
join(KEYS[3], ARGV[4])
return 1
`)

// dequeueLua: KEYS pending, paused, active, lease, ring; ARGV lease score,
// task key prefix, line's prefix, then those of Begin. Answers the id and the message of the task
// whose turn it is and what Begin makes of it, or nil. Its turn it is for the owner with the fewest tasks
// running, of these the one served longest ago.
const dequeueLua = joinRing + `
if redis.call('EXISTS', KEYS[2]) == 1 then return false end
-- head is the first task of an owner's line that waits. An entry that is not
-- pending is dropped, but not before the time in its score: until then its task
-- is about to be tried again, and so is all behind it.
local function head(owner)
  local line = ARGV[3] .. owner
  for _ = 1, 20 do
    local first = redis.call('ZRANGE', line, 0, 0, 'WITHSCORES')
    if not first[1] then
      redis.call('ZREM', KEYS[5], owner)
      return nil
    end
    local state = redis.call('HGET', ARGV[2] .. first[1], 'state')
    if state == 'pending' then return first[1] end
    if state and tonumber(first[2]) > tonumber(redis.call('TIME')[1]) then return nil end
    redis.call('ZREM', line, first[1])
  end
end

local function turn()
  local owners, running = redis.call('ZRANGE', KEYS[5], 0, 99), {}
  if #owners > 1 then
    for _, id in ipairs(redis.call('LRANGE', KEYS[3], 0, -1)) do
      local owner = redis.call('HGET', ARGV[2] .. id, '` + ownerField + `')
      if owner then running[owner] = (running[owner] or 0) + 1 end
    end
  end
  local best, fewest
  for _, owner in ipairs(owners) do
    local n = running[owner] or 0
    if not best or n < fewest then
      local id = head(owner)
      if id then best, fewest = id, n end
      if fewest == 0 then break end
    end
  end
  return best
end

local id, owner
for _ = 1, 100 do
  id = redis.call('LINDEX', KEYS[1], -1)
  if not id then return false end
  owner = redis.call('HGET', ARGV[2] .. id, '` + ownerField + `')
  if owner or redis.call('EXISTS', ARGV[2] .. id) == 1 then break end
  -- A task without its hash: nothing is left to run.
  redis.call('RPOP', KEYS[1])
  id = nil
end
if not id then return false end
local from, waiting = -1, redis.call('LLEN', KEYS[1])
if waiting > 1 and owner and redis.call('ZSCORE', ARGV[3] .. owner, id) then
  id = turn() or id
  owner = redis.call('HGET', ARGV[2] .. id, '` + ownerField + `')
  -- From the end it is nearer to: ids sort by time, and the list is all but sorted.
  if id > redis.call('LINDEX', KEYS[1], math.floor(waiting / 2)) then from = 1 end
end
local task = ARGV[2] .. id
redis.call('LPUSH', KEYS[3], id)
redis.call('LREM', KEYS[1], from, id)
redis.call('HSET', task, 'state', 'active')
redis.call('HDEL', task, 'pending_since')
redis.call('ZADD', KEYS[4], ARGV[1], id)
if owner then
  redis.call('ZREM', ARGV[3] .. owner, id)
  redis.call('ZREM', KEYS[5], owner)
  if redis.call('EXISTS', ARGV[3] .. owner) == 1 then join(KEYS[5], owner) end
end
local message, begun = redis.call('HGET', task, 'msg'), nil
-- The type is the first field of the message, and shorter than 128 bytes.
if begin and message and string.byte(message, 1) == 10 then
  local ok
  ok, begun = pcall(begin, id, string.sub(message, 3, 2 + string.byte(message, 2)), {unpack(ARGV, 4)})
  if not ok then begun = nil end
end
return {id, message, begun}
`

// rejoinScript: KEYS task, ring; ARGV id, line's prefix, seconds. It puts a task
// that is about to be tried again at the end of its owner's line, where it may
// be found not pending for that long.
var rejoinScript = redis.NewScript(joinRing + `
local owner = redis.call('HGET', KEYS[1], '` + ownerField + `')
if not owner then return 0 end
redis.call('ZADD', ARGV[2] .. owner, redis.call('TIME')[1] + ARGV[3], ARGV[1])
join(KEYS[2], owner)
return 1
`)

// positionsScript: KEYS ring; ARGV line's prefix, owner, then ids of tasks in
// the owner's line. Answers for each how many tasks go before it when all take
// turns, or -1 when it is not in the line.
var positionsScript = redis.NewScript(`
local before, after, seen = {}, {}, false
for _, owner in ipairs(redis.call('ZRANGE', KEYS[1], 0, 999)) do
  if owner == ARGV[2] then
    seen = true
  else
    local list = seen and after or before
    list[#list + 1] = redis.call('ZCARD', ARGV[1] .. owner)
  end
end
local positions = {}
for i = 3, #ARGV do
  local position = redis.call('ZRANK', ARGV[1] .. ARGV[2], ARGV[i])
  if position then
    local rank = position
    for _, n in ipairs(before) do position = position + math.min(n, rank + 1) end
    for _, n in ipairs(after) do position = position + math.min(n, rank) end
  end
  positions[#positions + 1] = position or -1
end
return positions
`)

// WithOwner returns a context with which a task is enqueued in its owner's line:
// Asynq's client hands on nothing else.
func WithOwner(ctx context.Context, owner string) context.Context {
	return context.WithValue(ctx, ownerOf{}, owner)
}

// ownerOf is the context key of WithOwner.
type ownerOf struct{}

// Held is a task on its way to the queue that shall go with other commands.
type Held struct {
	keys []string
	argv []any
}

// Hold returns a context with which a task that has an owner is not enqueued but
// held.
func (h *Held) Hold(ctx context.Context) context.Context {
	return context.WithValue(ctx, heldOf{}, h)
}

// heldOf is the context key of Hold.
type heldOf struct{}

// Enqueue enqueues what is held if a key, on the same server, exists: 1; 0 when
// the task is there already, -1 without the key. The script goes whole, or as its digest.
func (h *Held) Enqueue(ctx context.Context, r redis.Scripter, key string, whole bool) *redis.Cmd {
	keys := append(slices.Clip(h.keys), key)
	if whole {
		return enqueueScript.Eval(ctx, r, keys, h.argv...)
	}
	return enqueueScript.EvalSha(ctx, r, keys, h.argv...)
}

// Turns returns a go-redis hook that puts our script in the place of Asynq's when
// a task is enqueued with an owner. It runs on rdb, the client that it hooks.
func Turns(rdb redis.UniversalClient) redis.Hook {
	return hook(func(ctx context.Context, cmd redis.Cmder, next redis.ProcessHook) error {
		owner, owned := ctx.Value(ownerOf{}).(string)
		ours, ok := cmd.(*redis.Cmd)
		q, found := enqueueOf(cmd)
		if !owned || !ok || !found {
			return next(ctx, cmd)
		}
		keys, argv := scriptOf(cmd)
		keys, argv = append(keys, ringKey(q)), []any{argv[0], argv[1], linePrefix(q), owner}
		if held, holds := ctx.Value(heldOf{}).(*Held); holds {
			held.keys, held.argv = keys, argv
			ours.SetVal(int64(1))
			return nil
		}
		n, err := enqueueScript.Run(ctx, rdb, keys, argv...).Int64()
		ours.SetVal(n)
		ours.SetErr(err)
		return err
	})
}

// enqueueOf recognises Asynq's enqueue script by its keys, task and pending, and
// its arguments: message, id, time.
func enqueueOf(cmd redis.Cmder) (Queue, bool) {
	keys, argv := scriptOf(cmd)
	if len(keys) != 2 || len(argv) != 3 {
		return "", false
	}
	q, ok := queueOf(keys[1], "pending")
	id, isText := argv[1].(string)
	return q, ok && isText && keys[0] == taskKey(q, id)
}

// Rejoin lets a task that will be tried again after a delay keep its owner's
// turns. Without it the task waits for its place in the list.
func Rejoin(ctx context.Context, rdb redis.Scripter, q Queue, id string, delay time.Duration) error {
	seconds := int64((delay + rejoinSlack).Seconds())
	return rejoinScript.Run(ctx, rdb, []string{taskKey(q, id), ringKey(q)}, id, linePrefix(q), seconds).Err()
}

// Leave takes a task that will not run out of its owner's line.
func Leave(ctx context.Context, rdb redis.Cmdable, q Queue, owner, id string) error {
	return rdb.ZRem(ctx, linePrefix(q)+owner, id).Err()
}

// Positions returns for each of an owner's tasks how many go before it when all
// owners take turns, or -1 when it is not in its owner's line.
func Positions(ctx context.Context, rdb redis.Scripter, q Queue, owner string, ids []string) ([]int64, error) {
	args := []any{linePrefix(q), owner}
	for _, id := range ids {
		args = append(args, id)
	}
	return positionsScript.Run(ctx, rdb, []string{ringKey(q)}, args...).Int64Slice()
}

// rejoinSlack is how long after its time a task may be put back on its queue.
const rejoinSlack = time.Minute
